//! The orders and the reports of maintenance steps, for metrics and events alike.

use crate::model::TimestampMs;
use crate::trusted_time::ClockDeviation;

/// What merging moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// Groups of blocks that were merged: windows of metrics, neighbours of a day of events.
    pub windows: u64,
    /// Blocks that were read.
    pub blocks_read: u64,
    /// Blocks that were written.
    pub blocks_written: u64,
    /// Bytes of the blocks that were read.
    pub bytes_read: u64,
    /// Bytes of the blocks that were written.
    pub bytes_written: u64,
}

impl std::ops::AddAssign for MergeReport {
    fn add_assign(&mut self, other: Self) {
        self.windows += other.windows;
        self.blocks_read += other.blocks_read;
        self.blocks_written += other.blocks_written;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
    }
}

/// What expiry removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpireReport {
    /// Blocks.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Idempotency receipts.
    pub receipts: u64,
    /// The time by which their age was counted.
    pub as_of: TimestampMs,
    /// How the clock deviates from the time that is believed. While it is ahead, less is removed than it asks for.
    pub deviation: Option<ClockDeviation>,
}

/// What a deletion removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteReport {
    /// Events.
    pub events: u64,
    /// Blocks that were written anew, or that nothing was left of.
    pub blocks: u64,
}

/// What was looked at, and what is damaged.
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
    /// Bytes read.
    pub bytes: u64,
    /// One line each: what is damaged and where.
    pub damaged: Vec<String>,
}

/// How much is merged in one go.
#[derive(Clone, Copy)]
pub(crate) struct MergeBudget<'b> {
    pub(crate) windows: usize,
    /// Whether there is time for one more.
    pub(crate) has_time: &'b dyn Fn() -> bool,
}

impl MergeBudget<'_> {
    /// All that there is.
    pub(crate) const ALL: Self = Self { windows: usize::MAX, has_time: &|| true };
}

/// What is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eagerness {
    /// Time that is over.
    Over,
    /// All, also what is still being written.
    All,
}

/// How much of a long task is done in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// A piece: others wait for their turn.
    Piece,
    /// All of it: somebody waits for the outcome.
    Whole,
}
