//! Why a command failed, as one line for the person who typed it, and the exit code that goes with it.

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use crate::platform::config::ConfigError;
use crate::platform::control::ControlError;

/// A command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// What was typed cannot be done.
    #[error("{0}")]
    Usage(String),
    /// The settings are wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data directory cannot be used.
    #[error("{0}")]
    Data(#[from] telltale_engine::Error),
    /// The running server did not answer.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The server refused.
    #[error("{message} ({code})")]
    Refused {
        /// The code of the error body.
        code: String,
        /// The message of the error body.
        message: String,
    },
    /// Something that was attempted did not work.
    #[error("{attempt}")]
    Failed {
        /// What was attempted: "cannot read x.csv".
        attempt: String,
        /// Why it did not work.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The work was done, and what it found is bad.
    #[error("{0}")]
    Found(String),
}

impl CliError {
    /// Something that was attempted did not work.
    pub(super) fn failed(
        attempt: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { attempt: attempt.into(), source: source.into() }
    }

    /// 1 when the work failed, 2 when the command or the settings must be changed first.
    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Config(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }

    /// The error and all its causes in one line.
    pub(super) fn line(&self) -> String {
        let mut line = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // Wrappers that say what their cause says add nothing.
            if !line.ends_with(&text) {
                // Writing into a String does not fail.
                write!(line, ": {text}").unwrap_or_default();
            }
            cause = error.source();
        }
        line.replace('\n', " ")
    }
}
