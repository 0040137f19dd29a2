//! Faults of the engine that are known and not mended yet: histories keep clear of them, so that the others are found. This
//! list is to become empty.

use std::sync::LazyLock;

/// A known fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// Cells with more than some 288 distinct buckets make blocks of distributions that cannot be read.
    DenseDistributions,
    /// A merge of a day whose points have expired, all or in part, loses what the tiers of its parts do not have in common: late
    /// points make the rest of the day disappear, and so do windows of which one has lost its points and one has not.
    MergeOfExpiredDay,
    /// Expiry believes a clock that is days ahead for a moment, and so does merging, which leaves out the tiers that it takes for
    /// expired.
    ClockExcursion,
    /// A write that failed, could not be taken back and was sent again is counted twice after a crash.
    RetriedTornWrite,
    /// Nobody syncs the folder of the data when the folders of the database and the log are made in it, so a power loss soon after
    /// the first start may take both.
    UnsyncedFolders,
    /// A start reads records of the log that were written and never synced, and goes on behind them without a sync. A power loss
    /// may take them later, and with them the definitions that acknowledged records need.
    UnsyncedReplay,
    /// The end or the header of a segment that nobody was answered for, torn by a kill or a power loss, is reported as damage.
    TornTailIsDamage,
    /// A power loss may tear the record that defines series and leave the one behind it, which was not synced either: of that the events
    /// and the receipt are there, and the points are not. After a failed sync a restart reads the definitions from memory that the disk
    /// will never have, and acknowledged writes rely on them.
    LostDefinitions,
    /// The server does not start after a power loss that wrote sectors of the unsynced end of RocksDB's log in another order.
    TornDbLog,
    /// A gauge that was replaced counts twice once its points have expired.
    ReplacedGauges,
    /// After a failed sync of the log, one of several writes that wait together is acknowledged and not answered.
    FailedSyncUnderBurst,
    /// One flipped bit or zeroed sector costs more than itself, or stops the server from starting.
    Decay,
}

impl Known {
    const ALL: [Self; 12] = [
        Self::DenseDistributions,
        Self::MergeOfExpiredDay,
        Self::ClockExcursion,
        Self::RetriedTornWrite,
        Self::UnsyncedFolders,
        Self::UnsyncedReplay,
        Self::TornTailIsDamage,
        Self::LostDefinitions,
        Self::TornDbLog,
        Self::ReplacedGauges,
        Self::FailedSyncUnderBurst,
        Self::Decay,
    ];

    /// Whether histories keep clear of the fault. `TELLTALE_SIMULATION_KNOWN` is a list of the names of those that they keep
    /// clear of, instead of all.
    pub(crate) fn is_avoided(self) -> bool {
        static LIST: LazyLock<Option<String>> =
            LazyLock::new(|| std::env::var("TELLTALE_SIMULATION_KNOWN").ok());
        match &*LIST {
            Some(list) => list.split(',').any(|name| name == format!("{self:?}")),
            None => Self::ALL.contains(&self),
        }
    }
}
