//! The same questions to the engine and the model.

use std::collections::{BTreeMap, BTreeSet};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use telltale_engine::{
    Aggregation, Engine, Error, EventFilter, EventListQuery, Interval, MetricName, MetricQuery,
    MetricType, NameFilter, QueryResult, Refusal, TimeRange, TimestampMs,
};
use telltale_simulation::{Disk, Outcome, Random, fail};

use super::answers::Bucket;
use super::event_list;
use super::event_questions::{Question, questions};
use super::model::{Fate, Metric, Model, Stored};
use super::samples::tag_of;
use super::{DAY, HOUR, MINUTE};

/// Events of a page when all are read.
const PAGE_EVENTS: usize = 5_000;
/// Values up to which a metric is asked for at every interval.
const VALUES_MAX: usize = 50_000;
/// Cells that every answer may have, whatever is in them.
const CELLS_MIN: usize = 1 << 22;
const INTERVALS: [i64; 6] = [MINUTE, 5 * MINUTE, HOUR, DAY, 7 * MINUTE, 90_000];

/// How well the engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Whole,
    /// Calls have failed since it was opened: it may refuse to answer.
    Troubled,
    /// A file has decayed: what is missing must be reported.
    Decayed,
}

/// Who asks, whom, and what may go wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checker<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) model: &'a Model,
    pub(crate) health: Health,
    /// The disk, and the faults that had struck when the engine was opened.
    pub(crate) disk: &'a Disk,
    pub(crate) struck_before: u64,
}

#[derive(Clone, Debug)]
struct Asked {
    range: TimeRange,
    interval: i64,
    group: Option<&'static str>,
}

