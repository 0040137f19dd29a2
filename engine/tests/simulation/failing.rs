//! How a history fails: a message, carried as an error so that it ends the history and not the process.

/// Why a history fails.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// What is wrong, without numbers: failures of the same kind are the same fault.
    pub(crate) kind: &'static str,
    pub(crate) details: String,
}

pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Fails with a kind and details.
pub(crate) fn fail<T>(kind: &'static str, details: impl std::fmt::Display) -> Outcome<T> {
    Err(Failure { kind, details: details.to_string() })
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind, self.details)
    }
}
