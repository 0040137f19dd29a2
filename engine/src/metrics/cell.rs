//! The cell of a gauge or counter: what a bucket of points comes to.
//!
//! A cell is a commutative monoid: cells of other writers, seals and tiers merge in any order to the same
//! result. That needs a sum that does not depend on the order. Decimals (nearly all measured values) are
//! summed exactly, in units of 1e-9; what is not a short decimal is summed with the rounding error carried
//! along (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974), so
//! that the sum of such values is right to the last bit unless they cancel to a 2⁻⁵⁰th of their size.

use crate::sketch::decimal_units_of;

/// A sum of finite numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    /// The sum of the decimals, in units of 1e-9.
    pub(crate) units: i128,
    /// The rounded sum of all other values.
    pub(crate) high: f64,
    /// What rounding took from `high`.
    pub(crate) low: f64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        match decimal_units_of(value) {
            Some(units) => self.units = self.units.wrapping_add(units),
            None => self.add_float(value),
        }
    }

    #[inline]
    pub(crate) fn add_units(&mut self, units: i128) {
        self.units = self.units.wrapping_add(units);
    }

    #[inline]
    pub(crate) fn add_float(&mut self, value: f64) {
        let sum = self.high + value;
        let lost = if self.high.abs() >= value.abs() {
            (self.high - sum) + value
        } else {
            (value - sum) + self.high
        };
        self.high = sum;
        self.low += lost;
    }

    #[inline]
    pub(crate) fn merge(&mut self, other: &Self) {
        self.units = self.units.wrapping_add(other.units);
        if other.high != 0.0 || other.low != 0.0 {
            self.add_float(other.high);
            self.low += other.low;
        }
    }

    /// The sum as a number; never infinite.
    pub(crate) fn value(&self) -> f64 {
        let floats = self.high + self.low;
        let value = match (self.units, floats) {
            (0, floats) => floats,
            (units, 0.0) => units_value(units),
            (units, _) => {
                let mut all = Self { units: 0, ..*self };
                all.add_float(units_value(units));
                all.high + all.low
            }
        };
        if value.is_nan() { f64::MAX } else { value.clamp(f64::MIN, f64::MAX) }
    }
}

/// `units · 1e-9`, rounded once whenever the significant digits fit a double.
pub(crate) fn units_value(mut units: i128) -> f64 {
    let mut scale = 1e9;
    while scale > 1.0 && units % 10 == 0 {
        units /= 10;
        scale /= 10.0;
    }
    if units.unsigned_abs() < 1 << 53 {
        return units as f64 / scale;
    }
    let scale_units = scale as i128;
    let (whole, part) = (units / scale_units, units % scale_units);
    whole as f64 + part as f64 / scale
}

/// What the points of one bucket come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NumberCell {
    pub(crate) count: u64,
    pub(crate) sum: Sum,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// When the latest point was.
    pub(crate) last_time: i64,
    /// The series of the latest point: of two at one time, the larger id is the later.
    pub(crate) last_series: u32,
    /// The value of the latest point.
    pub(crate) last: f64,
}

impl NumberCell {
    pub(crate) const EMPTY: Self = Self {
        count: 0,
        sum: Sum { units: 0, high: 0.0, low: 0.0 },
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        last_time: i64::MIN,
        last_series: 0,
        last: 0.0,
    };

    #[inline]
    pub(crate) fn add(&mut self, series: u32, time: i64, value: f64) {
        self.count += 1;
        self.sum.add(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.offer_last(series, time, value);
    }

    #[inline]
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.merge(&other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.offer_last(other.last_series, other.last_time, other.last);
    }

    #[inline]
    fn offer_last(&mut self, series: u32, time: i64, value: f64) {
        if (time, series) >= (self.last_time, self.last_series) {
            self.last_time = time;
            self.last_series = series;
            self.last = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ten_tenths_are_one() {
        let mut sum = Sum::default();
        (0..10).for_each(|_| sum.add(0.1));
        assert_eq!(sum.value(), 1.0);
    }

    #[test]
    fn units_become_the_nearest_double() {
        for (text, units) in
            [("0.3", 300_000_000), ("-2.25", -2_250_000_000), ("1e15", 10i128.pow(24))]
        {
            assert_eq!(units_value(units), text.parse::<f64>().unwrap(), "{text}");
        }
    }

    #[test]
    fn a_sum_beyond_all_doubles_stays_finite() {
        let mut sum = Sum::default();
        (0..4).for_each(|_| sum.add(f64::MAX));
        assert!(sum.value().is_finite());
    }

    proptest! {
        #[test]
        fn the_order_of_merging_does_not_matter(
            values in proptest::collection::vec(
                prop_oneof![-1e6..1e6f64, (-100_000i64..100_000).prop_map(|m| m as f64 / 100.0)],
                1..200,
            ),
            cut in any::<proptest::sample::Index>(),
        ) {
            let cell = |values: &[f64]| {
                let mut cell = NumberCell::EMPTY;
                values.iter().enumerate().for_each(|(i, v)| cell.add(1, i as i64, *v));
                cell
            };
            let all = cell(&values);
            let (a, b) = values.split_at(cut.index(values.len()));
            let mut reversed = cell(b);
            reversed.merge(&cell(a));
            prop_assert_eq!(reversed.sum.value(), all.sum.value());
            prop_assert_eq!((reversed.count, reversed.min, reversed.max), (all.count, all.min, all.max));
        }
    }
}
