//! The rules of version 1 as they were when they made groups that are still there.

mod frames;
mod hash;

pub(super) use hash::group_of;
