//! Runs the same queries on the engine and the model, and compares the results.

use std::collections::{BTreeMap, BTreeSet};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use telltale_engine::{
    Aggregation, Engine, Error, EventFilter, EventListQuery, Interval, MetricName, MetricQuery,
    MetricType, NameFilter, QueryResult, Refusal, TimeRange, TimestampMs,
};
use telltale_simulation::{Disk, Outcome, Random, fail};

use super::event_list;
use super::event_queries::{QueryCase, query_cases};
use super::expected::Bucket;
use super::model::{Fate, Metric, Model, Stored};
use super::samples::tag_of;
use super::{DAY, HOUR, MINUTE};

/// Events per page when all are listed.
const PAGE_EVENTS: usize = 5_000;
/// A metric with more values than this is not queried at every interval.
const VALUES_MAX: usize = 50_000;
/// The engine must accept queries with at most this many cells.
const CELLS_MIN: usize = 1 << 22;
const INTERVALS: [i64; 6] = [MINUTE, 5 * MINUTE, HOUR, DAY, 7 * MINUTE, 90_000];

/// What is known about failures of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Whole,
    /// Calls have failed since it was opened: queries may fail.
    Troubled,
    /// A file has decayed: missing data must be reported.
    Decayed,
}

/// The engine and the model, with what may go wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checker<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) model: &'a Model,
    pub(crate) health: Health,
    /// The disk, and its number of strikes when the engine was opened.
    pub(crate) disk: &'a Disk,
    pub(crate) struck_before: u64,
}

#[derive(Clone, Debug)]
struct QueryShape {
    range: TimeRange,
    interval: i64,
    group: Option<&'static str>,
}

