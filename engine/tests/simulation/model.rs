//! A naive model of the engine: everything that was written, in order, and the state that follows.
//!
//! The order of writing is the order of the log. Whenever the fate of a write becomes known, the
//! state is derived from the whole log again, so that a write found after a crash takes its place
//! among the others.

use std::collections::{BTreeMap, BTreeSet};

use telltale_engine::{Event, EventFilter, MetricType, StartTime};

use super::DAY;
use super::bucketed_values::{BucketedValues, Verdict, classify};
use super::event_list::ListedEvent;
use super::samples::{Item, Payload, dense_values};
use super::setup::Setup;

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Acknowledged,
    /// It was refused or never completed: after the next start it is stored whole or not at all.
    Unknown,
    /// It was not acknowledged, but found after a start. A power loss may still remove it.
    Found,
    Absent,
}

impl Fate {
    fn is_present(self) -> bool {
        matches!(self, Self::Acknowledged | Self::Found)
    }
}

/// A submitted write.
#[derive(Clone, Debug)]
pub(crate) struct SubmittedWrite {
    pub(crate) id: u64,
    pub(crate) keyed: bool,
    /// The time of submission.
    pub(crate) now: i64,
    pub(crate) items: Vec<Item>,
    pub(crate) events: Vec<Event>,
    pub(crate) fate: Fate,
}

#[derive(Clone, Debug)]
enum LogEntry {
    Write(Box<SubmittedWrite>),
    DropMetric(String),
    DeleteEvents(EventFilter),
    Expire(i64),
}

/// What is stored for a series at a time.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// The write that stored it.
    pub(crate) write: u64,
    pub(crate) series: u32,
    pub(crate) time: i64,
    pub(crate) sum: f64,
    /// The numbers; empty for members.
    pub(crate) values: Vec<f64>,
    pub(crate) member: Option<u32>,
}

/// A metric.
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) kind: MetricType,
    pub(crate) stored: Vec<Stored>,
    /// Days with unpredictable results: a gauge was replaced after its samples had expired, or a
    /// cumulative sample may have reached a retired series.
    pub(crate) ambiguous: BTreeSet<i64>,
    gauges: BTreeMap<(u32, i64), usize>,
    counters: BTreeMap<u32, LastValues<u64>>,
    histograms: BTreeMap<u32, LastValues<BucketedValues>>,
}

/// The possible last cumulative values of a series; `None` once the series may have retired.
#[derive(Clone, Debug)]
struct LastValues<T>(Vec<Option<(i64, T)>>);

impl<T> Default for LastValues<T> {
    fn default() -> Self {
        Self(vec![None])
    }
}

impl<T: Clone + PartialEq> LastValues<T> {
    /// The series may have retired if the day of its last sample ends at `gone_before` or earlier.
    fn series_may_have_retired(&mut self, gone_before: i64) {
        let gone = |(time, _): &(i64, T)| (time.div_euclid(DAY) + 1) * DAY <= gone_before;
        if self.0.iter().flatten().any(gone) && !self.0.contains(&None) {
            self.0.push(None);
        }
    }

    /// Returns what a cumulative sample may add: for each possible last value the delta, the whole
    /// value, or nothing.
    fn next(
        &mut self,
        (time, value): (i64, &T),
        start_time: StartTime,
        gone_before: i64,
        delta: impl Fn(&T) -> Option<T>,
    ) -> Vec<Option<T>> {
        let mut added: Vec<Option<T>> = Vec::new();
        let mut after: Vec<Option<(i64, T)>> = Vec::new();
        for before in std::mem::take(&mut self.0) {
            let is_first = before.is_none();
            let (adds, last) = match classify(before.clone(), time, start_time, &delta) {
                Verdict::Late => (None, before),
                Verdict::Nothing => (None, Some((time, value.clone()))),
                Verdict::Added(more) => {
                    (Some(more.unwrap_or_else(|| value.clone())), Some((time, value.clone())))
                }
            };
            let known = matches!(start_time, StartTime::At { start, .. } if start.0 >= gone_before);
            if is_first && adds.is_some() && !known {
                // A stream that started before the forgotten time may have been counted.
                added.push(None);
            }
            added.push(adds);
            if !after.contains(&last) {
                after.push(last);
            }
        }
        self.0 = after;
        added
    }
}

