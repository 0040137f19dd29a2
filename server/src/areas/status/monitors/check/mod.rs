//! Checks of targets: each runs within its timeout and ends with a result, never with an error. One
//! that cannot begin because of other checks has no result.
//!
//! A reason names what was found in our words and numbers. Nothing of what a server answered is in
//! it beyond the status: it may be shown to others.

mod checker;
mod http;
mod tcp;

pub(super) use checker::{CheckOutcome, Checker};