impl Checker<'_> {
    /// Compares every aggregation of every metric at every interval, and all events.
    pub(crate) fn all(&self) -> Outcome {
        for (name, metric) in &self.model.metrics {
            self.check_metric(name, metric)?;
        }
        self.list_all_events()
    }

    /// Compares the results of one query.
    pub(crate) fn query(&self, seed: u64, now: i64) -> Outcome {
        let mut random = Random::new(seed);
        if random.percent(40) {
            return self.query_events(seed, now);
        }
        let names: Vec<&String> = self.model.metrics.keys().collect();
        if names.is_empty() {
            return Ok(());
        }
        let name = *random.pick(&names);
        let metric = &self.model.metrics[name];
        let end = now - random.range(-DAY..2 * DAY);
        let length = match random.below(3) {
            0 => random.range(1..30 * MINUTE),
            1 => random.range(1..3 * DAY),
            _ => 5 * DAY,
        };
        let mut range = TimeRange::new(end - length, end);
        let clear = self.model.coarse_before.max(self.model.gone_before);
        range.start = range.start.max(first_after(clear));
        if !metric.kind.keeps_points() {
            range = range.widen_to(Interval::MINUTE);
        }
        if range.is_empty() {
            return Ok(());
        }
        let group = *random.pick(&[None, Some("host"), Some("zone")]);
        self.compare(name, metric, &QueryShape { range, interval: *random.pick(&INTERVALS), group })
    }

    fn check_metric(&self, name: &str, metric: &Metric) -> Outcome {
        let days: BTreeSet<i64> =
            metric.stored.iter().map(|stored| stored.time.div_euclid(DAY)).collect();
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(()) };
        let values = metric.stored.iter().map(|stored| stored.values.len().max(1));
        let large = values.sum::<usize>() > VALUES_MAX;
        for day in &days {
            let range = TimeRange::new(day * DAY, (day + 1) * DAY);
            let coarse = range.end.0 <= self.model.coarse_before;
            if self.is_uncertain(metric, range.start.0) {
                continue;
            }
            let intervals = match (coarse, large) {
                (true, _) => &[DAY][..],
                (false, true) => &[HOUR, DAY][..],
                (false, false) => &INTERVALS[..],
            };
            let groups = if large { &[None][..] } else { &[None, Some("host")][..] };
            for interval in intervals {
                for group in groups.iter().copied() {
                    let interval = *interval;
                    self.compare(name, metric, &QueryShape { range, interval, group })?;
                }
            }
        }
        // There are no values outside of the range.
        let range = TimeRange::new((first - 2) * DAY, (last + 3) * DAY);
        self.compare(name, metric, &QueryShape { range, interval: DAY, group: None })
    }

    /// Returns whether the contents of a bucket are uncertain.
    fn is_uncertain(&self, metric: &Metric, start: i64) -> bool {
        let day = start.div_euclid(DAY);
        (day + 1) * DAY <= self.model.gone_before || metric.ambiguous.contains(&day)
    }

    fn compare(&self, name: &str, metric: &Metric, shape: &QueryShape) -> Outcome {
        let kind = metric.kind;
        let aggregations = Aggregation::of(kind).to_vec();
        let query = MetricQuery {
            metric: MetricName::new(name).unwrap(),
            range: shape.range,
            interval: Interval::from_ms(shape.interval).unwrap(),
            aggregations: aggregations.clone(),
            filters: vec![],
            group_by: shape.group.iter().map(|key| (*key).to_owned()).collect(),
        };
        let wanted = wanted(name, metric, shape);
        let answer = match self.engine.query(&query) {
            Ok(answer) => answer,
            Err(Error::Refused(Refusal::MetricNotFound(_))) if wanted.is_empty() => return Ok(()),
            Err(Error::Refused(Refusal::Range(_))) if cells_of(metric, shape) > CELLS_MIN => {
                return Ok(());
            }
            Err(error) => return self.query_failed("a query fails", format!("{error}: {query:?}")),
        };
        if answer.kind != kind {
            return fail("a metric has another type", format!("{:?}: {query:?}", answer.kind));
        }
        if self.health() == Health::Whole && answer.stats.quarantined > 0 {
            return fail("a block is damaged", format!("{:?}", self.engine.damage()));
        }
        match self.difference(metric, shape, &wanted, &answer) {
            Some(_) if answer.stats.quarantined > 0 && self.health() != Health::Whole => Ok(()),
            Some(difference) => {
                let kind = wrong_result(kind);
                self.data_missing(kind, format!("{difference}\n  {query:?}"))
            }
            None => Ok(()),
        }
    }

    /// Returns the first difference between the expected and the actual result.
    fn difference(
        &self,
        metric: &Metric,
        shape: &QueryShape,
        wanted: &BTreeMap<(String, i64), Vec<&Stored>>,
        answer: &QueryResult,
    ) -> Option<String> {
        let kind = metric.kind;
        let aggregations = Aggregation::of(kind);
        let mut seen = BTreeSet::new();
        for group in &answer.groups {
            for (i, start) in group.starts.iter().enumerate() {
                if self.is_uncertain(metric, start.0) {
                    continue;
                }
                let at = (group.key.join(","), start.0);
                let Some(stored) = wanted.get(&at) else {
                    return Some(format!("{at:?} is not empty: {:?}", group.columns));
                };
                let whole = TimeRange::new(start.0, start.0 + shape.interval);
                let seconds = whole.intersect(shape.range).len_ms() as f64 / 1000.0;
                let bucket = Bucket::new(stored);
                for (column, aggregation) in group.columns.iter().zip(aggregations) {
                    let expected = bucket.expected(kind, *aggregation, seconds);
                    if !expected.accepts(column[i]) {
                        let wanted = &expected.any_of;
                        return Some(format!(
                            "{aggregation:?} at {at:?} is {} instead of {wanted:?} of writes {:?}",
                            column[i],
                            self.writes(stored)
                        ));
                    }
                }
                seen.insert(at);
            }
        }
        let certain = wanted.keys().filter(|(_, start)| !self.is_uncertain(metric, *start));
        let lost: Vec<_> = certain.filter(|at| !seen.contains(*at)).collect();
        let first = lost.first()?;
        let (lost, all, writes) = (lost.len(), wanted.len(), self.writes(&wanted[first]));
        Some(format!("{lost} of {all} buckets are empty, first {first:?} of writes {writes:?}"))
    }

    /// Returns the writes that stored these values, with their fate.
    fn writes(&self, stored: &[&Stored]) -> BTreeSet<(u64, Fate)> {
        let ids: BTreeSet<u64> = stored.iter().map(|stored| stored.write).collect();
        let writes = self.model.writes().filter(|write| ids.contains(&write.id));
        writes.map(|write| (write.id, write.fate)).collect()
    }

    /// Returns the current health: a fault may have struck since the query.
    fn health(&self) -> Health {
        let struck = self.disk.is_stopped() || self.disk.faults_struck() > self.struck_before;
        if struck && self.health == Health::Whole { Health::Troubled } else { self.health }
    }

    /// Handles a query that failed.
    fn query_failed(&self, kind: &'static str, details: String) -> Outcome {
        match self.health() {
            Health::Troubled => Ok(()),
            _ => self.data_missing(kind, details),
        }
    }

    /// Handles a result that lacks stored data without an error.
    fn data_missing(&self, kind: &'static str, details: String) -> Outcome {
        match self.health() {
            Health::Whole | Health::Troubled => {
                fail(kind, format!("{details}\n  damage: {:?}", self.engine.damage()))
            }
            Health::Decayed if self.engine.damage().is_empty() => {
                fail("data lost to decay is not reported", format!("{kind}: {details}"))
            }
            Health::Decayed => Ok(()),
        }
    }

    fn query_events(&self, seed: u64, now: i64) -> Outcome {
        let mut case = event_query(seed).at(now);
        let first = first_after(self.model.events_gone_before);
        match &mut case {
            QueryCase::Page { query, .. } | QueryCase::Walk { query, .. } => {
                query.filter.range.start = query.filter.range.start.max(first);
                let (total, events) = event_list::page(&self.model.events, query);
                match self.engine.list_events(query) {
                    Ok(page) if (page.total, &page.events) == (total, &events) => Ok(()),
                    Ok(page) => self.data_missing(
                        "a page of events differs",
                        format!("{} instead of {total}: {query:?}", page.total),
                    ),
                    Err(error) => self.query_failed("a query fails", format!("{error}: {query:?}")),
                }
            }
            QueryCase::Aggregate { query, .. } => {
                query.filter.range.start = query.filter.range.start.max(first);
                let (all, groups) = event_list::answer(&self.model.events, query);
                match self.engine.query_events(query) {
                    Ok(answer) if (&answer.all, &answer.groups) == (&all, &groups) => Ok(()),
                    Ok(answer) => self.data_missing(
                        "an event query returns a wrong result",
                        format!("{:?} instead of {all:?}\n  {query:?}", answer.all),
                    ),
                    Err(error) => self.query_failed("a query fails", format!("{error}: {query:?}")),
                }
            }
        }
    }

    fn list_all_events(&self) -> Outcome {
        let first = first_after(self.model.events_gone_before);
        let range = TimeRange::new(first.0, i64::MAX);
        let filter = EventFilter { range, name: NameFilter::Any, user: None, tags: vec![] };
        let mut query = EventListQuery { filter, after: None, offset: 0, limit: PAGE_EVENTS };
        let whole = EventListQuery { limit: usize::MAX, ..query.clone() };
        let (_, expected) = event_list::page(&self.model.events, &whole);
        let mut listed = Vec::new();
        loop {
            let page = match self.engine.list_events(&query) {
                Ok(page) => page,
                Err(error) => {
                    return self.query_failed("events cannot be listed", error.to_string());
                }
            };
            let Some(last) = page.events.last() else { break };
            query.after = Some((last.time, last.id));
            listed.extend(page.events);
            if listed.len() > expected.len() {
                break;
            }
        }
        let extra = listed.iter().find(|event| !expected.contains(event));
        if let Some(extra) = extra {
            return fail("an event is listed that was not written", format!("{extra:?}"));
        }
        if listed.len() > expected.len() {
            return fail("an event is listed twice", listed.len());
        }
        if listed != expected {
            let details = format!("{} of {} events", listed.len(), expected.len());
            return self.data_missing("events are lost", details);
        }
        Ok(())
    }
}

