//! The expected value of an aggregation over stored values, and its tolerance.

use std::collections::BTreeSet;

use telltale_engine::{Aggregation, MetricType};

use super::model::Stored;

/// Maximum number of values of a bucket for which percentiles are exact.
const EXACT_VALUES_MAX: usize = 64;

/// The acceptable results.
#[derive(Debug)]
pub(crate) struct Expected {
    /// One of these: of samples at the same time in several series, any may be the last.
    pub(crate) any_of: Vec<f64>,
    tolerance: f64,
}

impl Expected {
    pub(crate) fn accepts(&self, actual: f64) -> bool {
        self.any_of.iter().any(|value| (value - actual).abs() <= self.tolerance)
    }
}

fn exactly(value: f64) -> Expected {
    within(value, 0.0)
}

fn within(value: f64, tolerance: f64) -> Expected {
    Expected { any_of: vec![value], tolerance }
}

/// The contents of a bucket.
#[derive(Debug)]
pub(crate) struct Bucket<'a> {
    stored: &'a [&'a Stored],
    /// Sorted.
    values: Vec<f64>,
    sum: f64,
    /// The rounding error of a sum.
    rounding: f64,
}

impl<'a> Bucket<'a> {
    pub(crate) fn new(stored: &'a [&'a Stored]) -> Self {
        let mut values: Vec<f64> = stored.iter().flat_map(|s| &s.values).copied().collect();
        values.sort_by(f64::total_cmp);
        let sum: f64 = stored.iter().map(|s| s.sum).sum();
        let size: f64 = values.iter().map(|v| v.abs()).sum::<f64>() + sum.abs();
        Self { stored, values, sum, rounding: size * 1e-12 + 1e-9 }
    }

    /// Returns the expected value for the part of the bucket within the queried range, which is
    /// `seconds` long.
    pub(crate) fn expected(
        &self,
        kind: MetricType,
        aggregation: Aggregation,
        seconds: f64,
    ) -> Expected {
        let Self { stored, values, sum, rounding } = self;
        if kind == MetricType::Set {
            let members: BTreeSet<_> = stored.iter().filter_map(|stored| stored.member).collect();
            return exactly(members.len() as f64);
        }
        let near = |value: f64| within(value, value.abs() * 1e-12);
        match aggregation {
            Aggregation::Last => {
                let latest = stored.iter().map(|s| s.time).max();
                let last = stored.iter().filter(|s| Some(s.time) == latest);
                Expected { any_of: last.map(|s| s.sum).collect(), tolerance: 0.0 }
            }
            Aggregation::Sum => within(*sum, *rounding),
            Aggregation::Rate => within(sum / seconds, rounding / seconds),
            Aggregation::Avg => within(sum / values.len() as f64, *rounding),
            Aggregation::Min => near(values[0]),
            Aggregation::Max => near(values[values.len() - 1]),
            Aggregation::Count => exactly(values.len() as f64),
            percentile => {
                let rank =
                    (percentile.quantile().unwrap() * values.len() as f64 - 1e-9).ceil().max(1.0);
                let value = values[rank as usize - 1];
                if values.len() <= EXACT_VALUES_MAX {
                    return near(value);
                }
                within(value, value.abs() * 0.01 + 1e-7)
            }
        }
    }
}
