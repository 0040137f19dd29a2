//! An engine of its own to write to, and what tests ask of it.

use std::collections::BTreeMap;

use prost::Message;
use serde_json::Value;
use telltale_engine::{
    Aggregation, Engine, Group, Interval, Maintenance, MetricName, MetricQuery, MetricType,
    Options, TagCondition, TagFilter, TimeRange, TimestampMs,
};
use telltale_tests::remote_write::{RequestV2, TimeSeries, WriteRequest};

use super::super::families::Families;
use crate::areas::bulk::remote_write::{Version, WriteError, Written, resolve_write};

/// 2026-01-02T03:04:00Z: when requests arrive.
pub(super) const NOW: TimestampMs = TimestampMs(1_767_323_040_000);
/// Some minutes before it.
pub(super) const T0: i64 = NOW.0 - 3_600_000;
pub(super) const MINUTE: i64 = 60_000;

/// An engine, and what agents said of metrics.
pub(super) struct Bench {
    pub(super) engine: Engine,
    pub(super) families: Families,
    _dir: tempfile::TempDir,
}

/// What was told of a request.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    pub(super) accepted: usize,
    pub(super) rejected: usize,
    /// The index of the series and the code of each error that is listed.
    pub(super) errors: Vec<(u64, String)>,
    pub(super) written: Written,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(Options::default())
    }

    pub(super) fn with(options: Options) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..options };
        let engine = Engine::open(&dir.path().join("data"), options).unwrap();
        Self { engine, families: Families::default(), _dir: dir }
    }

    /// Writes a request, and again: what is known by then is found without being read, and changes nothing.
    #[track_caller]
    pub(super) fn write(&self, version: Version, body: &[u8]) -> Told {
        let first = self.write_once(version, body).unwrap();
        let again = self.write_once(version, body).unwrap();
        assert_eq!(first, again);
        first
    }

    pub(super) fn write_once(&self, version: Version, body: &[u8]) -> Result<Told, WriteError> {
        let (points, outcome, written) =
            resolve_write(&self.engine, &self.families, version, body, NOW)?;
        self.engine.write(points).unwrap();
        let told = serde_json::to_value(&outcome).unwrap();
        let errors = told["errors"].as_array().into_iter().flatten();
        let error = |error: &Value| {
            (error["index"].as_u64().unwrap(), error["code"].as_str().unwrap().to_owned())
        };
        Ok(Told {
            accepted: outcome.accepted(),
            rejected: outcome.rejected(),
            errors: errors.map(error).collect(),
            written,
        })
    }

    /// Writes series of version 1.
    #[track_caller]
    pub(super) fn v1(&self, series: &[TimeSeries]) -> Told {
        let request = WriteRequest { timeseries: series.to_vec(), metadata: Vec::new() };
        self.write(Version::V1, &request.encode_to_vec())
    }

    #[track_caller]
    pub(super) fn v2(&self, request: &RequestV2) -> Told {
        self.write(Version::V2, &request.encode_to_vec())
    }

    /// The type of a metric that there is.
    pub(super) fn kind(&self, metric: &str) -> Option<MetricType> {
        self.engine.metric_type(metric)
    }

    /// What an aggregation says of the series with these tags, by the minutes since [`T0`] that hold anything.
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
        let groups = self.ask(metric, aggregation, tags.iter().map(filter).collect(), vec![]);
        groups.first().map(minutes_of).unwrap_or_default()
    }

    /// The points of a gauge or the increases of a counter, of the one series that has these tags and no others.
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
        let groups = self.ask(metric, aggregation, vec![], keys);
        groups.iter().find(|group| group.key == wanted).map(minutes_of).unwrap_or_default()
    }

    #[track_caller]
    fn ask(
        &self,
        metric: &str,
        aggregation: Aggregation,
        filters: Vec<TagFilter>,
        group_by: Vec<String>,
    ) -> Vec<Group> {
        let answer = self.engine.query(&MetricQuery {
            metric: MetricName::new(metric).unwrap(),
            range: TimeRange::new(T0 - 1_000 * MINUTE, NOW.0 + 1_441 * MINUTE),
            interval: Interval::MINUTE,
            aggregations: vec![aggregation],
            filters,
            group_by,
        });
        answer.unwrap().groups
    }

    /// The points of a gauge.
    #[track_caller]
    pub(super) fn gauge(&self, metric: &str, tags: &[(&str, &str)]) -> Vec<(i64, f64)> {
        self.minutes(metric, Aggregation::Last, tags)
    }

    /// The increases of a counter.
    #[track_caller]
    pub(super) fn counter(&self, metric: &str, tags: &[(&str, &str)]) -> Vec<(i64, f64)> {
        self.minutes(metric, Aggregation::Sum, tags)
    }
}

fn minutes_of(group: &Group) -> Vec<(i64, f64)> {
    let starts = group.starts.iter().map(|start| (start.0 - T0) / MINUTE);
    starts.zip(group.columns[0].iter().copied()).collect()
}

impl Told {
    /// Everything was taken: so many samples and histograms.
    #[track_caller]
    pub(super) fn all(&self, samples: u64, histograms: u64) {
        let written = Written { samples, histograms };
        assert_eq!((self.rejected, self.written), (0, written), "{self:?}");
        assert_eq!(self.accepted as u64, samples + histograms);
    }

    /// So many were taken, and these refused.
    #[track_caller]
    pub(super) fn partly(&self, accepted: usize, errors: &[(u64, &str)]) {
        let told: Vec<(u64, &str)> =
            self.errors.iter().map(|(index, code)| (*index, code.as_str())).collect();
        assert_eq!((self.accepted, told.as_slice()), (accepted, errors), "{self:?}");
    }
}
