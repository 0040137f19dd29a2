//! The measured processes: each series of cumulative samples has one, which continues to count
//! whatever happens to its samples.

use std::collections::BTreeMap;

use telltale_engine::{StartTime, TimestampMs};
use telltale_simulation::Random;

use super::bucketed_values::BucketedValues;
use super::samples::Payload;
use super::steps::Value;

#[derive(Clone, Debug)]
struct Process {
    start: i64,
    cents: u64,
    counted: BucketedValues,
}

/// All processes of a history.
#[derive(Debug, Default)]
pub(crate) struct Processes(BTreeMap<(u8, u32), Process>);

impl Processes {
    /// Lets the process of a series count, and returns what it sends.
    pub(crate) fn payload(&mut self, of: (u8, u32), now: i64, value: Value) -> Payload {
        let (_, series) = of;
        let kind = u8::from(series % 2 == 1);
        let new = |start| Process { start, cents: 0, counted: BucketedValues::new(kind) };
        match value {
            Value::Gauge(n) | Value::Counter(n) | Value::Distribution(n) => Payload::Number(n),
            Value::Member(member) => Payload::Member(member),
            Value::Dense { buckets } => Payload::Dense(dense_bounds(buckets)),
            Value::Total { cents, reset } => {
                let process = self.0.entry(of).or_insert_with(|| new(now));
                if reset {
                    *process = new(now);
                }
                process.cents += u64::from(cents);
                Payload::Total(process.cents, start_time(series, process.start))
            }
            Value::Counted { seed, values, delta: true, .. } => {
                let mut counted = BucketedValues::new(kind);
                observe(&mut counted, seed, values);
                Payload::Delta(counted)
            }
            Value::Counted { seed, values, reset, .. } => {
                let process = self.0.entry(of).or_insert_with(|| new(now));
                if reset {
                    *process = new(now);
                }
                observe(&mut process.counted, seed, values);
                Payload::Cumulative(process.counted.clone(), start_time(series, process.start))
            }
        }
    }
}

/// Returns the start time that the process of a series reports, which differs by series.
fn start_time(series: u32, start: i64) -> StartTime {
    match series % 3 {
        0 => StartTime::Unknown,
        n => StartTime::At { start: TimestampMs(start), counts: n == 1 },
    }
}

fn observe(counted: &mut BucketedValues, seed: u64, values: u8) {
    let mut random = Random::new(seed);
    for _ in 0..values {
        counted.add(random.range(-300..2_000) as f64 / 8.0);
    }
}

/// Returns bounds so far apart that every bucket falls into a sketch bucket of its own.
fn dense_bounds(buckets: u16) -> Vec<f64> {
    (0..=buckets).map(|n| 1.05_f64.powi(i32::from(n))).collect()
}
