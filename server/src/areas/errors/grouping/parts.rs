//! Hashes a list of parts. Each is preceded by its length, so that no two lists hash the same
//! bytes.

use sha2::{Digest, Sha256};

use super::super::model::GroupHash;

/// A hasher of parts.
pub(super) struct PartsHasher(Sha256);

impl PartsHasher {
    /// Starts the hash of a rule in a version of the rules. The version is part of it, so no two
    /// versions share a hash.
    pub(super) fn new(version: &str, rule: &str) -> Self {
        let mut parts = Self(Sha256::new());
        parts.add(version);
        parts.add(rule);
        parts
    }

    pub(super) fn number(&mut self, number: usize) {
        self.0.update((number as u64).to_le_bytes());
    }

    pub(super) fn add(&mut self, part: &str) {
        self.number(part.len());
        self.0.update(part.as_bytes());
    }

    /// Returns the first half of the SHA-256, for which accidental collisions can be neglected.
    pub(super) fn finish(self) -> GroupHash {
        let digest: [u8; 32] = self.0.finalize().into();
        let (first, _) = digest.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
        GroupHash(u128::from_be_bytes(*first))
    }
}
