//! The keyspaces as types: a key, range or value of one keyspace cannot be passed to another.
//!
//! [`keyspaces`] declares what each keyspace contains. The owner of a keyspace says which of its
//! types are keys, prefixes of keys and values there by implementing [`KeyOf`], [`PrefixOf`] and
//! [`ValueOf`] for them, beside their encoding; entries are decoded there too. Ranges are
//! [`super::RangeOf`] a keyspace. Calls that take no keys, such as compactions, use [`Keyspace`].

use super::fact::Fact;
use super::keyspace::Keyspace;

/// A keyspace as a type.
pub(crate) trait Schema: Copy {
    /// Returns the keyspace.
    fn keyspace(self) -> Keyspace;
}

/// A key of the keyspace `S`.
pub(crate) trait KeyOf<S: Schema> {
    /// Returns the bytes of the key.
    fn encoded(&self) -> impl AsRef<[u8]>;
}

/// The common first bytes of keys of the keyspace `S` that belong together.
pub(crate) trait PrefixOf<S: Schema> {
    /// Returns the bytes of the prefix.
    fn encoded(&self) -> impl AsRef<[u8]>;
}

/// A value of the keyspace `S`.
pub(crate) trait ValueOf<S: Schema> {
    /// Returns the bytes of the value.
    fn into_bytes(self) -> Vec<u8>;
}

macro_rules! schemas {
    ($($(#[$doc:meta])* $name:ident)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub(crate) struct $name;

            impl Schema for $name {
                fn keyspace(self) -> Keyspace {
                    Keyspace::$name
                }
            }
        )+
    };
}

/// The keyspaces, with the types and the bytes of their keys, prefixes and values. Numbers in keys
/// are big-endian, those in values little-endian. `docs/FORMAT.md` has the details.
pub(crate) mod keyspaces {
    use super::{Keyspace, Schema};

    schemas! {
        /// Key: a [`Fact`](super::Fact), its name. Value: a number of 4 or 8 bytes, or the frame of
        /// a clock.
        Meta
        /// Key: a `RegistryKey`, kind of the row (u8) and number (u32). Value: a frame; nothing for
        /// dropped metrics.
        Registry
        /// Key: a `BlockKey`, tier (u8), day (u32), metric (u32), sequence (u64). Value: a
        /// `BlockInfo`, in a frame.
        Catalog
        /// Key: a `BlockKey`. Prefix: a `BlockDay`. Value: an encoded block, in a frame.
        Blocks
        /// Key: a `TimePageKey`, start of the window (i64), its hours (u8), whether of a compacted
        /// block set (u8), number (u64). Prefix: a `TimePageGroup`, all but the number. Value: a
        /// time page, in a frame.
        Times
        /// Key: a `CatalogEntry`, kind of the entry (u8) and `EventBlockKey`. Value: an
        /// `EventBlockInfo` in a frame for a block, nothing for garbage, the reason for a
        /// quarantined block.
        EventCatalog
        /// Key: an `EventBlockKey`, day (u32) and sequence (u64). Prefix: an `EventDay`. Value: an
        /// encoded block.
        EventBlocks
        /// Key: a `LastValuesKey`, kind (u8) and number of the page (u32). Value: a page of last
        /// cumulative values, in a frame.
        LastValues
        /// Key: a `BlockKey`. Value: nothing.
        Garbage
        /// Key: a `BlockKey`. Value: the reason, UTF-8.
        Quarantine
        /// Key: a `ReceiptKey`, the id (u128). Value: a `Receipt`, in a frame of documents.
        Receipts
        /// Key: a `DocumentKey`, length (u8) and name of the collection, id. Prefix: the key of
        /// the start of an id. Value: revision (u64) and JSON, in a frame of documents.
        Documents
        /// Key: a `RecordKey`, id of the table (u8) and key of its owner. Value: defined by the
        /// owner of the table.
        Records
    }
}

impl KeyOf<keyspaces::Meta> for Fact {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.name()
    }
}

impl ValueOf<keyspaces::Meta> for u64 {
    fn into_bytes(self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }
}

impl ValueOf<keyspaces::Meta> for u32 {
    fn into_bytes(self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }
}

/// Tests also pass bytes, to store what no owner would write.
#[cfg(test)]
mod raw {
    use super::*;

    impl Schema for Keyspace {
        fn keyspace(self) -> Keyspace {
            self
        }
    }

    impl KeyOf<Keyspace> for [u8] {
        fn encoded(&self) -> impl AsRef<[u8]> {
            self
        }
    }

    impl KeyOf<Keyspace> for Box<[u8]> {
        fn encoded(&self) -> impl AsRef<[u8]> {
            self
        }
    }

    impl KeyOf<Keyspace> for Vec<u8> {
        fn encoded(&self) -> impl AsRef<[u8]> {
            self
        }
    }

    impl<const N: usize> KeyOf<Keyspace> for [u8; N] {
        fn encoded(&self) -> impl AsRef<[u8]> {
            self
        }
    }

    impl PrefixOf<Keyspace> for Vec<u8> {
        fn encoded(&self) -> impl AsRef<[u8]> {
            self
        }
    }

    impl<const N: usize> PrefixOf<Keyspace> for [u8; N] {
        fn encoded(&self) -> impl AsRef<[u8]> {
            self
        }
    }

    impl ValueOf<Keyspace> for Vec<u8> {
        fn into_bytes(self) -> Vec<u8> {
            self
        }
    }
}
