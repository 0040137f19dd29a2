//! Errors of commands: one line for the user, and the exit code.

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use crate::platform::control::ControlError;
use crate::platform::settings::ConfigError;

/// A command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// The command line is invalid.
    #[error("{0}")]
    Usage(String),
    /// The settings are invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data directory cannot be used.
    #[error("{0}")]
    Data(#[from] telltale_engine::Error),
    /// The running server did not respond.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The server refused the request.
    #[error("{message} ({code})")]
    Refused {
        /// The code of the error body.
        code: String,
        /// The message of the error body.
        message: String,
    },
    /// An operation failed.
    #[error("{attempt}")]
    Failed {
        /// The operation: "cannot read x.csv".
        attempt: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The command completed, but its result is negative.
    #[error("{0}")]
    Found(String),
}

/// Returns the error of a response without the `data` that every successful one has.
pub(super) fn no_data() -> CliError {
    CliError::Found("the response of the server has no data: is it a Telltale server?".to_owned())
}

impl CliError {
    /// Returns the error of a failed operation.
    pub(super) fn failed(
        attempt: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { attempt: attempt.into(), source: source.into() }
    }

    /// Returns 1 if the work failed, 2 if the command line or the settings must be changed.
    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Config(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }

    /// Returns the error and all its causes in one line.
    pub(super) fn line(&self) -> String {
        let mut line = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // Skips wrappers that only repeat the message of their cause.
            if !line.ends_with(&text) {
                // Writing to a String cannot fail.
                write!(line, ": {text}").unwrap_or_default();
            }
            cause = error.source();
        }
        line.replace('\n', " ")
    }
}
