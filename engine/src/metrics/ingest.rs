//! From names and tags to series, and from the log into the head.

use std::sync::atomic::Ordering;

use super::Metrics;
use super::registry::{Lookup, SeriesKeyHash};
use crate::error::{Refusal, Result};
use crate::limits::RESERVED_PREFIX;
use crate::log::Definitions;
use crate::model::{
    Histogram, MetricId, MetricName, MetricType, PointBatch, SeriesId, StartTime, TimestampMs,
};
use crate::sketch::hash_member;

/// Which metrics a batch may be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchNames {
    /// All but those whose names are [reserved](RESERVED_PREFIX).
    Unreserved,
    /// All.
    All,
}

/// Gathers points for one write and finds their series on the way. An error concerns one point; the builder
/// goes on.
#[derive(Debug)]
pub struct BatchBuilder<'a> {
    lookup: Lookup<'a>,
    names: BatchNames,
    points: PointBatch,
    /// Buckets of its histograms.
    buckets: usize,
}

impl<'a> BatchBuilder<'a> {
    pub(crate) fn new(metrics: &'a Metrics, names: BatchNames) -> Self {
        Self { lookup: metrics.registry.lookup(), names, points: PointBatch::default(), buckets: 0 }
    }

    /// The series of `metric` with these tags, in any order; created when there is none. Name and tags may be any text:
    /// what breaks a rule is refused, and so is a reserved name. The id is for this batch: a series that has no data may retire once the batch is written or
    /// dropped, and what is written to its id then is lost.
    pub fn series(
        &mut self,
        metric: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
    ) -> Result<SeriesId, Refusal> {
        self.check_reserved(metric)?;
        self.lookup.series(metric, kind, tags)
    }

    /// The series that this series-key hash was [given](Self::series_of_hash) for, and its type: nothing is parsed or checked twice.
    #[inline]
    pub fn known(&mut self, key_hash: SeriesKeyHash) -> Option<(SeriesId, MetricType)> {
        self.lookup.known(key_hash)
    }

    /// [`Self::series`], for a series-key hash that is not known; from now on it is.
    pub fn series_of_hash(
        &mut self,
        key_hash: SeriesKeyHash,
        metric: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
    ) -> Result<SeriesId, Refusal> {
        self.check_reserved(metric)?;
        self.lookup.create(key_hash, metric, kind, tags)
    }

    /// Makes a metric known that has no series yet.
    pub fn metric(&mut self, name: &str, kind: MetricType) -> Result<(), Refusal> {
        self.check_reserved(name)?;
        self.lookup.create_metric(name, kind)
    }

    /// The type of a metric that exists.
    pub fn kind_of(&mut self, metric: &str) -> Option<MetricType> {
        self.lookup.kind_of(metric)
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

    /// Reads a counter that only grows until its process starts anew. What is stored is a counter point: the increase
    /// since the reading before. `total` is finite.
    ///
    /// The first reading of a series stores nothing, unless its beginning says that it counts. A lower total, or a
    /// beginning later than the reading before, is a new start: all of it is an increase. A reading that is not later than
    /// the one before changes nothing and is counted in [`crate::EngineStats::readings_late`].
    pub fn reading(&mut self, series: SeriesId, time: TimestampMs, total: f64, begins: StartTime) {
        self.points.push_reading(series, time, total + 0.0, self.unforgotten(begins));
    }

    /// Adds values that were counted into buckets elsewhere, since the histogram before, to a distribution.
    pub fn histogram(&mut self, series: SeriesId, time: TimestampMs, histogram: &Histogram) {
        self.buckets += histogram.buckets().spelled_out();
        self.points.push_histogram(series, time, histogram.clone());
    }

    /// Adds to a distribution from a histogram that only grows: what is stored is what came since the reading before, by
    /// the rules of [`Self::reading`]. Fewer values in a bucket, or other bounds, are a new start; a change of the scale of
    /// exponential buckets is not.
    pub fn histogram_reading(
        &mut self,
        series: SeriesId,
        time: TimestampMs,
        histogram: Histogram,
        begins: StartTime,
    ) {
        let begins = self.unforgotten(begins);
        self.buckets += histogram.buckets().spelled_out();
        self.points.push_histogram_reading(series, time, histogram, begins);
    }

    /// A stream that began before the newest reading that was forgotten may have been counted before: its first reading does not
    /// count. Decided here and not where readings are compared, so that a replay of the log comes to the same.
    fn unforgotten(&self, begins: StartTime) -> StartTime {
        match begins {
            StartTime::At { start, counts } => {
                let counts = counts && start > self.lookup.readings_forgotten();
                StartTime::At { start, counts }
            }
            StartTime::Unknown => begins,
        }
    }

    /// How many points and readings there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// How many buckets the histograms have together, empty ones included. Costs the same however many there are.
    pub fn buckets(&self) -> usize {
        self.buckets
    }

    /// Bytes in memory of the points and readings, about.
    pub fn bytes(&self) -> usize {
        self.points.bytes()
    }

    fn check_reserved(&self, name: &str) -> Result<(), Refusal> {
        match self.names {
            BatchNames::Unreserved if name.starts_with(RESERVED_PREFIX) => {
                // The refusal names it, so it has a length.
                MetricName::check(name)?;
                Err(Refusal::NameReserved(name.to_owned()))
            }
            BatchNames::Unreserved | BatchNames::All => Ok(()),
        }
    }

    /// The points, to be written.
    pub fn finish(mut self) -> PointBatch {
        self.points.hold_series(self.lookup.hold());
        self.points
    }
}

impl Metrics {
    /// Learns of what is in the log by now.
    pub(crate) fn defined(&self, definitions: &Definitions) {
        self.view.define(definitions.series.iter().map(|s| (s.id, s.metric)));
        self.registry.note_unsealed(definitions);
    }

