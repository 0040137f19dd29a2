//! Metrics: the cost of many metrics, series, tags, values, blocks, days and seals in the engine.

use std::path::Path;

use telltale_benches::data::{DAY, START};
use telltale_engine::{
    Aggregation, BatchBuilder, DefinitionFilter, Engine, Interval, MetricName, MetricQuery,
    MetricType, TagCondition, TagFilter, TimeRange, TimestampMs,
};

use crate::case::{Case, Limit, Operation};
use crate::open_engine::{DAYS_MAX, NOW, OpenEngine};

/// Samples of one batch.
const BATCH: usize = 10_000;
/// Samples of the batch for the second seal.
const FEW: usize = 1_000;
/// Metrics of the samples in many blocks.
const METRICS_OF_BLOCKS: usize = 1_000;
/// Maximum number of queried metrics: each needs a query.
const ASKED_MAX: usize = 10_000;
/// Threads that delete metrics: concurrent deletions share a sync of the log.
const DELETERS: usize = 64;

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growing {
    /// Metrics with one sample.
    Metrics,
    /// Series of one metric, whose tags have few values each.
    Series,
    /// Tag keys of one metric, each of one series.
    TagKeys,
    /// Values of one tag, each of one series.
    TagValues,
    /// Samples of one series of a gauge.
    Points,
    /// Distinct values of one minute of a distribution.
    Values,
    /// Distinct members of one minute of a set.
    Members,
    /// Blocks: a thousand metrics over this many days.
    Blocks,
    /// Days of one series.
    Days,
    /// Seals of one series.
    Seals,
}

/// One sample.
struct Point {
    metric: String,
    tags: Vec<(&'static str, String)>,
    /// A tag with one of many keys.
    own_tag: Option<String>,
    time: i64,
}

impl Point {
    fn of(metric: String, time: i64) -> Self {
        Self { metric, tags: Vec::new(), own_tag: None, time }
    }
}

impl Growing {
    pub(crate) const ALL: [Self; 10] = [
        Self::Metrics,
        Self::Series,
        Self::TagKeys,
        Self::TagValues,
        Self::Points,
        Self::Values,
        Self::Members,
        Self::Blocks,
        Self::Days,
        Self::Seals,
    ];

    fn kind(self) -> MetricType {
        match self {
            Self::Values => MetricType::Distribution,
            Self::Members => MetricType::Set,
            _ => MetricType::Gauge,
        }
    }

    /// Returns the sample with this number.
    fn point(self, n: usize) -> Point {
        let one = || "cpu".to_owned();
        let part = |divisor: usize| format!("v{}", n / divisor % 100);
        match self {
            Self::Metrics => Point::of(format!("metric_{n}"), START),
            Self::Series => {
                let tags = vec![("a", part(1)), ("b", part(100)), ("c", part(10_000))];
                Point { tags, ..Point::of(one(), START) }
            }
            Self::TagKeys => Point { own_tag: Some(format!("key_{n}")), ..Point::of(one(), START) },
            Self::TagValues => {
                Point { tags: vec![("host", format!("host-{n}"))], ..Point::of(one(), START) }
            }
            // All on one day, up to the maximum.
            Self::Points => Point::of(one(), START + (n as i64 * 80) % DAY),
            Self::Values | Self::Members => Point::of(one(), START),
            Self::Blocks => {
                let (metric, day) = (n % METRICS_OF_BLOCKS, n / METRICS_OF_BLOCKS);
                Point::of(format!("metric_{metric}"), START - day as i64 * DAY)
            }
            Self::Days => Point::of(one(), START - n as i64 * DAY),
            Self::Seals => Point::of(one(), START + n as i64 * 60_000),
        }
    }

    /// Returns the number of metrics.
    fn metrics(self, size: usize) -> usize {
        match self {
            Self::Metrics => size,
            Self::Blocks => size.min(METRICS_OF_BLOCKS),
            _ => 1,
        }
    }

    fn write(self, engine: &Engine, numbers: std::ops::Range<usize>) {
        let mut batch = engine.batch();
        numbers.for_each(|n| self.push(&mut batch, n));
        engine.write(batch.finish()).unwrap();
    }

    fn push(self, batch: &mut BatchBuilder<'_>, n: usize) {
        let (kind, point) = (self.kind(), self.point(n));
        let mut tags: Vec<(&str, &str)> =
            point.tags.iter().map(|(key, value)| (*key, value.as_str())).collect();
        tags.extend(point.own_tag.as_deref().map(|key| (key, "x")));
        let series = batch.series(&point.metric, kind, &tags).unwrap();
        let time = TimestampMs(point.time);
        match self {
            Self::Members => batch.member(series, time, &format!("member-{n}")),
            _ => batch.number(kind, series, time, n as f64 * 1.25),
        }
    }

