//! What is wrong with the configuration, always with the key and the place where it stands.

use std::fmt;
use std::path::PathBuf;

/// The configuration cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No setting has this name.
    #[error("{origin}: there is no setting {key}{}", Suggestion(.suggestion))]
    Unknown {
        /// The key or variable as it was written.
        key: String,
        /// Where it stands.
        origin: Origin,
        /// A setting with nearly this name.
        suggestion: Option<String>,
    },
    /// The value does not fit the setting.
    #[error("{origin}: {key}: {reason}")]
    Invalid {
        /// The setting.
        key: String,
        /// Where the value stands.
        origin: Origin,
        /// What is wrong with it and what was expected.
        reason: String,
    },
    /// Two variables name one setting.
    #[error("{first} and {second} both set {key}: remove one of them")]
    Twice {
        /// The setting.
        key: String,
        /// One place.
        first: Origin,
        /// The other place.
        second: Origin,
    },
    /// The file is not TOML.
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
        /// The system's answer.
        source: std::io::Error,
    },
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A line of the file.
    File {
        /// As the user named it.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A flag of the command line, as it is spelled.
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
