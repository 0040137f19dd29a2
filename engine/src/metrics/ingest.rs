//! From names and tags to series, and from the log into the head.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Metrics;
use super::registry::Lookup;
use crate::error::{Error, Refusal, Result};
use crate::log::{Admission, Applied, Definitions, Sink, Written};
use crate::maintenance::Alarm;
use crate::model::{Lsn, MetricType, PointBatch, SeriesId, TimestampMs};
use crate::sketch::hash_member;
use crate::storage::disk_free;

/// How long a writer waits for a seal to make room before it is told to come back.
const ROOM_WAIT: Duration = Duration::from_secs(10);

/// Gathers points for one write and finds their series on the way. An error concerns one point; the builder
/// goes on.
#[derive(Debug)]
pub struct BatchBuilder<'a> {
    lookup: Lookup<'a>,
    points: PointBatch,
}

impl<'a> BatchBuilder<'a> {
    pub(crate) fn new(metrics: &'a Metrics) -> Self {
        Self { lookup: metrics.registry.lookup(), points: PointBatch::default() }
    }

    /// The series of `metric` with these tags, in any order; created when there is none. Name and tags may be any text:
    /// what breaks a rule is refused.
    pub fn series(
        &mut self,
        metric: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
    ) -> Result<SeriesId, Refusal> {
        self.lookup.series(metric, kind, tags)
    }

    /// Adds a finite number to a gauge, counter or distribution. Minus zero is zero.
    #[inline]
    pub fn number(&mut self, kind: MetricType, series: SeriesId, time: TimestampMs, value: f64) {
        self.points.push_number(kind, series, time, value + 0.0);
    }

    /// Adds a member to a set.
    pub fn member(&mut self, series: SeriesId, time: TimestampMs, member: &str) {
        self.points.push_member(series, time, hash_member(member));
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The points, to be written.
    pub fn finish(self) -> PointBatch {
        self.points
    }
}

/// The log's way into the registry and the head.
pub(crate) struct HeadSink {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) alarm: Arc<Alarm>,
    /// The data directory, whose disk must keep some room.
    pub(crate) dir: std::path::PathBuf,
}

impl HeadSink {
    fn check_disk(&self) -> Result<()> {
        let free = disk_free(&self.dir)?;
        let least = self.metrics.options().disk_free_bytes;
        if free < least {
            return Err(Error::Unavailable(format!(
                "the disk has {free} bytes free, {least} are kept; free some space"
            )));
        }
        Ok(())
    }
}

impl Sink for HeadSink {
    fn admit(&mut self) -> Result<Admission> {
        self.check_disk()?;
        let limit = self.metrics.options().head_bytes;
        if self.metrics.view.head_size().active_bytes < limit {
            return Ok(Admission::Go);
        }
        // The other half of the memory is free once what was set aside before is sealed.
        let room = self.alarm.wait_for_room(ROOM_WAIT, || !self.metrics.is_frozen());
        room.map_err(|reason| match reason {
            Some(failure) => Error::Unavailable(failure),
            None => Error::Overloaded("memory for new points is full until a seal is done".into()),
        })?;
        self.alarm.ask_for_seal();
        Ok(Admission::AfterRotation)
    }

    fn rotated(&mut self, boundary: Lsn) {
        // Between two records: nothing is applied while the head is set aside.
        self.metrics.freeze(boundary);
    }

    fn take_definitions(&mut self) -> Definitions {
        self.metrics.registry.take_unlogged()
    }

    fn logged(&mut self, definitions: Definitions) {
        if !definitions.is_empty() {
            self.metrics.view.define(definitions.series.iter().map(|s| (s.id, s.metric)));
            self.metrics.registry.note_unsealed(&definitions);
        }
    }

    fn not_logged(&mut self, definitions: Definitions) {
        self.metrics.registry.put_back_unlogged(definitions);
    }

    fn apply(&mut self, applied: Applied) {
        let head_bytes = self.metrics.apply(applied);
        self.alarm.set_read_only(None);
        if head_bytes >= self.metrics.options().head_bytes {
            self.alarm.ask_for_seal();
        }
    }

    fn failed(&mut self, error: &Error) {
        if matches!(error, Error::Unavailable(_) | Error::Io { .. }) {
            self.alarm.set_read_only(Some(error.to_string()));
        }
    }
}

impl Metrics {
    /// Learns again what a record of the log defined.
    pub(crate) fn replay_definitions(&self, definitions: Definitions) {
        if !definitions.is_empty() {
            self.registry.restore(&definitions);
            self.view.define(definitions.series.iter().map(|s| (s.id, s.metric)));
            self.registry.note_unsealed(&definitions);
        }
    }

    /// Does what a record in the log says. Answers the bytes of the active head.
    pub(crate) fn apply(&self, applied: Applied) -> usize {
        match applied {
            Applied::Write(written) => {
                let Written { points, receipt } = *written;
                if let Some(receipt) = receipt {
                    self.receipts.lock().insert(receipt.id, receipt);
                }
                self.counters.points.fetch_add(points.len() as u64, Ordering::Relaxed);
                self.view.add(&points)
            }
            Applied::Dropped(metric) => {
                if self.registry.drop_metric(metric) {
                    let blocks = self.view.drop_metric(metric);
                    self.dropped.lock().push((metric, blocks));
                }
                0
            }
        }
    }
}
