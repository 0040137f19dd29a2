//! Failures of histories: errors, so that a failure ends the history and not the process.

use std::fmt;

/// Why a history fails.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What is wrong, without numbers: failures of the same kind count as the same bug.
    pub kind: &'static str,
    /// Everything that may help to find the cause.
    pub details: String,
}

/// The result of a part of a history.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Returns a failure with a kind and details.
pub fn fail<T>(kind: &'static str, details: impl fmt::Display) -> Outcome<T> {
    Err(Failure { kind, details: details.to_string() })
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.details)
    }
}
