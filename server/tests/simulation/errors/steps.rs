//! The steps on errors. There are few kinds of errors, so that occurrences share groups.

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Reports occurrences at the same time.
    Report(Vec<NewOccurrence>),
    /// Sends an occurrence of an SDK again, as SDKs do without a response.
    Again(u64),
    Resolve(u8),
    /// For milliseconds, or forever.
    Ignore(u8, Option<i64>),
    Unresolve(u8),
    Assign(u8, u8),
    /// Merges the group of the second kind into that of the first.
    Merge(u8, u8),
    Delete(u8),
    /// Stores pending counts.
    Store,
    /// Deletes the events of deleted groups.
    DeleteEvents,
    Trim,
}

/// An occurrence of an error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewOccurrence {
    /// Identifies the occurrence in the history.
    pub(crate) id: u64,
    pub(crate) kind: u8,
    pub(crate) user: u8,
    /// Milliseconds since it occurred.
    pub(crate) age: i64,
    /// Whether an SDK reports it, with an id, or another client without one.
    pub(crate) by_sdk: bool,
}

/// Returns the title of the group of a kind.
pub(crate) fn title(kind: u8) -> String {
    format!("Kind{kind}")
}
