//! Derives a history from a seed.

use telltale_engine::MetricType;
use telltale_simulation::{Call, Effect, Errno, Fault, FileKind, History, HistoryOf, Loss, Random};

use super::driver::Driver;
use super::samples::{FLOOD, METRICS};
use super::setup::Setup;
use super::steps::{Change, NewWrite, Sample, Step, Value};
use super::{DAY, HOUR, MINUTE};

/// How often a history does what. Histories differ in this, not only in their steps.
struct HistoryProfile {
    /// Weights of the steps, in the order of [`Generator::step`].
    weights: Vec<u32>,
    /// Maximum number of samples of a write.
    samples: u64,
    events: u64,
    series: u64,
    faults: bool,
    dense: bool,
    /// One of many histories has a write at the limits.
    flood: Option<Flood>,
}

#[derive(Clone, Copy)]
enum Flood {
    Series,
    Properties,
}

/// The minimum number of minutes in a write of dense histograms.
const DENSE_MINUTES_MIN: usize = 400;
/// Number of series of a flood.
const FLOOD_SERIES: u32 = 100_000;

fn flood(series: u32) -> Sample {
    Sample { metric: FLOOD, series, age: 0, value: Value::Counter(f64::from(series)) }
}

struct Generator {
    random: Random,
    profile: HistoryProfile,
    next_write: u64,
}

/// Returns the history of a seed.
pub(crate) fn history(seed: u64) -> HistoryOf<Driver> {
    let mut random = Random::new(seed);
    let setup = Setup::of(&mut random);
    let profile = HistoryProfile::of(&mut random);
    let count = *random.pick(&[10, 20, 20, 40, 80]) + random.below(10);
    let mut generator = Generator { random, profile, next_write: 1 };
    let mut steps: Vec<Step> = (0..count).flat_map(|_| generator.step()).collect();
    if generator.random.percent(30) {
        let kind = *generator.random.pick(&[
            FileKind::Log,
            FileKind::DbLog,
            FileKind::Table,
            FileKind::Table,
            FileKind::Manifest,
        ]);
        steps.push(Step::Decay(kind, generator.random.number()));
    }
    History { seed, setup, steps }
}

impl HistoryProfile {
    fn of(random: &mut Random) -> Self {
        // Writes, bursts, retries, documents, records, seals, compactions, expiry, deletion of
        // events, of metrics, time, excursions, queries, checks, backups, restarts, kills, power
        // losses, faults.
        let usual = [30, 5, 3, 4, 4, 12, 8, 2, 2, 2, 12, 1, 14, 3, 1, 2, 3, 4, 8];
        let weights = usual.map(|weight| if random.percent(15) { 0 } else { weight });
        let weights = weights.map(|weight| if random.percent(15) { weight * 4 } else { weight });
        let mut weights = weights.to_vec();
        weights[0] = weights[0].max(10);
        Self {
            weights,
            samples: *random.pick(&[0, 3, 20, 20, 60]),
            events: *random.pick(&[0, 0, 5, 20]),
            series: *random.pick(&[1, 4, 12, 12, 70]),
            faults: random.percent(60),
            dense: random.percent(10),
            flood: match random.below(600) {
                0 => Some(Flood::Series),
                1 => Some(Flood::Properties),
                _ => None,
            },
        }
    }
}

impl Generator {
    fn step(&mut self) -> Vec<Step> {
        let step = match self.random.weighted(&self.profile.weights) {
            0 => {
                let write = self.write();
                // Days that are over are sealed and compacted whole, into the largest blocks.
                let dense = write.samples.len() > DENSE_MINUTES_MIN;
                let over = dense.then_some([Step::AdvanceClock(HOUR), Step::Seal, Step::CheckAll]);
                return std::iter::once(Step::Write(write))
                    .chain(over.into_iter().flatten())
                    .collect();
            }
            1 => {
                let writes: Vec<_> = (0..2 + self.random.below(6)).map(|_| self.write()).collect();
                let seal = self.random.percent(40).then(|| self.random.index(writes.len()));
                Step::Burst(writes, seal)
            }
            2 => return self.failing_write(),
            3 => Step::Documents(self.changes(false)),
            4 => Step::Records(self.changes(true)),
            5 => Step::Seal,
            6 => Step::Merge,
            7 => return self.expiry(),
            8 => Step::DeleteEvents(self.random.number()),
            9 => Step::DeleteMetric(self.random.below(u64::from(METRICS)) as u8),
            10 => Step::AdvanceClock(self.pass()),
            11 => Step::Excursion(self.excursion()),
            12 => Step::Query(self.random.number()),
            13 => Step::CheckAll,
            14 => Step::Backup,
            15 => Step::Reopen,
            16 => Step::Kill,
            17 => Step::PowerLoss(self.loss(), self.random.number()),
            _ if self.profile.faults => Step::Arm(self.fault()),
            _ => Step::Query(self.random.number()),
        };
        vec![step]
    }

    fn loss(&mut self) -> Loss {
        *self.random.pick(&[Loss::Journal, Loss::Journal, Loss::Any])
    }

    fn pass(&mut self) -> i64 {
        match self.random.weighted(&[6, 3, 2, 1]) {
            0 => self.random.range(1..10 * MINUTE),
            1 => self.random.range(0..5 * HOUR),
            2 => self.random.range(0..2 * DAY),
            _ => -self.random.range(0..3 * HOUR),
        }
    }

    fn excursion(&mut self) -> i64 {
        match self.random.weighted(&[3, 2, 1]) {
            0 => self.random.range(20..120) * DAY,
            1 => -self.random.range(1..10_000) * DAY,
            _ => self.random.range(1..40) * 365 * DAY,
        }
    }