/// The whole state.
#[derive(Debug)]
pub(crate) struct Model {
    setup: Setup,
    log: Vec<LogEntry>,
    /// Entries before this index are in blocks.
    sealed: usize,
    pub(crate) metrics: BTreeMap<String, Metric>,
    pub(crate) events: Vec<ListedEvent>,
    /// Days that end here or before have lost their samples to expiry, or may have.
    pub(crate) coarse_before: i64,
    /// Days that end here or before may have lost everything.
    pub(crate) gone_before: i64,
    pub(crate) events_gone_before: i64,
}

impl Model {
    pub(crate) fn new(setup: Setup) -> Self {
        Self {
            setup,
            log: Vec::new(),
            sealed: 0,
            metrics: BTreeMap::new(),
            events: Vec::new(),
            coarse_before: i64::MIN,
            gone_before: i64::MIN,
            events_gone_before: i64::MIN,
        }
    }

    pub(crate) fn submitted(&mut self, write: SubmittedWrite) {
        let entry = LogEntry::Write(Box::new(write));
        self.apply(&entry);
        self.log.push(entry);
    }

    pub(crate) fn dropped(&mut self, metric: &str) {
        self.push(LogEntry::DropMetric(metric.to_owned()));
    }

    pub(crate) fn deleted_events(&mut self, filter: &EventFilter) {
        self.push(LogEntry::DeleteEvents(filter.clone()));
    }

    pub(crate) fn expired(&mut self, now: i64) {
        self.push(LogEntry::Expire(now));
    }

    fn push(&mut self, entry: LogEntry) {
        self.apply(&entry);
        self.log.push(entry);
    }

    /// Records a successful seal: what was acknowledged before no longer depends on the log.
    pub(crate) fn sealed(&mut self) {
        self.sealed = self.log.len();
    }

    /// Returns the metrics that were deleted since the latest seal.
    pub(crate) fn newly_dropped(&self) -> impl Iterator<Item = &str> {
        self.log.iter().skip(self.sealed).filter_map(|entry| match entry {
            LogEntry::DropMetric(metric) => Some(metric.as_str()),
            _ => None,
        })
    }

    pub(crate) fn has_unknown(&self) -> bool {
        self.writes().any(|write| write.fate == Fate::Unknown)
    }

    pub(crate) fn writes(&self) -> impl DoubleEndedIterator<Item = &SubmittedWrite> {
        self.log.iter().filter_map(|entry| match entry {
            LogEntry::Write(write) => Some(&**write),
            _ => None,
        })
    }

    /// Records a power loss: writes after the latest seal become unknown unless they were certainly
    /// synced.
    pub(crate) fn lost_power(&mut self, synced: bool) {
        for entry in self.log.iter_mut().skip(self.sealed) {
            if let LogEntry::Write(write) = entry {
                match write.fate {
                    Fate::Found => write.fate = Fate::Unknown,
                    Fate::Acknowledged if !synced => write.fate = Fate::Unknown,
                    _ => {}
                }
            }
        }
    }

    /// Resolves after a start whether each unknown write is stored. Only one of several attempts of
    /// a write counts; `is_attempt` decides which.
    pub(crate) fn resolve(
        &mut self,
        mut is_present: impl FnMut(&SubmittedWrite) -> bool,
        mut is_attempt: impl FnMut(&SubmittedWrite) -> bool,
    ) {
        let mut attempts = BTreeMap::<u64, u64>::new();
        for write in self.writes().filter(|write| write.fate == Fate::Unknown) {
            *attempts.entry(write.id).or_default() += 1;
        }
        let mut counted = BTreeSet::new();
        for write in self.writes().filter(|write| write.fate.is_present()) {
            counted.insert(write.id);
        }
        for entry in &mut self.log {
            if let LogEntry::Write(write) = entry
                && write.fate == Fate::Unknown
            {
                let others = attempts.get_mut(&write.id).map_or(0, |left| {
                    *left -= 1;
                    *left
                });
                let present = is_present(write)
                    && (others == 0 || is_attempt(write))
                    && counted.insert(write.id);
                write.fate = if present { Fate::Found } else { Fate::Absent };
            }
        }
        self.derive();
    }

    /// Records that a write was acknowledged: its earlier unknown attempts no longer count.
    pub(crate) fn superseded(&mut self, id: u64) {
        for entry in &mut self.log {
            if let LogEntry::Write(write) = entry
                && write.id == id
                && write.fate == Fate::Unknown
            {
                write.fate = Fate::Absent;
            }
        }
    }

    fn derive(&mut self) {
        self.metrics.clear();
        self.events.clear();
        self.coarse_before = i64::MIN;
        let log = std::mem::take(&mut self.log);
        log.iter().for_each(|entry| self.apply(entry));
        self.log = log;
    }

