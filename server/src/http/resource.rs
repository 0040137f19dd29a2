//! What errors say about resources that do not exist.

/// A kind of resources that have ids or names. Declared by the type of their ids
/// ([`PathParam::RESOURCE`](super::PathParam::RESOURCE)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    code: &'static str,
    noun: &'static str,
}

impl Resource {
    /// Declares a kind of resources: the code of errors about one that does not exist, which is
    /// part of the HTTP contract, and what messages call one.
    pub const fn new(code: &'static str, noun: &'static str) -> Self {
        Self { code, noun }
    }

    /// Returns the code of errors about one that does not exist.
    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    /// Returns what messages call one.
    pub(super) fn noun(&self) -> &'static str {
        self.noun
    }
}