    /// Returns steps in which days pass until samples expire, and late samples arrive after that.
    fn expiry(&mut self) -> Vec<Step> {
        let mut steps =
            vec![Step::Merge, Step::AdvanceClock(self.random.range(1..6) * DAY), Step::Expire];
        let mut late = self.write();
        late.samples.iter_mut().for_each(|sample| sample.age += self.random.range(1..6) * DAY);
        steps.extend([Step::Write(late), Step::Merge, Step::CheckAll]);
        steps
    }

    /// Returns steps with a write that can neither be synced nor undone, and is retried.
    fn failing_write(&mut self) -> Vec<Step> {
        let mut write = self.write();
        write.keyed = true;
        let fault = |call, effect| {
            Step::Arm(Fault {
                kind: Some(FileKind::Log),
                call: Some(call),
                after: 0,
                times: 1,
                effect,
            })
        };
        let mut steps = vec![fault(Call::Sync, Effect::Fail(Errno::Io))];
        if self.random.percent(70) {
            steps.push(fault(Call::Truncate, Effect::Fail(Errno::Io)));
        }
        steps.extend([Step::Write(write), Step::Retry]);
        if self.random.percent(50) {
            steps.push(Step::Kill);
        }
        steps
    }

    fn changes(&mut self, records: bool) -> Vec<Change> {
        let keys = 12;
        let count = 1 + self.random.below(5);
        let mut change = || {
            let key = self.random.below(keys) as u8;
            match self.random.weighted(&[6, 2, u32::from(records)]) {
                0 => {
                    let bytes = *self.random.pick(&[0, 10, 300, 5_000]);
                    Change::Put { key, value: self.random.number() as u32, bytes }
                }
                1 => Change::Delete { key },
                _ => Change::DeleteRange { from: key, to: key + self.random.below(4) as u8 },
            }
        };
        (0..count).map(|_| change()).collect()
    }

    fn fault(&mut self) -> Fault {
        let kinds =
            [FileKind::Log, FileKind::Log, FileKind::DbLog, FileKind::Table, FileKind::Manifest];
        // A lying disk is only simulated for the log: RocksDB cannot recover from it.
        Fault::any(&mut self.random, &kinds, Some(FileKind::Log))
    }

    fn write(&mut self) -> NewWrite {
        let id = self.next_write;
        self.next_write += 1;
        let samples = self.random.below(self.profile.samples + 1);
        let mut samples: Vec<Sample> = (0..samples).map(|_| self.sample()).collect();
        if self.profile.dense && self.random.percent(15) {
            samples.extend(self.dense());
        }
        let events = self.random.below(self.profile.events + 1);
        let events = (0..events).map(|_| (self.random.number(), self.age())).collect();
        let mut write =
            NewWrite { id, keyed: self.random.percent(60), samples, events, large: false };
        match self.profile.flood.take_if(|_| self.random.percent(20)) {
            Some(Flood::Series) => write.samples.extend((0..FLOOD_SERIES).map(flood)),
            Some(Flood::Properties) => {
                // More string bytes than a block can contain.
                write.events = (0..1_200).map(|_| (self.random.number(), self.age())).collect();
                write.large = true;
            }
            None => {}
        }
        write
    }

    /// Returns minutes of histograms with nearly the maximum number of buckets.
    fn dense(&mut self) -> Vec<Sample> {
        let buckets = *self.random.pick(&[150, 300, 400, 510]);
        let (metric, series) = (5, self.random.below(3) as u32);
        let sample = |minute: i64| {
            let value = Value::Dense { buckets };
            Sample { metric, series, age: minute * MINUTE, value }
        };
        let minutes = DENSE_MINUTES_MIN as i64 + self.random.range(0..1_000);
        (1..=minutes).map(sample).collect()
    }

    fn sample(&mut self) -> Sample {
        let metric = self.random.below(u64::from(METRICS)) as u8;
        // A metric keeps its type, but some samples have a wrong one.
        let kind = if self.random.percent(4) { self.random.below(7) } else { u64::from(metric) };
        let value = match kind {
            0 => Value::Gauge(self.number()),
            1 => Value::Counter(self.number().abs()),
            2 => Value::Distribution(self.number()),
            3 => Value::Member(self.random.below(40) as u32),
            4 => {
                let reset = self.random.percent(5);
                Value::Total { cents: self.random.below(5_000) as u32, reset }
            }
            5 => Value::Counted {
                seed: self.random.number(),
                values: self.random.below(30) as u8,
                delta: self.random.percent(30),
                reset: self.random.percent(5),
            },
            _ => Value::Gauge(self.number()),
        };
        let series = self.random.below(self.profile.series) as u32;
        let age = if matches!(value.kind(), MetricType::Counter) && kind == 4 {
            self.random.range(0..1_000)
        } else {
            self.age()
        };
        Sample { metric, series, age, value }
    }

    fn number(&mut self) -> f64 {
        match self.random.weighted(&[4, 2, 2, 1, 1]) {
            0 => self.random.range(-10_000..10_000) as f64 / 100.0,
            1 => self.random.range(0..20) as f64,
            2 => (self.random.unit() - 0.5) * 2e6,
            3 => 0.0,
            _ => self.random.unit() * 1e-3,
        }
    }

    fn age(&mut self) -> i64 {
        match self.random.weighted(&[60, 20, 10, 10, 20, 1]) {
            0 => self.random.range(0..10 * MINUTE),
            1 => self.random.range(0..4 * HOUR),
            2 => self.late(),
            3 => -self.random.range(0..DAY),
            4 => self.random.range(0..30) * MINUTE,
            // The earliest possible time.
            _ => i64::MAX / 4,
        }
    }

    fn late(&mut self) -> i64 {
        self.random.range(0..3 * DAY)
    }
}
