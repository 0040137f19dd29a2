//! The keyspaces: their names and contents.

/// A keyspace: a separate ordered map from byte keys to byte values, stored as a RocksDB column
/// family. One batch may write to several keyspaces and is still atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Keyspace {
    /// Facts about the whole database: format version, watermarks, counters. One key per fact.
    Meta,
    /// Dictionary of strings, metrics and series, in segments that are written by seals and read at
    /// open.
    Registry,
    /// One small entry per block, from block key to block description. All entries are read at
    /// open.
    Catalog,
    /// Immutable, already compressed blocks of 10 to 300 KB. Keys start with tier and day, so each
    /// day of a tier is one range and dropping it drops whole files.
    Blocks,
    /// Time columns shared by the blocks of several metrics, in pages. Keys start with the window.
    Times,
    /// Descriptions of event blocks, all read at open. A key is one byte for the kind of entry,
    /// followed by a block key.
    EventCatalog,
    /// Immutable, already compressed event blocks of up to 2 MB. Keys start with the day.
    EventBlocks,
    /// Last cumulative values, one compressed page per group of adjacent series. Written by seals,
    /// all read at open.
    LastValues,
    /// Keys of unreferenced blocks. Their bytes are deleted once no reader needs them.
    Garbage,
    /// Keys of blocks that were found damaged, with the reason.
    Quarantine,
    /// Idempotency receipts by id. Most lookups are for absent ids.
    Receipts,
    /// Typed documents: all data that is not telemetry.
    Documents,
    /// Small, frequently written and deleted values, in tables defined by their owners.
    Records,
    /// Second copies of the entries of other keyspaces: see [`Self::copied_as`].
    Copies,
}

impl Keyspace {
    /// Every keyspace, in declaration order.
    pub(crate) const ALL: [Self; 14] = [
        Self::Meta,
        Self::Registry,
        Self::Catalog,
        Self::Blocks,
        Self::Times,
        Self::EventCatalog,
        Self::EventBlocks,
        Self::LastValues,
        Self::Garbage,
        Self::Quarantine,
        Self::Receipts,
        Self::Documents,
        Self::Records,
        Self::Copies,
    ];

    /// Returns the name of the column family, which is part of the disk format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Registry => "registry",
            Self::Catalog => "catalog",
            Self::Blocks => "blocks",
            Self::Times => "times",
            Self::EventCatalog => "event_catalog",
            Self::EventBlocks => "event_blocks",
            Self::LastValues => "baselines",
            Self::Garbage => "garbage",
            Self::Quarantine => "quarantine",
            Self::Receipts => "receipts",
            Self::Documents => "documents",
            Self::Records => "records",
            Self::Copies => "copies",
        }
    }

    /// Returns the key prefix of this keyspace's entries in [`Self::Copies`], or `None` if the
    /// keyspace has no second copy.
    ///
    /// Only `Meta` has one, since no block can be interpreted without it. Two keyspaces never share
    /// a table file, so one damaged file cannot hit both copies. Keyspaces that may be large, such
    /// as the registry, rely on the parity of their tables alone.
    pub(super) fn copied_as(self) -> Option<u8> {
        match self {
            Self::Meta => Some(b'm'),
            _ => None,
        }
    }
}
