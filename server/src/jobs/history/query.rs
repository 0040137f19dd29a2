//! Queries of the history, each one or two queries of the engine.

use std::collections::HashMap;

use telltale_engine::{
    Aggregation, Engine, Error, Group, Interval, MetricName, MetricQuery, Refusal, Result,
    TagCondition, TagFilter, TimeRange, TimestampMs,
};

use super::metrics::{self, WorkerGauges};
use crate::jobs::model::{QueueOwner, QueueView, WorkerPage};
use crate::jobs::names::is_own;
use crate::limits;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// A period that ends now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week.
    Week,
    /// Thirty days.
    Month,
}

/// The bucket width of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A minute.
    Minute,
    /// Five minutes.
    FiveMinutes,
    /// An hour.
    Hour,
}

/// A queue in one bucket of its history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueBucket {
    /// The start of the bucket.
    pub start: TimestampMs,
    /// Ready jobs at its end; `None` if it was not sampled.
    pub size: Option<f64>,
    /// Waiting time of the oldest ready job at its end, in seconds; `None` if it was not sampled.
    pub latency_seconds: Option<f64>,
    /// Attempts that ended.
    pub throughput: u64,
    /// Attempts that failed.
    pub failures: u64,
}

/// Numbers of attempts that ended recently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueThroughput {
    /// In the last minute.
    pub per_minute: u64,
    /// In the last hour.
    pub per_hour: u64,
}

impl QueueBucket {
    /// Fills in the current state of the queue if the current bucket was not sampled yet.
    pub fn fill_current(&mut self, queue: &QueueView) {
        let latency_seconds = queue.latency_ms as f64 / 1_000.0;
        self.size = self.size.or(Some(queue.ready as f64));
        self.latency_seconds = self.latency_seconds.or(Some(latency_seconds));
    }
}

impl WorkerBucket {
    /// Fills in the current state of the workers if the current bucket was not sampled yet.
    pub fn fill_current(&mut self, workers: &WorkerPage) {
        let utilization = share(workers.busy_threads as f64, workers.threads as f64);
        self.workers = self.workers.or(Some(workers.total as f64));
        self.utilization = self.utilization.or(Some(utilization));
    }
}

/// A queue since midnight UTC.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueToday {
    /// Attempts that ended.
    pub processed: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Mean duration of successful attempts, in milliseconds.
    pub avg_duration_ms: f64,
    /// The classes with the most ended attempts.
    pub top_classes: Vec<(String, u64)>,
}

/// Statistics of workers over a period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkerTotals {
    /// Mean number of workers.
    pub avg_workers: f64,
    /// Maximum number of workers.
    pub max_workers: f64,
    /// Minimum number of workers.
    pub min_workers: f64,
    /// Share of busy threads, from 0 to 1.
    pub avg_utilization: f64,
    /// Attempts that ended.
    pub processed: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Mean memory of a worker, in megabytes.
    pub avg_memory_mb: f64,
    /// Memory of the largest worker, in megabytes.
    pub max_memory_mb: f64,
}

/// Workers in one bucket of a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkerBucket {
    /// The start of the bucket.
    pub start: TimestampMs,
    /// Mean number of workers; `None` if they were not sampled.
    pub workers: Option<f64>,
    /// Share of busy threads; `None` if they were not sampled.
    pub utilization: Option<f64>,
    /// Attempts that ended.
    pub throughput: u64,
}

/// The workers of a period.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkersPast {
    /// Statistics of the whole period.
    pub totals: WorkerTotals,
    /// The buckets of the period.
    pub timeline: Vec<WorkerBucket>,
}

/// Counts by name, the highest first.
pub type DeathCounts = Vec<(String, u64)>;

/// Deaths of jobs over a period.
#[derive(Clone, Debug, PartialEq)]
pub struct Deaths {
    /// The number of jobs that died.
    pub total: u64,
    /// By class.
    pub by_class: DeathCounts,
    /// By error class.
    pub by_error: DeathCounts,
    /// By day, identified by its first instant in UTC, days without deaths included.
    pub days: Vec<(TimestampMs, u64)>,
}

/// The history up to `now`.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    pub(in crate::jobs) engine: &'a Engine,
    pub(in crate::jobs) now: TimestampMs,
}

