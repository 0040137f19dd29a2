//! A fixture with an engine of its own, and queries of what was stored.

use std::collections::BTreeMap;

use prost::Message;
use serde_json::Value;
use telltale_engine::{
    Aggregation, Engine, Group, Interval, Maintenance, MetricName, MetricQuery, MetricType,
    Options, TagCondition, TagFilter, TimeRange, TimestampMs,
};
use telltale_tests::remote_write::{RequestV2, TimeSeries, WriteRequest};

use super::super::families::Families;
use crate::areas::bulk::remote_write::{Version, WriteError, WrittenCounts, resolve_write};

/// 2026-01-02T03:04:00Z, the time at which requests arrive.
pub(super) const NOW: TimestampMs = TimestampMs(1_767_323_040_000);
/// An hour before it.
pub(super) const T0: i64 = NOW.0 - 3_600_000;
pub(super) const MINUTE: i64 = 60_000;

/// An engine, and the metric metadata received so far.
pub(super) struct Fixture {
    pub(super) engine: Engine,
    pub(super) families: Families,
    _dir: tempfile::TempDir,
}

/// The result of a request.
#[derive(Debug, PartialEq)]
pub(super) struct WriteResult {
    pub(super) accepted: usize,
    pub(super) rejected: usize,
    /// The series index and code of each listed error.
    pub(super) errors: Vec<(u64, String)>,
    pub(super) written: WrittenCounts,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self::with(Options::default())
    }

    pub(super) fn with(options: Options) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..options };
        let engine = Engine::open(&dir.path().join("data"), options).unwrap();
        Self { engine, families: Families::default(), _dir: dir }
    }

    /// Writes a request twice: the second time its series are found by key hash, and the result
    /// must be the same.
    #[track_caller]
    pub(super) fn write(&self, version: Version, body: &[u8]) -> WriteResult {
        let first = self.write_once(version, body).unwrap();
        let again = self.write_once(version, body).unwrap();
        assert_eq!(first, again);
        first
    }

    pub(super) fn write_once(
        &self,
        version: Version,
        body: &[u8],
    ) -> Result<WriteResult, WriteError> {
        let (points, outcome, written) =
            resolve_write(&self.engine, &self.families, version, body, NOW)?;
        self.engine.write(points).unwrap();
        let body = serde_json::to_value(&outcome).unwrap();
        let errors = body["errors"].as_array().into_iter().flatten();
        let error = |error: &Value| {
            (error["index"].as_u64().unwrap(), error["code"].as_str().unwrap().to_owned())
        };
        Ok(WriteResult {
            accepted: outcome.accepted(),
            rejected: outcome.rejected(),
            errors: errors.map(error).collect(),
            written,
        })
    }

    /// Writes a request of version 1 with these series.
    #[track_caller]
    pub(super) fn v1(&self, series: &[TimeSeries]) -> WriteResult {
        let request = WriteRequest { timeseries: series.to_vec(), metadata: Vec::new() };
        self.write(Version::V1, &request.encode_to_vec())
    }

    #[track_caller]
    pub(super) fn v2(&self, request: &RequestV2) -> WriteResult {
        self.write(Version::V2, &request.encode_to_vec())
    }

    /// Returns the type of a metric; `None` if it does not exist.
    pub(super) fn kind(&self, metric: &str) -> Option<MetricType> {
        self.engine.metric_type(metric)
    }

    /// Returns an aggregation of the series with these tags, by minutes since [`T0`] that contain
    /// samples.
    #[track_caller]
    pub(super) fn minutes(
        &self,
        metric: &str,
        aggregation: Aggregation,
        tags: &[(&str, &str)],
    ) -> Vec<(i64, f64)> {
        let filter = |(key, value): &(&str, &str)| TagFilter {
            key: (*key).to_owned(),
            condition: TagCondition::AnyOf(vec![(*value).to_owned()].into()),
        };
        let groups = self.query(metric, aggregation, tags.iter().map(filter).collect(), vec![]);
        groups.first().map(minutes_of).unwrap_or_default()
    }

    /// Returns the samples of a gauge or the increases of a counter, for the one series that has
    /// exactly these tags.
    #[track_caller]
    pub(super) fn series(
        &self,
        metric: &str,
        kind: MetricType,
        tags: &BTreeMap<String, String>,
    ) -> Vec<(i64, f64)> {
        let aggregation =
            if kind == MetricType::Gauge { Aggregation::Last } else { Aggregation::Sum };
        let keys = ["host", "zone", "le"].map(str::to_owned).to_vec();
        let wanted: Vec<String> =
            keys.iter().map(|key| tags.get(key).cloned().unwrap_or_default()).collect();
        let groups = self.query(metric, aggregation, vec![], keys);
        groups.iter().find(|group| group.key == wanted).map(minutes_of).unwrap_or_default()
    }

    #[track_caller]
    fn query(
        &self,
        metric: &str,
        aggregation: Aggregation,
        filters: Vec<TagFilter>,
        group_by: Vec<String>,
    ) -> Vec<Group> {
        let result = self.engine.query(&MetricQuery {
            metric: MetricName::new(metric).unwrap(),
            range: TimeRange::new(T0 - 1_000 * MINUTE, NOW.0 + 1_441 * MINUTE),
            interval: Interval::MINUTE,
            aggregations: vec![aggregation],
            filters,
            group_by,
        });
        result.unwrap().groups
    }

    /// Returns the samples of a gauge.
    #[track_caller]
    pub(super) fn gauge(&self, metric: &str, tags: &[(&str, &str)]) -> Vec<(i64, f64)> {
        self.minutes(metric, Aggregation::Last, tags)
    }

    /// Returns the increases of a counter.
    #[track_caller]
    pub(super) fn counter(&self, metric: &str, tags: &[(&str, &str)]) -> Vec<(i64, f64)> {
        self.minutes(metric, Aggregation::Sum, tags)
    }
}

fn minutes_of(group: &Group) -> Vec<(i64, f64)> {
    let starts = group.starts.iter().map(|start| (start.0 - T0) / MINUTE);
    starts.zip(group.columns[0].iter().copied()).collect()
}

impl WriteResult {
    /// Checks that everything was accepted: this many samples and histograms.
    #[track_caller]
    pub(super) fn all(&self, samples: u64, histograms: u64) {
        let written = WrittenCounts { samples, histograms };
        assert_eq!((self.rejected, self.written), (0, written), "{self:?}");
        assert_eq!(self.accepted as u64, samples + histograms);
    }

    /// Checks the number accepted and the listed errors.
    #[track_caller]
    pub(super) fn partly(&self, accepted: usize, errors: &[(u64, &str)]) {
        let listed: Vec<(u64, &str)> =
            self.errors.iter().map(|(index, code)| (*index, code.as_str())).collect();
        assert_eq!((self.accepted, listed.as_slice()), (accepted, errors), "{self:?}");
    }
}
