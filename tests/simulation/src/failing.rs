//! How a history fails: a message, carried as an error so that it ends the history and not the process.

use std::fmt;

/// Why a history fails.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What is wrong, without numbers: failures of the same kind are the same fault.
    pub kind: &'static str,
    /// All that may help to find it.
    pub details: String,
}

/// What a part of a history comes to.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Fails with a kind and details.
pub fn fail<T>(kind: &'static str, details: impl fmt::Display) -> Outcome<T> {
    Err(Failure { kind, details: details.to_string() })
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.details)
    }
}
