//! The statements of functions, in terms that all languages share, one file per family of
//! languages.
//!
//! A language says of one node at a time what it is ([`Shape`]); the caller walks on through the
//! blocks in it.

mod c;
mod caught;
mod ecmascript;
mod exits;
mod go;
mod java;
mod model;
mod python;
mod ruby;
mod rules;
mod rust;

pub(super) use exits::{Exits, exits, touches};
pub(super) use model::{
    Action, Block, Case, CaseEnd, Condition, Failing, Handler, LongHead, LoopHead, Sense, Shape,
    Tail,
};
pub(super) use rules::{Rules, function_block, rules};
