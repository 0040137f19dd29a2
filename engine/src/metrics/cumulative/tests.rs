//! Random histories of cumulative samples: the stored increases match a model, regardless of seals
//! and kills.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::last_values::LastValues;
use super::stored;
use crate::codec::integers::Effort;
use crate::model::{
    Aggregation, Buckets, Columns, CumulativeHistogram, CumulativeSamples, Histogram, Interval,
    MetricQuery, MetricType, SeriesId, StartTime, Temporality, TimeRange, TimestampMs,
};
use crate::options::{Maintenance, Options};
use crate::storage::{Batch, Keyspace, Sync};
use crate::{Clock, Engine};

const START: i64 = 1_700_000_000_000;

/// A step of a history.
#[derive(Clone, Debug)]
enum Step {
    /// Counts `more` and sends a sample `later` milliseconds later; a negative or zero `later` is a
    /// late sample or a retry.
    Sample {
        series: u8,
        more: u32,
        later: i64,
    },
    /// The process of a series restarts; its samples may report the new start time or not.
    Reset {
        series: u8,
    },
    Seal,
    Kill,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let later = prop_oneof![5 => 1i64..60_000, 1 => Just(0i64), 1 => -90_000i64..0];
    let read = (0u8..6, 0u32..50, later);
    let step = prop_oneof![
        12 => read.prop_map(|(series, more, later)| Step::Sample { series, more, later }),
        2 => (0u8..6).prop_map(|series| Step::Reset { series }),
        2 => Just(Step::Seal),
        1 => Just(Step::Kill),
    ];
    prop::collection::vec(step, 1..120)
}

/// Returns the start time that the samples of a series report: some agents report none.
fn start_time(series: u8, start: i64) -> StartTime {
    match series % 3 {
        0 => StartTime::Unknown,
        n => StartTime::At { start: TimestampMs(start), counts: n == 1 },
    }
}

/// The model of a counting process.
#[derive(Clone, Debug, Default)]
struct Process {
    start: i64,
    now: i64,
    total: u32,
    /// The time and value of the last sample that was not late.
    last_accepted: Option<(i64, u32)>,
    /// The sum of the increases of all samples so far.
    added: f64,
}

impl Process {
    /// Applies a sample by the rules. Returns false if it is late.
    fn accept(&mut self, time: i64, start_time: StartTime) -> bool {
        let total = self.total;
        let added = match (self.last_accepted, start_time) {
            (Some((last, _)), _) if time <= last => return false,
            (Some((last, _)), StartTime::At { start, .. }) if start.0 > last => total,
            (Some((_, before)), _) => {
                if total < before {
                    total
                } else {
                    total - before
                }
            }
            (None, StartTime::At { counts: true, .. }) => total,
            (None, _) => 0,
        };
        self.last_accepted = Some((time, total));
        self.added += f64::from(added);
        true
    }
}

/// [`LastValues`], their rows on disk, and the log records since the last seal.
#[derive(Default)]
struct SimulatedStore {
    last_values: LastValues,
    counters: BTreeMap<u32, Vec<u8>>,
    histograms: BTreeMap<u32, Vec<u8>>,
    log: Vec<CumulativeSamples>,
    /// Increases of counter and histogram by series: in blocks, and in memory.
    sealed: BTreeMap<u32, (f64, f64)>,
    head: BTreeMap<u32, (f64, f64)>,
    late: u64,
}

impl SimulatedStore {
    fn apply(&mut self, cumulative: CumulativeSamples) {
        let mut points = Columns::default();
        let increases = self.last_values.compare(cumulative, |_| true, &mut points);
        for (series, bits) in points.series.iter().zip(&points.values) {
            self.head.entry(series.0).or_default().0 += f64::from_bits(*bits);
        }
        for new in &increases.cells {
            let head = self.head.entry(new.series.0).or_default();
            head.1 += new.cell.count() as f64;
            assert_eq!(new.cell.sum().value(), new.cell.count() as f64 * 1.5);
        }
        self.late += increases.late;
    }

