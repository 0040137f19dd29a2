//! Parameters and results of maintenance steps, for metrics and events alike.

use crate::model::TimestampMs;
use crate::trusted_time::ClockDeviation;

/// The result of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactionReport {
    /// Compacted groups of blocks: windows of metrics, or adjacent blocks of a day of events.
    pub windows: u64,
    /// Blocks read.
    pub blocks_read: u64,
    /// Blocks written.
    pub blocks_written: u64,
    /// Bytes of the blocks read.
    pub bytes_read: u64,
    /// Bytes of the blocks written.
    pub bytes_written: u64,
}

impl std::ops::AddAssign for CompactionReport {
    fn add_assign(&mut self, other: Self) {
        self.windows += other.windows;
        self.blocks_read += other.blocks_read;
        self.blocks_written += other.blocks_written;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
    }
}

/// The result of an expiry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpireReport {
    /// Deleted blocks.
    pub blocks: u64,
    /// Bytes of the deleted blocks.
    pub bytes: u64,
    /// Deleted idempotency receipts.
    pub receipts: u64,
    /// The time against which ages were measured.
    pub as_of: TimestampMs,
    /// The deviation of the wall clock from the trusted time. While the clock is ahead, less is
    /// removed than by its time.
    pub deviation: Option<ClockDeviation>,
}

/// The result of a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteReport {
    /// Deleted events.
    pub events: u64,
    /// Blocks that were rewritten, or deleted because nothing was left in them.
    pub blocks: u64,
    /// Corrupt blocks in the time range, which were skipped: events in them are not deleted.
    /// Queries do not return these events either, and they expire with their day.
    pub quarantined: u64,
}

/// The result of a deletion of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilesReport {
    /// Files that are pinned or referred to.
    pub kept: u64,
    /// Deleted files.
    pub deleted: u64,
    /// Bytes of the deleted files.
    pub deleted_bytes: u64,
    /// Deleted incomplete files of interrupted writes.
    pub temporary_deleted: u64,
}

/// The amounts checked, and the damage found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Blocks read.
    pub blocks: u64,
    /// Records of the log read.
    pub log_records: u64,
    /// Documents and receipts read.
    pub documents: u64,
    /// Records of tables read.
    pub records: u64,
    /// Files read.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// One line for each damaged item: what it is and where.
    pub damaged: Vec<String>,
}

/// How much to compact in one step.
#[derive(Clone, Copy)]
pub(crate) struct CompactionBudget<'b> {
    pub(crate) windows: usize,
    /// Returns whether there is time for another window.
    pub(crate) has_time: &'b dyn Fn() -> bool,
}

impl CompactionBudget<'_> {
    /// No limit.
    pub(crate) const ALL: Self = Self { windows: usize::MAX, has_time: &|| true };
}

/// Which windows to compact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompactionScope {
    /// Windows whose time has passed, if what is to be compacted has at least as many rows as what
    /// was compacted before, or is of several seals: while an import goes on, which would otherwise
    /// rewrite the same day after every seal.
    Grown,
    /// Windows whose time has passed.
    Over,
    /// All windows, including those still being written.
    All,
}

/// How much of a long task to do in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// A part of it, since other steps wait.
    Piece,
    /// All of it, since a caller waits for the result.
    Whole,
}
