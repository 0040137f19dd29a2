//! Errors of the configuration, always with the key and its origin.

use std::fmt;
use std::path::PathBuf;

/// Why the configuration is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No setting has this name.
    #[error("{origin}: there is no setting {key}{}", Suggestion(.suggestion))]
    Unknown {
        /// The key or variable as written.
        key: String,
        /// Where it occurs.
        origin: Origin,
        /// A setting with a similar name.
        suggestion: Option<String>,
    },
    /// The value is not valid for the setting.
    #[error("{origin}: {key}: {reason}")]
    Invalid {
        /// The setting.
        key: String,
        /// Where the value occurs.
        origin: Origin,
        /// What is wrong with the value and what was expected.
        reason: String,
    },
    /// Two variables set the same setting.
    #[error("{first} and {second} both set {key}: remove one of them")]
    Twice {
        /// The setting.
        key: String,
        /// The first origin.
        first: Origin,
        /// The second origin.
        second: Origin,
    },
    /// The file is not valid TOML.
    #[error("{origin}: {reason}")]
    Syntax {
        /// The file and line.
        origin: Origin,
        /// What is wrong there.
        reason: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Not set.
    Default,
    /// A line of the file.
    File {
        /// The path as the user wrote it.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A flag of the command line, as written.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(variable) => write!(f, "environment {variable}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

struct Suggestion<'a>(&'a Option<String>);

impl fmt::Display for Suggestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, " (did you mean {name}?)"),
            None => Ok(()),
        }
    }
}
