//! Ingestion: maps names and tags to series when a batch is built, and applies log records to the
//! head.

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

/// Which metric names a batch may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchNames {
    /// All names except [reserved](RESERVED_PREFIX) ones.
    Unreserved,
    /// All names, reserved ones included.
    All,
}

/// Collects the points of one write and resolves their series. An error concerns one point only;
/// the builder remains usable.
#[derive(Debug)]
pub struct BatchBuilder<'a> {
    lookup: Lookup<'a>,
    names: BatchNames,
    points: PointBatch,
    /// The number of buckets of all its histograms.
    buckets: usize,
}

impl<'a> BatchBuilder<'a> {
    pub(crate) fn new(metrics: &'a Metrics, names: BatchNames) -> Self {
        Self { lookup: metrics.registry.lookup(), names, points: PointBatch::default(), buckets: 0 }
    }

    /// Returns the series of `metric` with these tags, in any order, and creates it if necessary.
    /// Invalid names and tags and reserved names are refused. The id is valid for this batch only:
    /// once the batch is written or dropped, a series without data may retire, and points written
    /// under its id afterwards are lost.
    pub fn series(
        &mut self,
        metric: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
    ) -> Result<SeriesId, Refusal> {
        self.check_reserved(metric)?;
        self.lookup.series(metric, kind, tags)
    }

    /// Returns the series and type that this series-key hash was [registered](Self::series_of_hash)
    /// for, without parsing or validating anything.
    #[inline]
    pub fn known(&mut self, key_hash: SeriesKeyHash) -> Option<(SeriesId, MetricType)> {
        self.lookup.known(key_hash)
    }

    /// Does what [`Self::series`] does and registers the series for `key_hash`, which is unknown so
    /// far.
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

    /// Creates a metric without series, unless it exists.
    pub fn metric(&mut self, name: &str, kind: MetricType) -> Result<(), Refusal> {
        self.check_reserved(name)?;
        self.lookup.create_metric(name, kind)
    }

    /// Returns the type of a metric, `None` when it does not exist.
    pub fn kind_of(&mut self, metric: &str) -> Option<MetricType> {
        self.lookup.kind_of(metric)
    }

    /// Adds a finite value to a gauge, counter or distribution. Negative zero is stored as zero.
    #[inline]
    pub fn number(&mut self, kind: MetricType, series: SeriesId, time: TimestampMs, value: f64) {
        self.points.push_number(kind, series, time, value + 0.0);
    }

    /// Adds a member to a set.
    pub fn member(&mut self, series: SeriesId, time: TimestampMs, member: &str) {
        self.points.push_member(series, time, hash_member(member));
    }

    /// Adds a sample of a cumulative counter. The stored value is a counter point: the increase
    /// since the previous sample. `value` is finite.
    ///
    /// The first sample of a series stores nothing, unless `start_time` makes it count. A lower
    /// value, or a start time after the previous sample, is a counter reset: the whole value is the
    /// increase. A sample that is not newer than the previous one is dropped and counted in
    /// [`crate::EngineStats::late_samples`].
    pub fn reading(
        &mut self,
        series: SeriesId,
        time: TimestampMs,
        value: f64,
        start_time: StartTime,
    ) {
        self.points.push_cumulative(series, time, value + 0.0, self.checked_start_time(start_time));
    }

    /// Adds a delta histogram to a distribution: the values observed since the previous histogram,
    /// counted in buckets.
    pub fn histogram(&mut self, series: SeriesId, time: TimestampMs, histogram: &Histogram) {
        self.buckets += histogram.buckets().buckets_in_memory();
        self.points.push_histogram(series, time, histogram.clone());
    }

    /// Adds a sample of a cumulative histogram to a distribution. The stored value is the increase
    /// since the previous sample, by the rules of [`Self::reading`]. A lower bucket count or
    /// different bounds are a counter reset; a change of the scale of exponential buckets is not.
    pub fn cumulative_histogram(
        &mut self,
        series: SeriesId,
        time: TimestampMs,
        histogram: Histogram,
        start_time: StartTime,
    ) {
        let start_time = self.checked_start_time(start_time);
        self.buckets += histogram.buckets().buckets_in_memory();
        self.points.push_cumulative_histogram(series, time, histogram, start_time);
    }

    /// Returns `start_time` with `counts` cleared when the stream started no later than the newest
    /// forgotten cumulative sample: the stream may have been counted before its series retired, so
    /// its first sample must not count. Decided when the batch is built and not when the sample is
    /// applied, so that replaying the log gives the same result.
    fn checked_start_time(&self, start_time: StartTime) -> StartTime {
        match start_time {
            StartTime::At { start, counts } => {
                let counts = counts && start > self.lookup.newest_forgotten_sample();
                StartTime::At { start, counts }
            }
            StartTime::Unknown => start_time,
        }
    }

