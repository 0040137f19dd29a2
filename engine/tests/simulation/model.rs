//! All that was written, in order, and what follows from it: the naive model of the engine.
//!
//! The order of writing is the order of the log. What is stored is derived from it from the beginning whenever the fate of a
//! write becomes known, so that a write that comes to light after a crash takes its place among the others.

use std::collections::{BTreeMap, BTreeSet};

use telltale_engine::{Event, EventFilter, MetricType, StartTime};

use super::DAY;
use super::counted::{Counted, Verdict, judge};
use super::event_list::Listed;
use super::samples::{Item, Payload, dense_values};
use super::setup::Setup;

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Acknowledged,
    /// It was refused or never answered: after the next start it is there whole or not at all.
    Unknown,
    /// It was not acknowledged and was found after a start. A power loss may still take it.
    Found,
    Absent,
}

impl Fate {
    fn is_present(self) -> bool {
        matches!(self, Self::Acknowledged | Self::Found)
    }
}

/// A write as it was submitted.
#[derive(Clone, Debug)]
pub(crate) struct Submitted {
    pub(crate) id: u64,
    pub(crate) keyed: bool,
    /// When it was submitted.
    pub(crate) now: i64,
    pub(crate) items: Vec<Item>,
    pub(crate) events: Vec<Event>,
    pub(crate) fate: Fate,
}

#[derive(Clone, Debug)]
enum Entry {
    Write(Box<Submitted>),
    DropMetric(String),
    DeleteEvents(EventFilter),
    Expire(i64),
}

/// What is stored of a series at a time.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// The write that stored it.
    pub(crate) write: u64,
    pub(crate) series: u32,
    pub(crate) time: i64,
    pub(crate) sum: f64,
    /// The numbers; none for members.
    pub(crate) values: Vec<f64>,
    pub(crate) member: Option<u32>,
}

/// A metric.
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) kind: MetricType,
    pub(crate) stored: Vec<Stored>,
    /// Days of which nobody knows what they answer: a gauge was replaced after its points had expired, or a total may have come to a
    /// series that had retired.
    pub(crate) ambiguous: BTreeSet<i64>,
    gauges: BTreeMap<(u32, i64), usize>,
    totals: BTreeMap<u32, Befores<u64>>,
    histograms: BTreeMap<u32, Befores<Counted>>,
}

/// What the next total of a series may be compared with: what it was sent last, or nothing once it may have retired.
#[derive(Clone, Debug)]
struct Befores<T>(Vec<Option<(i64, T)>>);

impl<T> Default for Befores<T> {
    fn default() -> Self {
        Self(vec![None])
    }
}

impl<T: Clone + PartialEq> Befores<T> {
    /// The series may have retired if the day of what it was sent last ends here or before.
    fn retired(&mut self, gone_before: i64) {
        let gone = |(time, _): &(i64, T)| (time.div_euclid(DAY) + 1) * DAY <= gone_before;
        if self.0.iter().flatten().any(gone) && !self.0.contains(&None) {
            self.0.push(None);
        }
    }

