//! Which occurrences are the same error: a hash of what stays the same when it occurs again, also when lines have moved,
//! numbers differ and bundles were built anew. The rules have a version, which is part of every hash: a group keeps the hash
//! that made it, so each occurrence is also hashed by the rules before.

mod bundles;
mod fingerprint;
mod frames;
mod hash;
mod message;
mod names;
mod parts;
mod paths;
mod version_1;

use super::model::GroupHashes;
use super::occurrence::Occurrence;

/// The hashes that an occurrence goes by.
pub(super) fn hashes_of(occurrence: &Occurrence<'_>) -> GroupHashes {
    let (current, earlier) = (hash::group_of(occurrence), version_1::group_of(occurrence));
    GroupHashes { current, earlier }
}

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;
