//! What happens to errors in a history. Kinds are few, so that they meet.

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Tells of occurrences at the same time.
    Tell(Vec<Told>),
    /// Sends an occurrence of an SDK again, as one does that got no answer.
    Again(u64),
    Resolve(u8),
    /// For milliseconds, or for ever.
    Ignore(u8, Option<i64>),
    Unresolve(u8),
    Assign(u8, u8),
    /// Makes the group of the second kind a part of that of the first.
    Merge(u8, u8),
    Delete(u8),
    /// Writes down what was counted.
    Store,
    /// Deletes the events of deleted groups.
    DeleteEvents,
    Trim,
}

/// An occurrence of an error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    /// Names the occurrence in the whole history.
    pub(crate) id: u64,
    pub(crate) kind: u8,
    pub(crate) user: u8,
    /// Milliseconds since it happened.
    pub(crate) age: i64,
    /// Whether an SDK tells of it, which gives it an id, or a program without one.
    pub(crate) by_sdk: bool,
}

/// What the group of a kind is called.
pub(crate) fn title(kind: u8) -> String {
    format!("Kind{kind}")
}
