//! Determines which occurrences are the same error, by a hash of what stays the same when an error
//! occurs again, even if line numbers and values differ or bundles were rebuilt.
//!
//! The rules have a version, which is part of every hash. A group keeps the hash that created it,
//! so each occurrence is also hashed by the previous version of the rules.

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
