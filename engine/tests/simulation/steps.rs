//! What happens in a history: plain data, so that a failing history is printed, and shrunk by leaving steps out.

use telltale_engine::MetricType;
use telltale_simulation::{Fault, FileKind, Loss};

/// One step of a history.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Writes and waits.
    Write(NewWrite),
    /// Submits writes without waiting for any, and a seal among them.
    Burst(Vec<NewWrite>, Option<usize>),
    /// Sends the latest write with a receipt again, unless its receipt is found, as a client does that got no answer.
    Retry,
    /// Changes documents in one transaction.
    Documents(Vec<Change>),
    /// Changes records in one batch.
    Records(Vec<Change>),
    Seal,
    Merge,
    /// Seals, then removes what is older than it is kept.
    Expire,
    /// Deletes the events that a question of this seed is about.
    DeleteEvents(u64),
    DeleteMetric(u8),
    /// Time passes.
    Pass(i64),
    /// The clock is wrong by this much while the upkeep runs, and is set right again.
    Excursion(i64),
    /// Compares the answers to a question of this seed.
    Ask(u64),
    /// Compares everything.
    CheckAll,
    /// Makes a backup, restores it and compares everything in the copy.
    Backup,
    /// Closes the engine and opens it again.
    Reopen,
    /// The process is killed.
    Kill,
    /// The machine loses its power.
    PowerLoss(Loss, u64),
    /// From now on a call fails.
    Arm(Fault),
    /// A file decays while the engine is closed; ends the history.
    Decay(FileKind, u64),
}

/// A write, by distances from the current time.
#[derive(Clone, Debug)]
pub(crate) struct NewWrite {
    /// Names the write in the whole history.
    pub(crate) id: u64,
    /// Whether a receipt is stored with it. Otherwise it has a marker: a point of a metric for markers.
    pub(crate) keyed: bool,
    pub(crate) samples: Vec<Sample>,
    /// Seed and age of each event.
    pub(crate) events: Vec<(u64, i64)>,
    /// Whether events have properties of nearly the most bytes that there may be.
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

/// What a sample tells.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Gauge(f64),
    Counter(f64),
    Distribution(f64),
    Member(u32),
    /// A counter went on by so many hundredths, and its total is sent.
    Total {
        cents: u32,
        reset: bool,
    },
    /// Values of this seed were counted in buckets: what came since the histogram before, or all since the start.
    Counted {
        seed: u64,
        values: u8,
        delta: bool,
        reset: bool,
    },
    /// A histogram of so many buckets with one value each.
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
    /// Records only.
    DeleteRange {
        from: u8,
        to: u8,
    },
}