    /// Returns the number of points and cumulative samples.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Reports whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Returns the number of buckets of all histograms, empty ones included. Constant time.
    pub fn buckets(&self) -> usize {
        self.buckets
    }

    /// Returns the approximate bytes in memory of the points and cumulative samples.
    pub fn bytes(&self) -> usize {
        self.points.bytes()
    }

    fn check_reserved(&self, name: &str) -> Result<(), Refusal> {
        match self.names {
            BatchNames::Unreserved if name.starts_with(RESERVED_PREFIX) => {
                // The refusal repeats the name, so its length is checked first.
                MetricName::check(name)?;
                Err(Refusal::NameReserved(name.to_owned()))
            }
            BatchNames::Unreserved | BatchNames::All => Ok(()),
        }
    }

    /// Returns the points, ready to be written.
    pub fn finish(mut self) -> PointBatch {
        self.points.hold_series(self.lookup.hold());
        self.points
    }
}

impl Metrics {
    /// Registers definitions that have been written to the log.
    pub(crate) fn defined(&self, definitions: &Definitions) {
        self.view.define(definitions.series.iter().map(|s| (s.id, s.metric)));
        self.registry.note_unsealed(definitions);
    }

    /// Restores the definitions of a replayed log record.
    pub(crate) fn replay_definitions(&self, definitions: &Definitions) {
        self.registry.restore(definitions);
        self.defined(definitions);
    }

    /// Adds the points of a record to the head, together with the increases of its cumulative
    /// samples.
    pub(crate) fn add(&self, mut points: PointBatch) {
        let mut cells = Vec::new();
        if let Some(cumulative) = points.take_cumulative() {
            let counters = points.of_mut(MetricType::Counter);
            let mut last_values = self.last_values.lock();
            let increases = self.view.with_known(|mut known| {
                last_values.compare(cumulative, |series| known.contains(series), counters)
            });
            self.counters.late_samples.fetch_add(increases.late, Ordering::Relaxed);
            cells = increases.cells;
        }
        let added = points.len() + cells.len();
        self.counters.points.fetch_add(added as u64, Ordering::Relaxed);
        self.view.add(&points, cells);
    }

    /// Applies a record that drops a metric.
    pub(crate) fn drop_metric(&self, metric: MetricId) {
        if let Some(series) = self.registry.drop_metric(metric) {
            let blocks = self.view.drop_metric(metric, &series);
            self.last_values.lock().forget(&series);
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
    fn only_own_batches_can_write_reserved_names() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let (gauge, name) = (MetricType::Gauge, "telltale.x");
        let reserved = Refusal::NameReserved(name.to_owned());
        let mut batch = engine.batch();
        let key_hash = SeriesKeyHash::of(b"some bytes");
        assert_eq!(batch.series(name, gauge, &[]), Err(reserved.clone()));
        assert_eq!(batch.series_of_hash(key_hash, name, gauge, &[]), Err(reserved.clone()));
        assert_eq!(batch.metric(name, gauge), Err(reserved.clone()));
        let long = format!("telltale.{}", "x".repeat(limits::NAME_CHARS_MAX));
        assert_eq!(batch.series(&long, gauge, &[]), Err(InvalidName::TooLong.into()));
        assert!(
            batch.series("telltale", gauge, &[]).is_ok(),
            "only names with the prefix are reserved"
        );
        drop(batch);
        let mut own = engine.own_batch();
        let series = own.series(name, gauge, &[]).unwrap();
        own.number(gauge, series, TimestampMs(1_000), 1.0);
        engine.write(own.finish()).unwrap();
        // Still refused although the metric now exists.
        assert_eq!(engine.batch().series(name, gauge, &[]), Err(reserved));
        assert_eq!(engine.metric(name).unwrap().map(|metric| metric.data_points), Some(1));
    }

    #[test]
    fn a_metric_can_be_created_before_its_series() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(dir.path(), options.clone()).unwrap();
        let mut batch = engine.batch();
        batch.metric("early", MetricType::Counter).unwrap();
        batch.metric("early", MetricType::Counter).unwrap();
        assert!(matches!(
            batch.metric("early", MetricType::Gauge),
            Err(Refusal::TypeConflict { is: MetricType::Counter, .. })
        ));
        assert!(matches!(batch.metric("", MetricType::Gauge), Err(Refusal::Name(_))));
        let other = batch.series("other", MetricType::Counter, &[]).unwrap();
        batch.number(MetricType::Counter, other, TimestampMs(1_000), 1.0);
        engine.write(batch.finish()).unwrap();
        assert_eq!(engine.metric_type("early"), Some(MetricType::Counter));
        assert!(engine.metric("early").unwrap().is_none(), "it has no points");
        engine.close().unwrap();
        drop(engine);
        let engine = Engine::open(dir.path(), options).unwrap();
        assert_eq!(engine.metric_type("early"), Some(MetricType::Counter));
    }
}
