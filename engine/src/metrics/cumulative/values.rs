//! Converts histogram buckets to a distribution: every value of a bucket is represented by one
//! value inside the bucket.
//!
//! | bucket                             | representative value                                   |
//! |------------------------------------|--------------------------------------------------------|
//! | between two bounds                 | the midpoint                                           |
//! | below the first or above the last  | the midpoint to the minimum or maximum, else the bound |
//! | without bounds                     | the midpoint of the extremes, else the mean, else zero |
//! | exponential                        | the geometric mean of its bounds                       |
//! | zero                               | zero                                                   |
//!
//! Representatives are clamped to the minimum and maximum where these are known, and one value of
//! each outer bucket is the known extreme itself.

use super::buckets::{Counts, Exponential, power};
use crate::sketch::{Distribution, ExactSum};

/// The statistics of a histogram besides its bucket counts, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct HistogramStats {
    pub(super) sum: Option<ExactSum>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
}

/// Returns the distribution that approximates bucket counts.
pub(super) fn distribution(counts: &Counts, stats: &HistogramStats) -> Distribution {
    let mut values = match counts {
        Counts::Explicit { bounds, counts } => explicit(bounds, counts, stats),
        Counts::Exponential(counts) => exponential(counts),
    };
    let (lowest, highest) = (stats.min.unwrap_or(f64::MIN), stats.max.unwrap_or(f64::MAX));
    values.iter_mut().for_each(|(value, _)| *value = value.max(lowest).min(highest));
    place_extremes(&mut values, stats);
    let mut distribution = Distribution::default();
    match &stats.sum {
        Some(sum) => distribution.add_with_sum(&values, sum),
        None => values.iter().for_each(|(value, n)| distribution.add_n(*value, *n)),
    }
    distribution
}

fn explicit(bounds: &[f64], counts: &[u64], stats: &HistogramStats) -> Vec<(f64, u64)> {
    let total: u64 = counts.iter().sum();
    let mut lower = stats.min;
    let mut upper = bounds.iter().copied().map(Some).chain([stats.max]);
    let mut values = Vec::with_capacity(counts.len() + 2);
    for n in counts {
        let above = upper.next().flatten();
        let value = match (lower, above) {
            (Some(lower), Some(upper)) => lower / 2.0 + upper / 2.0,
            (Some(bound), None) | (None, Some(bound)) => bound,
            (None, None) => stats.sum.as_ref().map_or(0.0, |sum| sum.value() / total.max(1) as f64),
        };
        if *n > 0 {
            values.push((value, *n));
        }
        lower = above;
    }
    values
}

fn exponential(counts: &Exponential) -> Vec<(f64, u64)> {
    let middle = |index: i32| power(counts.scale, f64::from(index) + 0.5).min(f64::MAX);
    let below = counts.negative.iter().rev().map(|(index, n)| (-middle(*index), *n));
    let zero = (counts.zero > 0).then_some((0.0, counts.zero));
    let above = counts.positive.iter().map(|(index, n)| (middle(*index), *n));
    below.chain(zero).chain(above).collect()
}

/// Moves one value of the first and of the last bucket to the known extreme.
fn place_extremes(values: &mut Vec<(f64, u64)>, stats: &HistogramStats) {
    if let (Some(min), Some((value, n))) = (stats.min, values.first_mut()) {
        if *n == 1 {
            *value = min;
        } else {
            *n -= 1;
            values.insert(0, (min, 1));
        }
    }
    let is_minimum_only = stats.min.is_some() && matches!(values.as_slice(), [(_, 1)]);
    if let (Some(max), Some((value, n))) = (stats.max, values.last_mut())
        && !is_minimum_only
    {
        if *n == 1 {
            *value = max;
        } else {
            *n -= 1;
            values.push((max, 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Buckets;
    use std::sync::Arc;

    fn exact_sum(sum: f64) -> Option<ExactSum> {
        let mut exact = ExactSum::default();
        exact.add(sum);
        Some(exact)
    }

    /// Checks all values of a small distribution.
    #[track_caller]
    fn check(bounds: &[f64], counts: &[u64], stats: &HistogramStats, expected: &[f64]) {
        let buckets = Buckets::Explicit { bounds: bounds.to_vec(), counts: counts.to_vec() };
        let built = distribution(&Counts::new(buckets, &mut Arc::default()), stats);
        let ranks = 1..=built.count();
        let values: Vec<f64> = ranks
            .filter_map(|r| built.quantile((r as f64 - 0.5) / expected.len() as f64))
            .collect();
        assert_eq!(values, expected);
        let sum = expected.iter().sum::<f64>();
        let sum = stats.sum.as_ref().map_or(sum, ExactSum::value);
        assert_eq!(built.sum().value(), sum);
    }

    #[test]
    fn representatives_lie_inside_their_buckets() {
        let nothing = HistogramStats::default();
        let between = |min, max| HistogramStats { min: Some(min), max: Some(max), sum: None };
        check(&[1.0, 2.0, 4.0], &[2, 1, 3, 1], &nothing, &[1.0, 1.0, 1.5, 3.0, 3.0, 3.0, 4.0]);
        check(&[1.0, 2.0], &[3, 0, 3], &between(0.0, 8.0), &[0.0, 0.5, 0.5, 5.0, 5.0, 8.0]);
        check(&[1.0, 2.0], &[0, 4, 0], &between(1.75, 1.875), &[1.75, 1.75, 1.75, 1.875]);
        check(&[1.0], &[1, 0], &between(0.25, 0.25), &[0.25]);
        check(
            &[1.0],
            &[1, 1],
            &HistogramStats { max: Some(3.0), ..HistogramStats::default() },
            &[1.0, 3.0],
        );
        check(
            &[],
            &[3],
            &HistogramStats { sum: exact_sum(6.0), ..HistogramStats::default() },
            &[2.0, 2.0, 2.0],
        );
        check(&[], &[2], &nothing, &[0.0, 0.0]);
        check(
            &[5.0],
            &[1, 2],
            &HistogramStats { sum: exact_sum(20.25), ..HistogramStats::default() },
            &[5.0, 5.0, 5.0],
        );
    }

    #[test]
    fn exponential_buckets_are_represented_by_their_geometric_mean() {
        let counts = Exponential {
            scale: 0,
            zero_threshold: 0.25,
            zero: 1,
            positive: [(1, 2), (2_000, 1)].into(),
            negative: [(-1, 1), (3, 1)].into(),
        };
        let built = distribution(&Counts::Exponential(counts), &HistogramStats::default());
        let half = std::f64::consts::SQRT_2;
        let expected = [-8.0 * half, -half / 2.0, 0.0, 2.0 * half, 2.0 * half, f64::MAX];
        for (rank, expected) in (1..).zip(expected) {
            let value = built.quantile((f64::from(rank) - 0.5) / 6.0).unwrap();
            assert!((value - expected).abs() <= expected.abs() * 1e-15, "{value} for {expected}");
        }
    }
}