/// One number per bucket of a range.
type Buckets = HashMap<TimestampMs, f64>;

impl Period {
    /// Returns the name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    fn ms(self) -> i64 {
        match self {
            Self::Hour => HOUR_MS,
            Self::Day => DAY_MS,
            Self::Week => 7 * DAY_MS,
            Self::Month => 30 * DAY_MS,
        }
    }

    /// Returns the default resolution.
    pub fn resolution(self) -> Resolution {
        match self {
            Self::Hour => Resolution::Minute,
            Self::Day => Resolution::FiveMinutes,
            Self::Week | Self::Month => Resolution::Hour,
        }
    }
}

impl Resolution {
    /// Returns the name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::FiveMinutes => "5min",
            Self::Hour => "hour",
        }
    }

    fn interval(self) -> Interval {
        match self {
            Self::Minute => Interval::MINUTE,
            Self::FiveMinutes => Interval::FIVE_MINUTES,
            Self::Hour => Interval::HOUR,
        }
    }
}

impl History<'_> {
    /// Returns every bucket of a queue's history.
    pub fn queue(
        &self,
        queue: &str,
        period: Period,
        resolution: Resolution,
    ) -> Result<Vec<QueueBucket>> {
        let width = resolution.interval();
        let range = self.back(period, width);
        let read = |metric, aggregation| {
            self.buckets(metric, SeriesOf::Queue(queue), range, width, aggregation)
        };
        let (size, latency) =
            (read(metrics::SIZE, Aggregation::Last)?, read(metrics::LATENCY, Aggregation::Last)?);
        let (ended, failed) =
            (read(metrics::PROCESSED, Aggregation::Sum)?, read(metrics::FAILED, Aggregation::Sum)?);
        // Workers are sampled each time, so a bucket with workers and without the queue means that
        // it was empty or did not exist.
        let workers = WorkerGauges::of(QueueOwner::Users).workers;
        let samples = self.buckets(workers, SeriesOf::All, range, width, Aggregation::Last)?;
        let sampled = |values: &Buckets, start: TimestampMs| {
            values.get(&start).copied().or_else(|| samples.contains_key(&start).then_some(0.0))
        };
        let moment = |start: TimestampMs| QueueBucket {
            start,
            size: sampled(&size, start),
            latency_seconds: sampled(&latency, start),
            throughput: whole(ended.get(&start)),
            failures: whole(failed.get(&start)),
        };
        Ok(starts(range, width).map(moment).collect())
    }

    /// Returns what happened in a queue since midnight UTC.
    pub fn today(&self, queue: &str) -> Result<QueueToday> {
        let range = self.until_now(self.now.floor_to(Interval::DAY));
        let processed =
            self.counts(metrics::PROCESSED, SeriesOf::Queue(queue), range, metrics::CLASS)?;
        let failed = self.counts(metrics::FAILED, SeriesOf::Queue(queue), range, metrics::QUEUE)?;
        let duration = self
            .total(metrics::DURATION, SeriesOf::Queue(queue), range, Aggregation::Avg)?
            .unwrap_or(0.0);
        Ok(QueueToday {
            processed: processed.iter().map(|(_, count)| count).sum(),
            failed: failed.iter().map(|(_, count)| count).sum(),
            avg_duration_ms: duration,
            top_classes: processed.into_iter().take(limits::TOP_CLASSES_MAX).collect(),
        })
    }

    /// Returns the recent throughput by queue.
    pub fn throughput(&self) -> Result<HashMap<String, QueueThroughput>> {
        let mut queues: HashMap<String, QueueThroughput> = HashMap::new();
        let last = |ms| self.until_now(TimestampMs(self.now.0 - ms));
        for (queue, count) in
            self.counts(metrics::PROCESSED, SeriesOf::All, last(HOUR_MS), metrics::QUEUE)?
        {
            queues.entry(queue).or_default().per_hour = count;
        }
        for (queue, count) in
            self.counts(metrics::PROCESSED, SeriesOf::All, last(MINUTE_MS), metrics::QUEUE)?
        {
            queues.entry(queue).or_default().per_minute = count;
        }
        Ok(queues)
    }

    /// Returns the history of the workers.
    pub fn workers(&self, period: Period, whose: QueueOwner) -> Result<WorkersPast> {
        let width = match period {
            Period::Hour => Interval::MINUTE,
            Period::Day => Interval::FIVE_MINUTES,
            Period::Week | Period::Month => Interval::HOUR,
        };
        let range = self.back(period, width);
        let names = WorkerGauges::of(whose);
        let avg = |metric| self.buckets(metric, SeriesOf::All, range, width, Aggregation::Avg);
        let (workers, threads, busy) = (avg(names.workers)?, avg(names.threads)?, avg(names.busy)?);
        let of = SeriesOf::QueueOwner(whose);
        let ended = self.buckets(metrics::PROCESSED, of, range, width, Aggregation::Sum)?;
        let moment = |start: TimestampMs| WorkerBucket {
            start,
            workers: workers.get(&start).copied(),
            utilization: threads.get(&start).map(|all| {
                // Written together with the threads.
                let busy = busy.get(&start).copied().unwrap_or(0.0);
                share(busy, *all)
            }),
            throughput: whole(ended.get(&start)),
        };
        let timeline = starts(range, width).map(moment).collect();
        Ok(WorkersPast { totals: self.worker_totals(range, whose)?, timeline })
    }

    fn worker_totals(&self, range: TimeRange, whose: QueueOwner) -> Result<WorkerTotals> {
        let names = WorkerGauges::of(whose);
        let total = |metric, of, aggregation| -> Result<f64> {
            Ok(self.total(metric, of, range, aggregation)?.unwrap_or(0.0))
        };
        let gauge = |metric, aggregation| total(metric, SeriesOf::All, aggregation);
        let count = |metric| -> Result<u64> {
            Ok(whole(Some(&total(metric, SeriesOf::QueueOwner(whose), Aggregation::Sum)?)))
        };
        let (threads, busy) =
            (gauge(names.threads, Aggregation::Avg)?, gauge(names.busy, Aggregation::Avg)?);
        Ok(WorkerTotals {
            avg_workers: gauge(names.workers, Aggregation::Avg)?,
            max_workers: gauge(names.workers, Aggregation::Max)?,
            min_workers: gauge(names.workers, Aggregation::Min)?,
            avg_utilization: share(busy, threads),
            processed: count(metrics::PROCESSED)?,
            failed: count(metrics::FAILED)?,
            avg_memory_mb: gauge(names.memory, Aggregation::Avg)?,
            max_memory_mb: gauge(names.memory_max, Aggregation::Max)?,
        })
    }

    /// Returns the deaths in a period of whole days that ends today.
    pub fn deaths(&self, period: Period, whose: QueueOwner) -> Result<Deaths> {
        let of = SeriesOf::QueueOwner(whose);
        let range = self.back(period, Interval::DAY);
        let days = self.buckets(metrics::DIED, of, range, Interval::DAY, Aggregation::Sum)?;
        let by_class = self.counts(metrics::DIED, of, range, metrics::CLASS)?;
        Ok(Deaths {
            total: by_class.iter().map(|(_, count)| count).sum(),
            by_class,
            by_error: self.counts(metrics::DIED, of, range, metrics::ERROR_CLASS)?,
            days: starts(range, Interval::DAY).map(|day| (day, whole(days.get(&day)))).collect(),
        })
    }

    /// Returns the classes of which attempts ended in the last week, in queues of clients.
    pub fn classes(&self) -> Result<Vec<String>> {
        let of = SeriesOf::QueueOwner(QueueOwner::Users);
        let range = self.back(Period::Week, Interval::HOUR);
        let counts = self.counts(metrics::PROCESSED, of, range, metrics::CLASS)?;
        Ok(counts.into_iter().map(|(class, _)| class).collect())
    }

    /// Returns a range of whole buckets, the last one containing now.
    fn back(&self, period: Period, width: Interval) -> TimeRange {
        let last = self.now.floor_to(width);
        self.until_now(TimestampMs((last.0 + width.ms() - period.ms()).max(0)))
    }

    fn until_now(&self, start: TimestampMs) -> TimeRange {
        TimeRange { start: start.max(TimestampMs(0)), end: TimestampMs(self.now.0 + 1) }
    }

    fn buckets(
        &self,
        metric: &str,
        of: SeriesOf<'_>,
        range: TimeRange,
        width: Interval,
        aggregation: Aggregation,
    ) -> Result<Buckets> {
        let groups = self.query(metric, of, range, width, aggregation, &[])?;
        let mut buckets = Buckets::new();
        for group in groups {
            let Some(column) = group.columns.into_iter().next() else {
                unreachable!("one aggregation was queried, but {metric} has no column")
            };
            buckets.extend(group.starts.into_iter().zip(column));
        }
        Ok(buckets)
    }

    /// Returns one number for the whole range.
    fn total(
        &self,
        metric: &str,
        of: SeriesOf<'_>,
        range: TimeRange,
        aggregation: Aggregation,
    ) -> Result<Option<f64>> {
        Ok(self.buckets(metric, of, range, Interval::WHOLE, aggregation)?.into_values().next())
    }

    /// Returns the counts of a whole range by a tag, the highest first.
    fn counts(
        &self,
        metric: &str,
        of: SeriesOf<'_>,
        range: TimeRange,
        tag: &str,
    ) -> Result<Vec<(String, u64)>> {
        let groups = self.query(metric, of, range, Interval::WHOLE, Aggregation::Sum, &[tag])?;
        let count = |group: Group| {
            let count = whole(group.columns.first().and_then(|column| column.first()));
            match <[String; 1]>::try_from(group.key) {
                Ok([key]) => (key, count),
                Err(key) => unreachable!("grouped by one tag, but the key is {key:?}"),
            }
        };
        let mut counts: Vec<_> = groups.into_iter().map(count).collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(counts)
    }

    /// Returns the queues of the server for which a metric has series.
    fn own_queues(&self, metric: &str) -> Result<Vec<String>> {
        match self.engine.tag_values(metric, metrics::QUEUE) {
            Ok(queues) => {
                Ok(queues.into_iter().map(|(name, _)| name).filter(|q| is_own(q)).collect())
            }
            Err(Error::Refused(Refusal::MetricNotFound(_))) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Returns the groups of a metric; none if it was never written.
    fn query(
        &self,
        metric: &str,
        of: SeriesOf<'_>,
        range: TimeRange,
        interval: Interval,
        aggregation: Aggregation,
        group_by: &[&str],
    ) -> Result<Vec<Group>> {
        let condition = match of {
            SeriesOf::All | SeriesOf::QueueOwner(QueueOwner::All) => None,
            SeriesOf::Queue(queue) => Some(TagCondition::AnyOf(vec![queue.to_owned()].into())),
            SeriesOf::QueueOwner(QueueOwner::Users) => {
                let own = self.own_queues(metric)?;
                (!own.is_empty()).then_some(TagCondition::NoneOf(own.into()))
            }
        };
        let filter =
            condition.map(|condition| TagFilter { key: metrics::QUEUE.to_owned(), condition });
        let query = MetricQuery {
            metric: MetricName::new(metric).map_err(Refusal::from)?,
            range,
            interval,
            aggregations: vec![aggregation],
            filters: filter.into_iter().collect(),
            group_by: group_by.iter().map(|key| (*key).to_owned()).collect(),
        };
        match self.engine.query(&query) {
            Ok(found) => Ok(found.groups),
            // A metric of another type is a client's: if a full disk kept the start from deleting
            // it, there is no history.
            Err(Error::Refused(Refusal::MetricNotFound(_) | Refusal::Aggregation { .. })) => {
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }
}

/// Selects series of a metric.
#[derive(Clone, Copy, Debug)]
enum SeriesOf<'a> {
    /// All series.
    All,
    /// Those of one queue.
    Queue(&'a str),
    /// Those of the queues of clients, or of all.
    QueueOwner(QueueOwner),
}

/// Returns the starts of the buckets of a range, ascending.
fn starts(range: TimeRange, width: Interval) -> impl Iterator<Item = TimestampMs> {
    let (first, end) = (range.start.floor_to(width).0, range.end.0);
    (0..)
        .map(move |n| first + n * width.ms())
        .take_while(move |start| *start < end)
        .map(TimestampMs)
}

/// Converts a sum of counts to an integer.
fn whole(sum: Option<&f64>) -> u64 {
    sum.map_or(0, |sum| sum.round().max(0.0) as u64)
}

fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { (part / all).clamp(0.0, 1.0) } else { 0.0 }
}
