//! The steps of a history: plain data, so that a failing history can be printed, and shrunk by
//! omitting steps.

use telltale_engine::MetricType;
use telltale_simulation::{Fault, FileKind, Loss};

/// One step of a history.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Writes and waits.
    Write(NewWrite),
    /// Submits writes without waiting for any, with a seal at this index.
    Burst(Vec<NewWrite>, Option<usize>),
    /// Sends the latest write with a receipt again, unless its receipt is found, as a client does
    /// that got no response.
    Retry,
    /// Changes documents in one transaction.
    Documents(Vec<Change>),
    /// Changes records in one batch.
    Records(Vec<Change>),
    Seal,
    Merge,
    /// Seals, then removes what is older than its retention.
    Expire,
    /// Deletes the events that match a query derived from this seed.
    DeleteEvents(u64),
    DeleteMetric(u8),
    /// Advances the clock by these milliseconds.
    AdvanceClock(i64),
    /// The clock is wrong by these milliseconds while maintenance runs, and is corrected again.
    Excursion(i64),
    /// Compares the results of a query derived from this seed.
    Query(u64),
    /// Compares everything.
    CheckAll,
    /// Makes a backup, restores it and compares everything in the copy.
    Backup,
    /// Closes the engine and opens it again.
    Reopen,
    /// Kills the process.
    Kill,
    /// The machine loses power.
    PowerLoss(Loss, u64),
    /// Arms a fault of the disk.
    Arm(Fault),
    /// A file decays while the engine is closed; ends the history.
    Decay(FileKind, u64),
}

/// A write, with times relative to the current time.
#[derive(Clone, Debug)]
pub(crate) struct NewWrite {
    /// Identifies the write in the whole history.
    pub(crate) id: u64,
    /// Whether a receipt is stored with it. Otherwise it has a marker: a sample of
    /// [`super::samples::MARKER`].
    pub(crate) keyed: bool,
    pub(crate) samples: Vec<Sample>,
    /// Seed and age of each event.
    pub(crate) events: Vec<(u64, i64)>,
    /// Whether the events have properties of nearly the maximum size.
    pub(crate) large: bool,
}

/// A sample of a metric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) metric: u8,
    pub(crate) series: u32,
    /// Milliseconds before (or a little after) the current time.
    pub(crate) age: i64,
    pub(crate) value: Value,
}

/// The value of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Gauge(f64),
    Counter(f64),
    Distribution(f64),
    Member(u32),
    /// A counter increased by this many hundredths, and its cumulative value is sent.
    Total {
        cents: u32,
        reset: bool,
    },
    /// Values derived from this seed were counted in buckets: sends the delta since the histogram
    /// before, or the cumulative histogram.
    Counted {
        seed: u64,
        values: u8,
        delta: bool,
        reset: bool,
    },
    /// A histogram of this many buckets with one value each.
    Dense {
        buckets: u16,
    },
}

impl Value {
    pub(crate) fn kind(self) -> MetricType {
        match self {
            Self::Gauge(_) => MetricType::Gauge,
            Self::Counter(_) | Self::Total { .. } => MetricType::Counter,
            Self::Distribution(_) | Self::Counted { .. } | Self::Dense { .. } => {
                MetricType::Distribution
            }
            Self::Member(_) => MetricType::Set,
        }
    }
}

/// A change of one document or record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Put {
        key: u8,
        value: u32,
        bytes: u16,
    },
    Delete {
        key: u8,
    },
    /// For records only.
    DeleteRange {
        from: u8,
        to: u8,
    },
}
