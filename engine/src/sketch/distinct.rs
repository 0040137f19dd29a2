//! The number of distinct strings: the public API of [`Cardinality`].

use super::cardinality::{Cardinality, hash_member};
use crate::error::{Error, Result};

/// A set of strings that counts its members: exactly up to [`crate::limits::EXACT_MEMBERS_MAX`],
/// with HyperLogLog (p = 14) beyond. Members cannot be listed or removed.
#[derive(Clone, Debug, Default)]
pub struct Distinct(Cardinality);

impl Distinct {
    /// Adds a string. Returns whether the set changed; the count of a large set need not have
    /// changed with it.
    pub fn insert(&mut self, member: &str) -> bool {
        self.0.insert_hash(hash_member(member))
    }

    /// Adds all strings of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    /// Returns the number of distinct strings; an estimate is rounded to an integer.
    pub fn count(&self) -> u64 {
        self.0.count()
    }

    /// Returns the approximate size in memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Encodes the set: equal sets have equal bytes. The form has a version and no checksum.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.0.encode(&mut out);
        out
    }

    /// Decodes the bytes that [`Self::encode`] returned. Fails with [`Error::Corrupt`] on anything
    /// else.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        match Cardinality::decode(bytes) {
            Ok(set) => Ok(Self(set)),
            Err(error) => Err(Error::Corrupt(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_set_round_trips() {
        let mut set = Distinct::default();
        for user in (0..1_500).map(|i| (i % 750).to_string()) {
            set.insert(&user);
        }
        assert_eq!(set.count(), 750);
        let mut read = Distinct::decode(&set.encode()).unwrap();
        assert!(!read.insert("0") && read.insert("another"));
        assert_eq!((read.count(), set.count()), (751, 750));
        set.merge(&read);
        assert_eq!(set.encode(), read.encode());
        assert!(Distinct::decode(b"\x09").is_err());
    }
}
