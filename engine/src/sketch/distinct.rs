//! How many distinct texts there are, for those who use the engine: [`Cardinality`] with a face.

use super::cardinality::{Cardinality, hash_member};
use crate::error::{Error, Result};

/// A set of texts that only grows and knows how many there are: exactly up to [`crate::limits::EXACT_MEMBERS_MAX`], by
/// HyperLogLog (p = 14) beyond. Which texts they are it does not know.
#[derive(Clone, Debug, Default)]
pub struct Distinct(Cardinality);

impl Distinct {
    /// Adds a text.
    pub fn insert(&mut self, text: &str) {
        self.0.insert_hash(hash_member(text));
    }

    /// Adds all texts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    /// How many distinct texts there are; the nearest whole number where it is an estimate.
    pub fn count(&self) -> u64 {
        self.0.count()
    }

    /// Bytes in memory, about.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The stored form: equal sets are equal bytes. It has a version, and no checksum.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.0.encode(&mut out);
        out
    }

    /// Reads what [`Self::encode`] wrote. Fails with [`Error::Corrupt`] on anything else.
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
    fn a_set_is_read_as_it_was_written() {
        let mut set = Distinct::default();
        for user in (0..1_500).map(|i| (i % 750).to_string()) {
            set.insert(&user);
        }
        assert_eq!(set.count(), 750);
        let mut read = Distinct::decode(&set.encode()).unwrap();
        read.insert("0");
        read.insert("another");
        assert_eq!((read.count(), set.count()), (751, 750));
        set.merge(&read);
        assert_eq!(set.encode(), read.encode());
        assert!(Distinct::decode(b"\x09").is_err());
    }
}
