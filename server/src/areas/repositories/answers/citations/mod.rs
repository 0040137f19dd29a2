//! Checks a language model's text against the passages that it was given.
//!
//! A sentence is kept only if it ends with citations, all of known passages, and if the passages
//! that it cites contain what it says: its code as whole identifiers, its paths, lines and numbers,
//! its links and tags, and at least half of its other words. The rest is dropped. What is left
//! refers to lines that exist and is about them; that it is true cannot be checked, which is why
//! its confidence is limited.

mod check;
mod evidence;
mod markers;
mod markup;
mod places;
mod wording;

pub use check::check_citations;
pub(super) use markers::citation;
