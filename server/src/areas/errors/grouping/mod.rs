//! Which occurrences are the same error: a hash of what stays the same when it happens again, also when lines have moved and
//! numbers differ. The rules have a version, which is part of every hash: groups never change their hash.

mod frames;
mod hash;
mod message;

pub(super) use hash::group_of;

#[cfg(test)]
mod tests;
