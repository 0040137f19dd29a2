//! The names of the keyspaces and what lives in each.

/// A keyspace: an ordered map of its own from bytes to bytes, a RocksDB column family. A batch may write to
/// several, and is still atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Keyspace {
    /// A few small facts about the whole database: format version, watermarks, counters. One key per fact.
    Meta,
    /// Dictionary of strings, metrics and series, in segments written at a seal and read back at open.
    Registry,
    /// One small entry per block, all read at open: block key to description.
    Catalog,
    /// The blocks: 10 to 300 KB each, immutable, already packed. Keys begin with tier and day, so that a day
    /// of a tier is one range, and dropping it drops whole files.
    Blocks,
    /// Times that the blocks of several metrics share, in pages. Keys begin with the window.
    Times,
    /// What is known of blocks of events, all read at open. One byte says what an entry is, a block key follows.
    EventCatalog,
    /// The blocks of events: up to 2 MB each, immutable, already packed. Keys begin with the day.
    EventBlocks,
    /// The last readings of cumulative series, page by page of neighbouring series, already packed. Written with the seals, all
    /// read at open.
    Baselines,
    /// Keys of blocks that nothing refers to any more, whose bytes may go once no reader needs them.
    Garbage,
    /// Keys of blocks that were found damaged, with the reason.
    Quarantine,
    /// Idempotency receipts by id. Mostly asked for ids that are not there.
    Receipts,
    /// Typed documents of everything that is not telemetry.
    Documents,
    /// Small values that are written and deleted all the time, in tables of their owners.
    Records,
    /// What decides over everything else, a second time: see [`Self::copied_as`].
    Copies,
}

impl Keyspace {
    /// Every keyspace, in the order of the declaration.
    pub(crate) const ALL: [Self; 14] = [
        Self::Meta,
        Self::Registry,
        Self::Catalog,
        Self::Blocks,
        Self::Times,
        Self::EventCatalog,
        Self::EventBlocks,
        Self::Baselines,
        Self::Garbage,
        Self::Quarantine,
        Self::Receipts,
        Self::Documents,
        Self::Records,
        Self::Copies,
    ];

    /// The name of the column family. Part of the disk format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Registry => "registry",
            Self::Catalog => "catalog",
            Self::Blocks => "blocks",
            Self::Times => "times",
            Self::EventCatalog => "event_catalog",
            Self::EventBlocks => "event_blocks",
            Self::Baselines => "baselines",
            Self::Garbage => "garbage",
            Self::Quarantine => "quarantine",
            Self::Receipts => "receipts",
            Self::Documents => "documents",
            Self::Records => "records",
            Self::Copies => "copies",
        }
    }

    /// What the keys of the copies of a keyspace begin with, if it is kept twice: without the facts of the whole nobody knows what
    /// is in blocks. Two keyspaces share no file of tables. What is large, as the registry may be, has the parity of its
    /// tables alone.
    pub(super) fn copied_as(self) -> Option<u8> {
        match self {
            Self::Meta => Some(b'm'),
            _ => None,
        }
    }
}
