//! Reference implementation of what a process counts, of the delta between cumulative samples, and
//! of the values that represent a histogram.

use std::collections::BTreeMap;

use telltale_engine::{Buckets, Histogram, Span, StartTime};

pub(crate) const BOUNDS: [f64; 4] = [-1.0, 0.5, 2.0, 10.0];

/// Values counted in buckets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BucketedValues {
    pub(crate) buckets: BucketCounts,
    pub(crate) sum: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BucketCounts {
    Explicit([u64; BOUNDS.len() + 1]),
    /// The scale, and counts by sign and index; sign and index are 0 for the value zero.
    Exponential(i32, BTreeMap<(i8, i32), u64>),
}

impl BucketedValues {
    /// Returns an empty histogram. Its kind of buckets depends on the host.
    pub(crate) fn new(host: u8) -> Self {
        let buckets = match host % 2 {
            0 => BucketCounts::Explicit([0; BOUNDS.len() + 1]),
            _ => BucketCounts::Exponential(3, BTreeMap::new()),
        };
        Self { buckets, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }

    pub(crate) fn add(&mut self, value: f64) {
        (self.sum, self.min, self.max) =
            (self.sum + value, self.min.min(value), self.max.max(value));
        match &mut self.buckets {
            BucketCounts::Explicit(counts) => counts[BOUNDS.partition_point(|b| *b < value)] += 1,
            BucketCounts::Exponential(scale, counts) => {
                let index = value.abs().log2() * f64::from(1 << *scale);
                let sign = if value == 0.0 { 0 } else { value.signum() as i8 };
                let index = if sign == 0 { 0 } else { index.ceil() as i32 - 1 };
                *counts.entry((sign, index)).or_default() += 1;
            }
        }
    }

    pub(crate) fn count(&self) -> u64 {
        match &self.buckets {
            BucketCounts::Explicit(counts) => counts.iter().sum(),
            BucketCounts::Exponential(_, counts) => counts.values().sum(),
        }
    }

    pub(crate) fn coarsen(&mut self) {
        if let BucketCounts::Exponential(scale, counts) = &mut self.buckets
            && *scale > 0
        {
            *scale -= 1;
            let mut folded = BTreeMap::new();
            for ((sign, index), n) in std::mem::take(counts) {
                *folded.entry((sign, index.div_euclid(2))).or_default() += n;
            }
            *counts = folded;
        }
    }

    pub(crate) fn scale(&self) -> i32 {
        if let BucketCounts::Exponential(scale, _) = &self.buckets { *scale } else { 0 }
    }

    /// Returns the delta since `before` at the coarser of their scales, or `None` after a counter
    /// reset.
    pub(crate) fn delta_since(&self, before: &Self) -> Option<Self> {
        let (mut now, mut before) = (self.clone(), before.clone());
        while now.scale() > before.scale() {
            now.coarsen();
        }
        while before.scale() > now.scale() {
            before.coarsen();
        }
        match (&mut now.buckets, &before.buckets) {
            (BucketCounts::Explicit(now), BucketCounts::Explicit(before)) => {
                for (n, before) in now.iter_mut().zip(before) {
                    *n = n.checked_sub(*before)?;
                }
            }
            (BucketCounts::Exponential(_, now), BucketCounts::Exponential(_, before)) => {
                for (bucket, n) in before {
                    let left = now.get(bucket)?.checked_sub(*n)?;
                    now.insert(*bucket, left);
                }
            }
            _ => return None,
        }
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Some(Self { sum: self.sum - before.sum, min, max, ..now })
    }

    /// Returns the histogram that is sent.
    pub(crate) fn histogram(&self) -> Histogram {
        let buckets = match &self.buckets {
            BucketCounts::Explicit(counts) => {
                Buckets::Explicit { bounds: BOUNDS.to_vec(), counts: counts.to_vec() }
            }
            BucketCounts::Exponential(scale, counts) => {
                let span = |wanted: i8| {
                    let of: Vec<_> =
                        counts.iter().filter(|((sign, _), _)| *sign == wanted).collect();
                    let (Some(((_, first), _)), Some(((_, last), _))) = (of.first(), of.last())
                    else {
                        return Span::default();
                    };
                    let mut span = vec![0; (last - first) as usize + 1];
                    of.iter().for_each(|((_, index), n)| span[(index - first) as usize] = **n);
                    Span { offset: *first, counts: span }
                };
                Buckets::Exponential {
                    scale: *scale,
                    zero_threshold: 0.0,
                    zero: counts.get(&(0, 0)).copied().unwrap_or(0),
                    positive: span(1),
                    negative: span(-1),
                }
            }
        };
        let extremes = (Some(self.min), Some(self.max));
        Histogram::new(self.count(), Some(self.sum), extremes.0, extremes.1, buckets).unwrap()
    }

    /// Returns the values that represent the buckets, ascending.
    pub(crate) fn representative_values(&self) -> Vec<f64> {
        let mut values = Vec::new();
        let mut push = |value: f64, n: u64| {
            let value = if self.min <= self.max { value.clamp(self.min, self.max) } else { value };
            values.extend(std::iter::repeat_n(value, n as usize));
        };
        match &self.buckets {
            BucketCounts::Explicit(counts) => {
                let finite = |v: f64, other: f64| if v.is_finite() { v } else { other };
                let first = (finite(self.min, BOUNDS[0]) + BOUNDS[0]) / 2.0;
                push(first, counts[0]);
                for (pair, n) in BOUNDS.windows(2).zip(&counts[1..]) {
                    push((pair[0] + pair[1]) / 2.0, *n);
                }
                let last = BOUNDS[BOUNDS.len() - 1];
                push((finite(self.max, last) + last) / 2.0, counts[BOUNDS.len()]);
            }
            BucketCounts::Exponential(scale, counts) => {
                for ((sign, index), n) in counts {
                    let middle = 2f64.powf((f64::from(*index) + 0.5) / f64::from(1 << *scale));
                    push(f64::from(*sign) * middle, *n);
                }
            }
        }
        values.sort_by(f64::total_cmp);
        if self.min <= self.max && !values.is_empty() {
            let last = values.len() - 1;
            (values[last], values[0]) = (self.max, self.min);
        }
        values
    }
}

/// What a cumulative sample adds.
pub(crate) enum Verdict<T> {
    Late,
    Nothing,
    /// The delta, or `None` if the whole cumulative value counts.
    Added(Option<T>),
}

/// Decides what a cumulative sample adds, given the one before it.
pub(crate) fn classify<B, T>(
    before: Option<(i64, B)>,
    time: i64,
    start_time: StartTime,
    delta: impl FnOnce(&B) -> Option<T>,
) -> Verdict<T> {
    match (before, start_time) {
        (None, StartTime::At { counts: true, .. }) => Verdict::Added(None),
        (None, _) => Verdict::Nothing,
        (Some((last, _)), _) if time <= last => Verdict::Late,
        (Some((last, _)), StartTime::At { start, .. }) if start.0 > last => Verdict::Added(None),
        (Some((_, before)), _) => Verdict::Added(delta(&before)),
    }
}