    fn seal(&mut self) {
        let changed = self.last_values.freeze();
        for (number, page) in changed.counters {
            let row = stored::encode_counters(number, &page.unwrap(), Effort::Seal).unwrap();
            self.counters.insert(number, row);
        }
        for (number, page) in changed.histograms {
            let row = stored::encode_histograms(number, &page.unwrap(), Effort::Seal).unwrap();
            self.histograms.insert(number, row);
        }
        for (series, (counters, histograms)) in std::mem::take(&mut self.head) {
            let sealed = self.sealed.entry(series).or_default();
            *sealed = (sealed.0 + counters, sealed.1 + histograms);
        }
        self.log.clear();
    }

    fn kill(&mut self) {
        let bytes = self.last_values.bytes();
        self.last_values = LastValues::default();
        for (number, row) in &self.counters {
            let page = stored::decode_counters(*number, row).unwrap();
            self.last_values.restore_counters(*number, page);
        }
        for (number, row) in &self.histograms {
            let page = stored::decode_histograms(*number, row).unwrap();
            self.last_values.restore_histograms(*number, page);
        }
        self.head.clear();
        self.late = 0;
        self.log.clone().into_iter().for_each(|cumulative| self.apply(cumulative));
        assert!(self.last_values.bytes() <= bytes, "a restart takes no more memory");
    }

    fn total(&self, series: u32) -> (f64, f64) {
        let of = |map: &BTreeMap<u32, (f64, f64)>| map.get(&series).copied().unwrap_or_default();
        let (sealed, head) = (of(&self.sealed), of(&self.head));
        (sealed.0 + head.0, sealed.1 + head.1)
    }
}

fn histogram(total: u32) -> Histogram {
    let counts = vec![u64::from(total / 3), u64::from(total - total / 3)];
    let buckets = Buckets::Explicit { bounds: vec![1.0], counts };
    let sum = f64::from(total) * 1.5;
    Histogram::new(total.into(), Some(sum), None, None, buckets).unwrap()
}

proptest! {
    #[test]
    fn increases_are_counted_exactly_once(steps in steps()) {
        let mut store = SimulatedStore::default();
        let mut processes = vec![Process::default(); 6];
        for step in steps {
            match step {
                Step::Sample { series, more, later } => {
                    let process = &mut processes[usize::from(series)];
                    let time = process.now + later;
                    process.total += more;
                    process.now = process.now.max(time);
                    let start_time = start_time(series, process.start);
                    process.accept(time, start_time);
                    let mut cumulative = CumulativeSamples::default();
                    // Series on different pages.
                    let id = SeriesId(u32::from(series) * 100);
                    let (time, total) = (TimestampMs(time), process.total);
                    cumulative.counters.push(id, time, f64::from(total), start_time);
                    cumulative.histograms.push(CumulativeHistogram {
                        series: id,
                        time,
                        temporality: Temporality::Cumulative(start_time),
                        histogram: histogram(total),
                    });
                    store.log.push(cumulative.clone());
                    store.apply(cumulative);
                }
                Step::Reset { series } => {
                    let process = &mut processes[usize::from(series)];
                    process.now += 1;
                    (process.start, process.total) = (process.now, 0);
                }
                Step::Seal => store.seal(),
                Step::Kill => store.kill(),
            }
            for (series, process) in (0..).zip(&processes) {
                let added = process.added;
                prop_assert_eq!(store.total(series * 100), (added, added), "series {}", series);
            }
        }
    }
}

struct Opened {
    dir: tempfile::TempDir,
    options: Options,
    engine: Option<Engine>,
}