fn wrong_result(kind: MetricType) -> &'static str {
    match kind {
        MetricType::Gauge => "a gauge query returns a wrong result",
        MetricType::Counter => "a counter query returns a wrong result",
        MetricType::Distribution => "a distribution query returns a wrong result",
        MetricType::Set => "a set query returns a wrong result",
    }
}

/// Returns the stored values of each bucket.
fn wanted<'m>(
    name: &str,
    metric: &'m Metric,
    shape: &QueryShape,
) -> BTreeMap<(String, i64), Vec<&'m Stored>> {
    let mut wanted: BTreeMap<(String, i64), Vec<&Stored>> = BTreeMap::new();
    for stored in &metric.stored {
        // Distributions and sets are stored in cells of one minute.
        let width = if metric.kind.keeps_points() { 1 } else { MINUTE };
        let time = stored.time - stored.time.rem_euclid(width);
        if shape.range.contains(TimestampMs(time)) {
            let group = shape.group.map(|key| tag_of(name, stored.series, key));
            let start = time - time.rem_euclid(shape.interval);
            wanted.entry((group.unwrap_or_default(), start)).or_default().push(stored);
        }
    }
    wanted
}

/// Returns the number of cells of a result, including empty ones.
fn cells_of(metric: &Metric, shape: &QueryShape) -> usize {
    let series: BTreeSet<u32> = metric.stored.iter().map(|stored| stored.series).collect();
    let groups = if shape.group.is_some() { series.len() } else { 1 };
    let length = shape.range.end.0.saturating_sub(shape.range.start.0);
    groups * usize::try_from(length / shape.interval).unwrap_or_default()
}

/// Returns the start of the first day that ends after `boundary`.
fn first_after(boundary: i64) -> TimestampMs {
    TimestampMs(boundary.max(0) / DAY * DAY)
}

/// Returns an event query derived from a seed.
pub(crate) fn event_query(seed: u64) -> QueryCase {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    query_cases().new_tree(&mut runner).unwrap().current()
}
