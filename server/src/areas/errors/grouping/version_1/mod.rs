//! Version 1 of the rules, unchanged since it created groups that still exist.

mod frames;
mod hash;

pub(super) use hash::group_of;