impl Checker<'_> {
    /// Compares every aggregation of every metric at every interval, and all events.
    pub(crate) fn all(&self) -> Outcome {
        for (name, metric) in &self.model.metrics {
            self.metric(name, metric)?;
        }
        self.list_all_events()
    }

    /// Compares the answer to one question.
    pub(crate) fn ask(&self, seed: u64, now: i64) -> Outcome {
        let mut random = Random::new(seed);
        if random.percent(40) {
            return self.ask_events(seed, now);
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
        self.compare(name, metric, &Asked { range, interval: *random.pick(&INTERVALS), group })
    }

    fn metric(&self, name: &str, metric: &Metric) -> Outcome {
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
                    self.compare(name, metric, &Asked { range, interval, group })?;
                }
            }
        }
        // Nothing lies beside.
        let range = TimeRange::new((first - 2) * DAY, (last + 3) * DAY);
        self.compare(name, metric, &Asked { range, interval: DAY, group: None })
    }

    /// Whether nobody knows what a bucket holds.
    fn is_uncertain(&self, metric: &Metric, start: i64) -> bool {
        let day = start.div_euclid(DAY);
        (day + 1) * DAY <= self.model.gone_before || metric.ambiguous.contains(&day)
    }

    fn compare(&self, name: &str, metric: &Metric, asked: &Asked) -> Outcome {
        let kind = metric.kind;
        let aggregations = Aggregation::of(kind).to_vec();
        let query = MetricQuery {
            metric: MetricName::new(name).unwrap(),
            range: asked.range,
            interval: Interval::from_ms(asked.interval).unwrap(),
            aggregations: aggregations.clone(),
            filters: vec![],
            group_by: asked.group.iter().map(|key| (*key).to_owned()).collect(),
        };
        let wanted = wanted(name, metric, asked);
        let answer = match self.engine.query(&query) {
            Ok(answer) => answer,
            Err(Error::Refused(Refusal::MetricNotFound(_))) if wanted.is_empty() => return Ok(()),
            Err(Error::Refused(Refusal::Range(_))) if cells_of(metric, asked) > CELLS_MIN => {
                return Ok(());
            }
            Err(error) => return self.refused("a question fails", format!("{error}: {query:?}")),
        };
        if answer.kind != kind {
            return fail("a metric has another type", format!("{:?}: {query:?}", answer.kind));
        }
        if self.health() == Health::Whole && answer.stats.quarantined > 0 {
            return fail("a block is damaged", format!("{:?}", self.engine.damage()));
        }
        match self.differs(metric, asked, &wanted, &answer) {
            Some(_) if answer.stats.quarantined > 0 && self.health() != Health::Whole => Ok(()),
            Some(difference) => {
                let kind = wrong_answer(kind);
                self.missing(kind, format!("{difference}\n  {query:?}"))
            }
            None => Ok(()),
        }
    }

    /// What an answer lacks, or has too much.
    fn differs(
        &self,
        metric: &Metric,
        asked: &Asked,
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
                let whole = TimeRange::new(start.0, start.0 + asked.interval);
                let seconds = whole.intersect(asked.range).len_ms() as f64 / 1000.0;
                let bucket = Bucket::new(stored);
                for (column, aggregation) in group.columns.iter().zip(aggregations) {
                    let expected = bucket.expected(kind, *aggregation, seconds);
                    if !expected.is(column[i]) {
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

    /// The writes that stored these, and what became of them.
    fn writes(&self, stored: &[&Stored]) -> BTreeSet<(u64, Fate)> {
        let ids: BTreeSet<u64> = stored.iter().map(|stored| stored.write).collect();
        let writes = self.model.writes().filter(|write| ids.contains(&write.id));
        writes.map(|write| (write.id, write.fate)).collect()
    }

    /// How well the engine is by now: a fault may have struck since the question.
    fn health(&self) -> Health {
        let struck = self.disk.is_stopped() || self.disk.strikes() > self.struck_before;
        if struck && self.health == Health::Whole { Health::Troubled } else { self.health }
    }

    /// A question is answered with an error.
    fn refused(&self, kind: &'static str, details: String) -> Outcome {
        match self.health() {
            Health::Troubled => Ok(()),
            _ => self.missing(kind, details),
        }
    }

    /// Something that was stored is not answered, and no error either.
    fn missing(&self, kind: &'static str, details: String) -> Outcome {
        match self.health() {
            Health::Whole | Health::Troubled => {
                fail(kind, format!("{details}\n  damage: {:?}", self.engine.damage()))
            }
            Health::Decayed if self.engine.damage().is_empty() => {
                fail("what decay took is not reported", format!("{kind}: {details}"))
            }
            Health::Decayed => Ok(()),
        }
    }

    fn ask_events(&self, seed: u64, now: i64) -> Outcome {
        let mut question = event_question(seed).at(now);
        let first = first_after(self.model.events_gone_before);
        match &mut question {
            Question::Page { query, .. } | Question::Walk { query, .. } => {
                query.filter.range.start = query.filter.range.start.max(first);
                let (total, events) = event_list::page(&self.model.events, query);
                match self.engine.list_events(query) {
                    Ok(page) if (page.total, &page.events) == (total, &events) => Ok(()),
                    Ok(page) => self.missing(
                        "a page of events differs",
                        format!("{} instead of {total}: {query:?}", page.total),
                    ),
                    Err(error) => self.refused("a question fails", format!("{error}: {query:?}")),
                }
            }
            Question::Answer { query, .. } => {
                query.filter.range.start = query.filter.range.start.max(first);
                let (all, groups) = event_list::answer(&self.model.events, query);
                match self.engine.query_events(query) {
                    Ok(answer) if (&answer.all, &answer.groups) == (&all, &groups) => Ok(()),
                    Ok(answer) => self.missing(
                        "a question about events is answered wrongly",
                        format!("{:?} instead of {all:?}\n  {query:?}", answer.all),
                    ),
                    Err(error) => self.refused("a question fails", format!("{error}: {query:?}")),
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
                Err(error) => return self.refused("events cannot be listed", error.to_string()),
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
            return fail("there is an event that was not written", format!("{extra:?}"));
        }
        if listed.len() > expected.len() {
            return fail("an event is there twice", listed.len());
        }
        if listed != expected {
            let details = format!("{} of {} events", listed.len(), expected.len());
            return self.missing("events are lost", details);
        }
        Ok(())
    }
}

fn wrong_answer(kind: MetricType) -> &'static str {
    match kind {
        MetricType::Gauge => "a gauge is answered wrongly",
        MetricType::Counter => "a counter is answered wrongly",
        MetricType::Distribution => "a distribution is answered wrongly",
        MetricType::Set => "a set is answered wrongly",
    }
}

/// The stored values of each bucket.
fn wanted<'m>(
    name: &str,
    metric: &'m Metric,
    asked: &Asked,
) -> BTreeMap<(String, i64), Vec<&'m Stored>> {
    let mut wanted: BTreeMap<(String, i64), Vec<&Stored>> = BTreeMap::new();
    for stored in &metric.stored {
        // Distributions and sets are kept in cells of a minute.
        let width = if metric.kind.keeps_points() { 1 } else { MINUTE };
        let time = stored.time - stored.time.rem_euclid(width);
        if asked.range.contains(TimestampMs(time)) {
            let group = asked.group.map(|key| tag_of(name, stored.series, key));
            let start = time - time.rem_euclid(asked.interval);
            wanted.entry((group.unwrap_or_default(), start)).or_default().push(stored);
        }
    }
    wanted
}

/// The cells that an answer has, empty ones too.
fn cells_of(metric: &Metric, asked: &Asked) -> usize {
    let series: BTreeSet<u32> = metric.stored.iter().map(|stored| stored.series).collect();
    let groups = if asked.group.is_some() { series.len() } else { 1 };
    let length = asked.range.end.0.saturating_sub(asked.range.start.0);
    groups * usize::try_from(length / asked.interval).unwrap_or_default()
}

/// The first instant of the first day that ends after `boundary`.
fn first_after(boundary: i64) -> TimestampMs {
    TimestampMs(boundary.max(0) / DAY * DAY)
}

/// A question about events that a seed decides.
pub(crate) fn event_question(seed: u64) -> Question {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    questions().new_tree(&mut runner).unwrap().current()
}
