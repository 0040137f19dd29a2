//! Which occurrences are the same error: a hash of what stays the same when it occurs again, also when lines have moved,
//! numbers differ and bundles were built anew. The rules have a version, which is part of every hash: a group keeps the hash
//! that made it, so each occurrence is also hashed by the rules before.

mod bundles;
mod fingerprint;
mod frames;
mod hash;
mod hashes;
mod message;
mod names;
mod parts;
mod paths;
mod replaced;
mod shared;
mod version_1;

pub(super) use hashes::hashes_of;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;
