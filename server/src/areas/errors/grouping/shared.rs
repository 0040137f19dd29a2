//! What versions 1 and 2 of the rules have in common. Groups were made by both, so nothing here ever changes: rules that differ
//! belong to the version that has them.

use std::borrow::Cow;

use super::super::model::GroupHash;
use super::super::occurrence::{Frame, Occurrence};
use super::message::parameterized;
use super::parts::Parts;

/// What a frame says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'f> {
    /// The module or the file, as the version names them.
    pub(super) place: Cow<'f, str>,
    /// The function; empty where it has no name of its own.
    pub(super) function: Cow<'f, str>,
}

/// The frames of the program itself, or all of them where none is.
pub(super) fn own_frames<'s, 'd>(stack: &'s [Frame<'d>]) -> impl Iterator<Item = &'s Frame<'d>> {
    let has_own = stack.iter().any(|frame| frame.is_in_app());
    stack.iter().filter(move |frame| !has_own || frame.is_in_app())
}

/// Adds what the frames say; returns whether they say anything.
pub(super) fn add_stack(hash: &mut Parts, lines: &[Line<'_>]) -> bool {
    hash.number(lines.len());
    for line in lines {
        hash.add(&line.place);
        hash.add(&line.function);
    }
    !lines.is_empty()
}

/// The hash of the stack of the only thread; none where its frames say nothing.
pub(super) fn by_stack(version: &str, lines: &[Line<'_>]) -> Option<GroupHash> {
    let mut hash = Parts::new(version, "stack");
    add_stack(&mut hash, lines).then(|| hash.finish())
}

/// The hash of the message, parameterised, or of the transaction where there is none.
pub(super) fn by_message(version: &str, occurrence: &Occurrence<'_>) -> GroupHash {
    match occurrence.template.as_deref().or(occurrence.message.as_deref()) {
        Some(message) => {
            let mut hash = Parts::new(version, "message");
            hash.add(&parameterized(message));
            hash.finish()
        }
        None => {
            let mut hash = Parts::new(version, "transaction");
            hash.add(occurrence.transaction.as_deref().unwrap_or_default());
            hash.finish()
        }
    }
}