    fn apply(&mut self, entry: &LogEntry) {
        match entry {
            LogEntry::Write(write) if !write.fate.is_present() => {}
            LogEntry::Write(write) => {
                write.items.iter().for_each(|item| self.add(write.id, item));
                self.events.extend(write.events.iter().cloned().map(ListedEvent::new));
            }
            LogEntry::DropMetric(metric) => {
                self.metrics.remove(metric);
            }
            LogEntry::DeleteEvents(filter) => self.events.retain(|listed| !listed.matches(filter)),
            LogEntry::Expire(now) => {
                let kept = |kept: std::time::Duration| now - kept.as_millis() as i64;
                let retention = self.setup.retention;
                let longest = retention.hour.max(retention.day);
                self.coarse_before = self.coarse_before.max(kept(retention.raw));
                self.gone_before = self.gone_before.max(kept(longest));
                for metric in self.metrics.values_mut() {
                    metric
                        .counters
                        .values_mut()
                        .for_each(|all| all.series_may_have_retired(self.gone_before));
                    metric
                        .histograms
                        .values_mut()
                        .for_each(|all| all.series_may_have_retired(self.gone_before));
                }
                let events = now - self.setup.event_days * DAY;
                self.events_gone_before = self.events_gone_before.max(events);
            }
        }
    }

    fn add(&mut self, write: u64, item: &Item) {
        let metric = self.metrics.entry(item.metric.clone()).or_insert_with(|| Metric {
            kind: item.kind,
            stored: Vec::new(),
            ambiguous: BTreeSet::new(),
            gauges: BTreeMap::new(),
            counters: BTreeMap::new(),
            histograms: BTreeMap::new(),
        });
        let day = item.time.div_euclid(DAY);
        metric.add(write, item, (day + 1) * DAY <= self.coarse_before, self.gone_before);
    }
}

impl Metric {
    fn add(&mut self, write: u64, item: &Item, coarse: bool, gone_before: i64) {
        let (series, time) = (item.series, item.time);
        let store =
            |sum: f64, values: Vec<f64>| Stored { write, series, time, sum, values, member: None };
        let stored = match &item.payload {
            Payload::Number(value) if item.kind == MetricType::Gauge => {
                if let Some(at) = self.gauges.insert((series, time), self.stored.len()) {
                    if coarse {
                        self.ambiguous.insert(time.div_euclid(DAY));
                    }
                    self.gauges.insert((series, time), at);
                    self.stored[at] = store(*value, vec![*value]);
                    return;
                }
                Some(store(*value, vec![*value]))
            }
            Payload::Number(value) => Some(store(*value, vec![*value])),
            Payload::Member(member) => {
                Some(Stored { member: Some(*member), ..store(0.0, Vec::new()) })
            }
            Payload::Dense(bounds) => {
                let values = dense_values(bounds);
                Some(store(values.iter().sum(), values))
            }
            Payload::Delta(counted) => added_of(counted).map(|(sum, values)| store(sum, values)),
            Payload::Total(cents, start_time) => {
                let last_values = self.counters.entry(series).or_default();
                let delta = |before: &u64| cents.checked_sub(*before);
                let added = last_values.next((time, cents), *start_time, gone_before, delta);
                self.unambiguous(time, added).map(|cents| {
                    let sum = cents as f64 / 100.0;
                    store(sum, vec![sum])
                })
            }
            Payload::Cumulative(counted, start_time) => {
                let last_values = self.histograms.entry(series).or_default();
                let delta = |before: &BucketedValues| counted.delta_since(before);
                let added = last_values.next((time, counted), *start_time, gone_before, delta);
                let more = self.unambiguous(time, added);
                more.and_then(|more| added_of(&more)).map(|(sum, values)| store(sum, values))
            }
        };
        self.stored.extend(stored);
    }

    /// Returns what is added at a time. If there are several possibilities, the results of its day
    /// are uncertain, and those of the day before, from which buckets may extend into it.
    fn unambiguous<T: PartialEq>(&mut self, time: i64, mut added: Vec<Option<T>>) -> Option<T> {
        added.dedup();
        if added.len() > 1 {
            let day = time.div_euclid(DAY);
            self.ambiguous.extend([day - 1, day]);
        }
        added.into_iter().flatten().next()
    }
}

/// Returns the sum and the values that a histogram adds, or `None` if it is empty.
fn added_of(counted: &BucketedValues) -> Option<(f64, Vec<f64>)> {
    (counted.count() > 0).then(|| (counted.sum, counted.representative_values()))
}
