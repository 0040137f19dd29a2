//! The parts that versions 1 and 2 of the rules share. Groups were created by both, so nothing here
//! may change: rules that differ belong to their version.

use std::borrow::Cow;

use super::super::model::GroupHash;
use super::super::occurrence::{Frame, Occurrence};
use super::message::parameterized;
use super::parts::PartsHasher;

/// What is hashed of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HashedFrame<'f> {
    /// The module or the file, in the form of the version.
    pub(super) location: Cow<'f, str>,
    /// The function; empty if it is anonymous.
    pub(super) function: Cow<'f, str>,
}

/// Returns the frames of the program itself, or all frames if there are none of its own.
pub(super) fn own_frames<'s, 'd>(stack: &'s [Frame<'d>]) -> impl Iterator<Item = &'s Frame<'d>> {
    let has_own = stack.iter().any(|frame| frame.is_in_app());
    stack.iter().filter(move |frame| !has_own || frame.is_in_app())
}

/// Adds the frames; returns whether there are any.
pub(super) fn add_stack(hash: &mut PartsHasher, frames: &[HashedFrame<'_>]) -> bool {
    hash.number(frames.len());
    for frame in frames {
        hash.add(&frame.location);
        hash.add(&frame.function);
    }
    !frames.is_empty()
}

/// Returns the hash of the stack of the only thread; `None` if it has no usable frames.
pub(super) fn by_stack(version: &str, frames: &[HashedFrame<'_>]) -> Option<GroupHash> {
    let mut hash = PartsHasher::new(version, "stack");
    add_stack(&mut hash, frames).then(|| hash.finish())
}

/// Returns the hash of the parameterised message, or of the transaction if there is no message.
pub(super) fn by_message(version: &str, occurrence: &Occurrence<'_>) -> GroupHash {
    match occurrence.template.as_deref().or(occurrence.message.as_deref()) {
        Some(message) => {
            let mut hash = PartsHasher::new(version, "message");
            hash.add(&parameterized(message));
            hash.finish()
        }
        None => {
            let mut hash = PartsHasher::new(version, "transaction");
            hash.add(occurrence.transaction.as_deref().unwrap_or_default());
            hash.finish()
        }
    }
}