    fn ingest(self, engine: &Engine, size: usize) {
        if self == Self::Seals {
            for n in 0..size {
                self.write(engine, n..n + 1);
                engine.seal().unwrap();
            }
            return;
        }
        for first in (0..size).step_by(BATCH) {
            self.write(engine, first..size.min(first + BATCH));
        }
    }

    fn query(self, engine: &Engine, size: usize) {
        let aggregation = match self.kind() {
            MetricType::Distribution => Aggregation::P99,
            MetricType::Set => Aggregation::Count,
            MetricType::Gauge | MetricType::Counter => Aggregation::Avg,
        };
        let one_tag = |key: &str, condition| vec![TagFilter { key: key.to_owned(), condition }];
        let filters = match self {
            Self::TagKeys => one_tag("key_0", TagCondition::AnyOf(vec!["x".to_owned()].into())),
            Self::TagValues => one_tag("host", TagCondition::Prefix("host-1".to_owned())),
            _ => Vec::new(),
        };
        for n in 0..self.metrics(size).min(ASKED_MAX) {
            let query = MetricQuery {
                metric: MetricName::new(&self.point(n).metric).unwrap(),
                range: TimeRange::new(START - DAYS_MAX as i64 * DAY, NOW.0),
                interval: Interval::DAY,
                aggregations: vec![aggregation],
                filters: filters.clone(),
                group_by: if self == Self::Series { vec!["a".to_owned()] } else { Vec::new() },
            };
            assert!(!engine.query(&query).unwrap().groups.is_empty(), "{query:?}");
        }
    }

    /// Lists metrics, tag keys and values.
    fn list(engine: &Engine) {
        let page = engine.metrics(&DefinitionFilter { limit: 100, ..DefinitionFilter::default() });
        for metric in page.definitions {
            let name = metric.name.as_str();
            for (key, _) in engine.tag_keys(name).unwrap().into_iter().take(3) {
                engine.tag_values(name, &key).unwrap();
            }
        }
    }

    fn delete(self, engine: &Engine, size: usize) {
        let metrics = self.metrics(size);
        std::thread::scope(|scope| {
            for first in 0..DELETERS.min(metrics) {
                scope.spawn(move || {
                    for n in (first..metrics).step_by(DELETERS) {
                        engine.delete_metric(&self.point(n).metric).unwrap();
                    }
                });
            }
        });
        engine.seal().unwrap();
        assert_eq!(engine.stats().blocks, 0);
    }
}

impl Case for Growing {
    type Open = OpenEngine;

    fn dimension(&self) -> &'static str {
        match self {
            Self::Metrics => "metrics",
            Self::Series => "series",
            Self::TagKeys => "tag-keys",
            Self::TagValues => "tag-values",
            Self::Points => "points",
            Self::Values => "values",
            Self::Members => "members",
            Self::Blocks => "blocks",
            Self::Days => "days",
            Self::Seals => "seals",
        }
    }

    fn limit(&self) -> Option<Limit> {
        match self {
            Self::Series => {
                Some(Limit { size: 1_000_000, reason: "so many series have three tags" })
            }
            Self::Points => Some(Limit { size: 1_000_000, reason: "so many points lie in a day" }),
            Self::Days => Some(Limit { size: DAYS_MAX, reason: "data is not older than decades" }),
            Self::Seals => Some(Limit { size: 1_000, reason: "each seal syncs the disk" }),
            _ => None,
        }
    }

    fn open(&self, dir: &Path) -> OpenEngine {
        OpenEngine::new(dir)
    }

    fn operations(&self) -> Vec<Operation<Self>> {
        vec![
            Operation::<Self>::new("ingest", |case, open, size| case.ingest(open.engine(), size)),
            Operation::<Self>::new("seal", |_, open, _| open.seal()),
            Operation::<Self>::new("seal of a few", |case, open, size| {
                case.write(open.engine(), 0..size.min(FEW));
                open.seal();
            }),
            Operation::<Self>::new("merge", |_, open, _| open.merge()),
            Operation::<Self>::new("query", |case, open, size| case.query(open.engine(), size)),
            Operation::<Self>::new("list", |_, open, _| Self::list(open.engine())),
            Operation::<Self>::new("close", |_, open, _| open.close()),
            Operation::<Self>::new("start", |_, open, _| open.start()),
            Operation::<Self>::new("verify", |_, open, _| open.verify()),
            Operation::<Self>::new("delete", |case, open, size| case.delete(open.engine(), size)),
        ]
    }
}