    /// What a total adds: one answer for each that it may be; nothing, or this much, or all of it.
    fn next(
        &mut self,
        (time, total): (i64, &T),
        begins: StartTime,
        gone_before: i64,
        since: impl Fn(&T) -> Option<T>,
    ) -> Vec<Option<T>> {
        let mut added: Vec<Option<T>> = Vec::new();
        let mut after: Vec<Option<(i64, T)>> = Vec::new();
        for before in std::mem::take(&mut self.0) {
            let was_never_sent = before.is_none();
            let (adds, last) = match judge(before.clone(), time, begins, &since) {
                Verdict::Late => (None, before),
                Verdict::Nothing => (None, Some((time, total.clone()))),
                Verdict::Added(more) => {
                    (Some(more.unwrap_or_else(|| total.clone())), Some((time, total.clone())))
                }
            };
            let known = matches!(begins, StartTime::At { start, .. } if start.0 >= gone_before);
            if was_never_sent && adds.is_some() && !known {
                // A stream that began before what was forgotten may have been counted.
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

/// Everything.
#[derive(Debug)]
pub(crate) struct Model {
    setup: Setup,
    log: Vec<Entry>,
    /// Entries before this one are in blocks.
    sealed: usize,
    pub(crate) metrics: BTreeMap<String, Metric>,
    pub(crate) events: Vec<Listed>,
    /// Days that end here or before have lost their points to expiry, or may have.
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

    pub(crate) fn submitted(&mut self, write: Submitted) {
        let entry = Entry::Write(Box::new(write));
        self.apply(&entry);
        self.log.push(entry);
    }

    pub(crate) fn dropped(&mut self, metric: &str) {
        self.push(Entry::DropMetric(metric.to_owned()));
    }

    pub(crate) fn deleted_events(&mut self, filter: &EventFilter) {
        self.push(Entry::DeleteEvents(filter.clone()));
    }

    pub(crate) fn expired(&mut self, now: i64) {
        self.push(Entry::Expire(now));
    }

    fn push(&mut self, entry: Entry) {
        self.apply(&entry);
        self.log.push(entry);
    }

    /// A seal succeeded: what was acknowledged before needs no log any more.
    pub(crate) fn sealed(&mut self) {
        self.sealed = self.log.len();
    }

    /// The metrics that were deleted since the latest seal.
    pub(crate) fn newly_dropped(&self) -> impl Iterator<Item = &str> {
        self.log.iter().skip(self.sealed).filter_map(|entry| match entry {
            Entry::DropMetric(metric) => Some(metric.as_str()),
            _ => None,
        })
    }

    pub(crate) fn has_unknown(&self) -> bool {
        self.writes().any(|write| write.fate == Fate::Unknown)
    }

    pub(crate) fn writes(&self) -> impl DoubleEndedIterator<Item = &Submitted> {
        self.log.iter().filter_map(|entry| match entry {
            Entry::Write(write) => Some(&**write),
            _ => None,
        })
    }

    /// After a power loss, of the writes that no seal has followed nobody knows, unless they were surely synced.
    pub(crate) fn lost_power(&mut self, synced: bool) {
        for entry in self.log.iter_mut().skip(self.sealed) {
            if let Entry::Write(write) = entry {
                match write.fate {
                    Fate::Found => write.fate = Fate::Unknown,
                    Fate::Acknowledged if !synced => write.fate = Fate::Unknown,
                    _ => {}
                }
            }
        }
    }

    /// After a start: whether each unknown write is there. Of several attempts of one write only one counts; `is_attempt` says
    /// whether it is this one.
    pub(crate) fn resolve(
        &mut self,
        mut is_present: impl FnMut(&Submitted) -> bool,
        mut is_attempt: impl FnMut(&Submitted) -> bool,
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
            if let Entry::Write(write) = entry
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

    /// The unknown attempts of a write that is acknowledged now count no more.
    pub(crate) fn superseded(&mut self, id: u64) {
        for entry in &mut self.log {
            if let Entry::Write(write) = entry
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

    fn apply(&mut self, entry: &Entry) {
        match entry {
            Entry::Write(write) if !write.fate.is_present() => {}
            Entry::Write(write) => {
                write.items.iter().for_each(|item| self.add(write.id, item));
                self.events.extend(write.events.iter().cloned().map(Listed::new));
            }
            Entry::DropMetric(metric) => {
                self.metrics.remove(metric);
            }
            Entry::DeleteEvents(filter) => self.events.retain(|listed| !listed.matches(filter)),
            Entry::Expire(now) => {
                let kept = |kept: std::time::Duration| now - kept.as_millis() as i64;
                let retention = self.setup.retention;
                let longest = retention.hour.max(retention.day);
                self.coarse_before = self.coarse_before.max(kept(retention.raw));
                self.gone_before = self.gone_before.max(kept(longest));
                for metric in self.metrics.values_mut() {
                    metric.totals.values_mut().for_each(|all| all.retired(self.gone_before));
                    metric.histograms.values_mut().for_each(|all| all.retired(self.gone_before));
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
            totals: BTreeMap::new(),
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
            Payload::Total(cents, begins) => {
                let befores = self.totals.entry(series).or_default();
                let since = |before: &u64| cents.checked_sub(*before);
                let added = befores.next((time, cents), *begins, gone_before, since);
                self.certain(time, added).map(|cents| {
                    let sum = cents as f64 / 100.0;
                    store(sum, vec![sum])
                })
            }
            Payload::Cumulative(counted, begins) => {
                let befores = self.histograms.entry(series).or_default();
                let since = |before: &Counted| counted.since(before);
                let added = befores.next((time, counted), *begins, gone_before, since);
                let more = self.certain(time, added);
                more.and_then(|more| added_of(&more)).map(|(sum, values)| store(sum, values))
            }
        };
        self.stored.extend(stored);
    }

    /// What is added at a time. Where it may be several things, nobody knows what its day answers, nor the one before, from which
    /// buckets may reach into it.
    fn certain<T: PartialEq>(&mut self, time: i64, mut added: Vec<Option<T>>) -> Option<T> {
        added.dedup();
        if added.len() > 1 {
            let day = time.div_euclid(DAY);
            self.ambiguous.extend([day - 1, day]);
        }
        added.into_iter().flatten().next()
    }
}

/// The sum and the values that a histogram adds, if it holds any.
fn added_of(counted: &Counted) -> Option<(f64, Vec<f64>)> {
    (counted.count() > 0).then(|| (counted.sum, counted.stand()))
}