    /// Learns again what a record of the log defined.
    pub(crate) fn replay_definitions(&self, definitions: &Definitions) {
        self.registry.restore(definitions);
        self.defined(definitions);
    }

    /// Adds the points of a record to the head, and those that its readings come to.
    pub(crate) fn add(&self, mut points: PointBatch) {
        let mut cells = Vec::new();
        if let Some(readings) = points.take_readings() {
            let counters = points.of_mut(MetricType::Counter);
            let mut baselines = self.baselines.lock();
            let increases =
                self.view.with_known(|known| baselines.compare(readings, known, counters));
            self.counters.readings_late.fetch_add(increases.late, Ordering::Relaxed);
            cells = increases.cells;
        }
        let added = points.len() + cells.len();
        self.counters.points.fetch_add(added as u64, Ordering::Relaxed);
        self.view.add(&points, cells);
    }

    /// Forgets a metric, as a record says.
    pub(crate) fn drop_metric(&self, metric: MetricId) {
        if let Some(series) = self.registry.drop_metric(metric) {
            let blocks = self.view.drop_metric(metric, &series);
            self.baselines.lock().forget(&series);
            self.dropped.lock().push((metric, blocks));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;
    use crate::limits;
    use crate::model::InvalidName;
    use crate::options::{Maintenance, Options};

    #[test]
    fn reserved_names_are_written_by_own_batches_only() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let (gauge, name) = (MetricType::Gauge, "telltale.x");
        let reserved = Refusal::NameReserved(name.to_owned());
        let mut batch = engine.batch();
        let key_hash = SeriesKeyHash::of(b"some text");
        assert_eq!(batch.series(name, gauge, &[]), Err(reserved.clone()));
        assert_eq!(batch.series_of_hash(key_hash, name, gauge, &[]), Err(reserved.clone()));
        assert_eq!(batch.metric(name, gauge), Err(reserved.clone()));
        let long = format!("telltale.{}", "x".repeat(limits::NAME_CHARS_MAX));
        assert_eq!(batch.series(&long, gauge, &[]), Err(InvalidName::TooLong.into()));
        assert!(batch.series("telltale", gauge, &[]).is_ok(), "only what begins with the prefix");
        drop(batch);
        let mut own = engine.own_batch();
        let series = own.series(name, gauge, &[]).unwrap();
        own.number(gauge, series, TimestampMs(1_000), 1.0);
        engine.write(own.finish()).unwrap();
        // That it is known now makes no difference.
        assert_eq!(engine.batch().series(name, gauge, &[]), Err(reserved));
        assert_eq!(engine.metric(name).unwrap().map(|metric| metric.data_points), Some(1));
    }

    #[test]
    fn a_metric_may_be_made_before_its_series() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(dir.path(), options.clone()).unwrap();
        let mut batch = engine.batch();
        batch.metric("made", MetricType::Counter).unwrap();
        batch.metric("made", MetricType::Counter).unwrap();
        assert!(matches!(
            batch.metric("made", MetricType::Gauge),
            Err(Refusal::TypeConflict { is: MetricType::Counter, .. })
        ));
        assert!(matches!(batch.metric("", MetricType::Gauge), Err(Refusal::Name(_))));
        let other = batch.series("other", MetricType::Counter, &[]).unwrap();
        batch.number(MetricType::Counter, other, TimestampMs(1_000), 1.0);
        engine.write(batch.finish()).unwrap();
        assert_eq!(engine.metric_type("made"), Some(MetricType::Counter));
        assert!(engine.metric("made").unwrap().is_none(), "it has no points");
        engine.close().unwrap();
        drop(engine);
        let engine = Engine::open(dir.path(), options).unwrap();
        assert_eq!(engine.metric_type("made"), Some(MetricType::Counter));
    }
}
