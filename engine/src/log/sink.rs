//! What the log hands durable records to.

use super::record::Definitions;
use crate::documents::Receipt;
use crate::error::{Error, Result};
use crate::model::{EventRows, Lsn, MetricId, PointBatch};

/// Samples and events of one write, and the receipt of its response.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) points: PointBatch,
    pub(crate) events: EventRows,
    pub(crate) receipt: Option<Receipt>,
}

/// The effect of a record once it is durable.
#[derive(Debug)]
pub(crate) enum Applied {
    /// Adds samples and events to the heads, and stores the receipt.
    Write(Box<Written>),
    /// Removes a metric.
    Dropped(MetricId),
}

impl Applied {
    pub(super) fn receipt(&self) -> Option<&Receipt> {
        match self {
            Self::Write(written) => written.receipt.as_ref(),
            Self::Dropped(_) => None,
        }
    }
}

/// The destination of durable records. A trait because the log must not depend on the stores above
/// it; the tests of [`super::commit`] contain the second implementation.
pub(crate) trait Sink: Send + 'static {
    /// Returns whether [`Self::admit`] would wait.
    fn is_full(&self) -> bool;
    /// Returns the bytes in memory of the definitions that the next group is to contain.
    fn unlogged_bytes(&self) -> usize;
    /// Refuses a write whose receipt is taken. Called in log order, before the write is in the log.
    fn claim(&mut self, receipt: &Receipt) -> Result<()>;
    /// Returns whether a group may be written now. May wait for memory to become free.
    fn admit(&mut self) -> Result<Admission>;
    /// Reports a new segment; the last record of the old one is `boundary`.
    fn rotated(&mut self, boundary: Lsn);
    /// Takes the definitions that are in the registry but not in the log.
    fn take_definitions(&mut self) -> Definitions;
    /// Reports that the definitions are in the log.
    fn logged(&mut self, definitions: &Definitions);
    /// Returns definitions that could not be written, to be written with the next group.
    fn not_logged(&mut self, definitions: Definitions);
    /// Applies a record that is in the log.
    fn apply(&mut self, applied: Applied);
    /// Reports a failed write.
    fn failed(&mut self, error: &Error);
    /// Reports that acknowledged records of the log may never reach the disk.
    fn durability_in_doubt(&mut self);
    /// Reports that whoever wrote the log has panicked: nothing is written any more.
    fn died(&mut self, reason: &str);
}

/// How a group may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// After the existing records.
    Go,
    /// To a new segment: the earlier records are about to be sealed.
    AfterRotation,
}