impl Opened {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(START + 3_600_000));
        let options = Options { maintenance: Maintenance::Manual, clock, ..Options::default() };
        let engine = Some(Engine::open(dir.path(), options.clone()).unwrap());
        Self { dir, options, engine }
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.engine = None;
        self.engine = Some(Engine::open(self.dir.path(), self.options.clone()).unwrap());
    }

    /// Writes a sample of the counter and of the histogram of a host.
    fn read(&self, host: &str, second: i64, total: u32) {
        let start_time = StartTime::At { start: TimestampMs(START), counts: true };
        let mut batch = self.engine().batch();
        let time = TimestampMs(START + second * 1_000);
        let series = batch.series("requests", MetricType::Counter, &[("host", host)]).unwrap();
        batch.reading(series, time, f64::from(total), start_time);
        let series = batch.series("latency", MetricType::Distribution, &[("host", host)]).unwrap();
        batch.cumulative_histogram(series, time, histogram(total), start_time);
        let points = batch.finish();
        self.engine().write(points).unwrap();
    }

    /// Returns the sum of the counters and the count of the distributions.
    fn totals(&self) -> (f64, f64) {
        let query_sum = |metric: &str, aggregation| {
            let query = MetricQuery::of_all(
                metric,
                TimeRange::new(START, START + 86_400_000),
                Interval::DAY,
                &[aggregation],
            );
            let result = self.engine().query(&query).unwrap();
            let column = result.groups.iter().flat_map(|group| &group.columns[0]);
            column.sum::<f64>()
        };
        (query_sum("requests", Aggregation::Sum), query_sum("latency", Aggregation::Count))
    }
}

#[test]
fn cumulative_series_continue_after_a_restart_with_and_without_a_seal() {
    let mut opened = Opened::new();
    for (second, total) in [(1, 10), (2, 15), (3, 35)] {
        opened.read("a", second, total);
        opened.read("a", second, total);
        assert_eq!(opened.totals(), (f64::from(total), f64::from(total)));
        if second == 2 {
            opened.engine().seal().unwrap();
        }
        opened.reopen();
        assert_eq!(opened.totals(), (f64::from(total), f64::from(total)));
    }
    let stats = opened.engine().stats();
    // One counter sample and one histogram sample were repeated since the seal.
    assert_eq!(stats.late_samples, 2);
    assert!(stats.registry_bytes > 500, "{}", stats.registry_bytes);
}

#[test]
fn a_dropped_metric_loses_its_last_values() {
    let mut opened = Opened::new();
    opened.read("a", 1, 10);
    opened.engine().seal().unwrap();
    let before = opened.engine().stats().registry_bytes;
    for metric in ["requests", "latency"] {
        opened.engine().delete_metric(metric).unwrap();
    }
    opened.engine().seal().unwrap();
    let store = &opened.engine().inner().store;
    for kind in [b'c', b'h'] {
        assert!(store.get(Keyspace::LastValues, &[kind, 0, 0, 0, 0]).unwrap().is_none());
    }
    assert!(opened.engine().stats().registry_bytes < before);
    opened.read("a", 2, 7);
    opened.reopen();
    assert_eq!(opened.totals(), (7.0, 7.0));
}

#[test]
fn a_damaged_row_is_reported_and_its_series_lose_their_last_value() {
    let mut opened = Opened::new();
    opened.read("a", 1, 10);
    opened.engine().seal().unwrap();
    let mut batch = Batch::new();
    for kind in [b'c', b'h'] {
        let store = &opened.engine().inner().store;
        let mut row =
            store.get(Keyspace::LastValues, &[kind, 0, 0, 0, 0]).unwrap().unwrap().to_vec();
        *row.last_mut().unwrap() ^= 1;
        batch.put(Keyspace::LastValues, &[kind, 0, 0, 0, 0], row);
    }
    opened.engine().inner().store.write(batch, Sync::Yes).unwrap();
    assert_eq!(opened.engine().verify().unwrap().damaged.len(), 2);
    opened.reopen();
    let damage = opened.engine().damage();
    assert_eq!(damage.len(), 2, "{damage:?}");
    assert!(
        damage[0].contains("last cumulative values of counters, series 0 to 255"),
        "{damage:?}"
    );
    // It is unknown how much of 25 was counted already: counting resumes from there, so that
    // nothing is counted twice.
    opened.read("a", 2, 25);
    assert_eq!(opened.totals(), (10.0, 10.0));
    opened.read("a", 3, 26);
    // A series created since the damage is new.
    opened.read("b", 3, 5);
    assert_eq!(opened.totals(), (16.0, 16.0));
    opened.engine().seal().unwrap();
    // The damage is reported until it is acknowledged by removing the file, and is found only once.
    std::fs::remove_file(opened.dir.path().join("DAMAGE")).unwrap();
    opened.reopen();
    assert_eq!(opened.engine().damage(), [""; 0]);
    opened.read("a", 4, 27);
    assert_eq!(opened.totals(), (17.0, 17.0));
}
