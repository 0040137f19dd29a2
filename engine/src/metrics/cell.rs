//! The cell of a gauge or counter: the aggregate of the samples in a bucket.
//!
//! Merging cells is commutative and associative: cells of several writers, seals and tiers give the
//! same result in any order. That requires a sum that does not depend on the order. Decimals
//! (nearly all measured values) are summed exactly, in units of 1e-9. Other values are summed with
//! compensation for the rounding error (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur
//! Summation endlicher Summen", 1974), so that their sum is correct to the last bit unless they
//! cancel to 2⁻⁵⁰ of their size. Huge values are summed separately, in a unit in which no sum
//! overflows: what is left after they cancel is finite, and so is their mean.

use crate::sketch::{HIGH_MIN as HUGE_MIN, HIGH_UNIT as HUGE_UNIT, decimal_units_of};

/// A sum of finite numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    /// The sum of the decimals, in units of 1e-9.
    pub(crate) units: i128,
    /// The rounded sum of all other values.
    pub(crate) high: f64,
    /// The rounding error of `high`.
    pub(crate) low: f64,
    /// The rounded sum of the values of at least 2^900, in units of 2^128.
    pub(crate) huge_high: f64,
    /// The rounding error of `huge_high`.
    pub(crate) huge_low: f64,
}

impl Sum {
    pub(crate) const ZERO: Self =
        Self { units: 0, high: 0.0, low: 0.0, huge_high: 0.0, huge_low: 0.0 };

    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        match decimal_units_of(value) {
            Some(units) => self.add_units(units),
            None => self.add_float(value),
        }
    }

    #[inline]
    pub(crate) fn add_units(&mut self, units: i128) {
        self.units = self.units.saturating_add(units);
    }

    #[inline]
    pub(crate) fn add_float(&mut self, value: f64) {
        if value.abs() < HUGE_MIN {
            add_compensated((&mut self.high, &mut self.low), value);
        } else {
            add_compensated((&mut self.huge_high, &mut self.huge_low), value / HUGE_UNIT);
        }
    }

    #[inline]
    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_units(other.units);
        if other.high != 0.0 || other.low != 0.0 {
            add_compensated((&mut self.high, &mut self.low), other.high);
            self.low += other.low;
        }
        if other.has_huge() {
            add_compensated((&mut self.huge_high, &mut self.huge_low), other.huge_high);
            self.huge_low += other.huge_low;
        }
    }

    /// Returns whether huge values were added that did not cancel out.
    #[inline]
    pub(crate) fn has_huge(&self) -> bool {
        self.huge_high != 0.0 || self.huge_low != 0.0
    }

    /// Returns the sum as a double.
    #[cfg(test)]
    pub(crate) fn value(&self) -> f64 {
        self.divided_by(1.0)
    }

    /// Returns the sum divided by `divisor`, which may be finite even when the sum is not. A
    /// quotient that overflows is clamped to `f64::MAX` with its sign.
    pub(crate) fn divided_by(&self, divisor: f64) -> f64 {
        let quotient = if self.has_huge() {
            let (mut high, mut low) = (self.huge_high, self.huge_low);
            for part in [self.high, self.low, units_value(self.units)] {
                add_compensated((&mut high, &mut low), part / HUGE_UNIT);
            }
            (high + low) / divisor * HUGE_UNIT
        } else {
            self.without_huge() / divisor
        };
        quotient.clamp(f64::MIN, f64::MAX)
    }

    fn without_huge(&self) -> f64 {
        let floats = self.high + self.low;
        match (self.units, floats) {
            (0, floats) => floats,
            (units, 0.0) => units_value(units),
            (units, _) => {
                let (mut high, mut low) = (self.high, self.low);
                add_compensated((&mut high, &mut low), units_value(units));
                high + low
            }
        }
    }

    /// Repairs a sum that overflowed when it was written, as in cell blocks of version 1: it
    /// becomes a huge value with the known sign.
    pub(crate) fn repair_overflow(&mut self) {
        if !self.high.is_finite() || !self.low.is_finite() {
            let side = if self.high.is_infinite() { f64::MAX.copysign(self.high) } else { 0.0 };
            *self = Self { units: self.units, huge_high: side / HUGE_UNIT, ..Self::ZERO };
        }
    }
}

/// Adds `value` to the rounded sum `high`, and the rounding error to `low`.
#[inline]
fn add_compensated((high, low): (&mut f64, &mut f64), value: f64) {
    let sum = *high + value;
    let lost =
        if high.abs() >= value.abs() { (*high - sum) + value } else { (value - sum) + *high };
    *high = sum;
    *low += lost;
}

/// Returns `units · 1e-9`, rounded only once if the significant digits fit a double.
pub(crate) fn units_value(mut units: i128) -> f64 {
    let mut scale = 1e9;
    loop {
        // A division of 128 bits takes ten times as long as one of 64, and few sums need it.
        if let Ok(units) = i64::try_from(units) {
            return quotient(units, scale);
        }
        if scale == 1.0 || units % 10 != 0 {
            break;
        }
        units /= 10;
        scale /= 10.0;
    }
    let scale_units = scale as i128;
    let (whole, part) = (units / scale_units, units % scale_units);
    whole as f64 + part as f64 / scale
}

/// Returns `units / scale`, rounded only once if the significant digits fit a double. `scale` is a
/// power of ten, at most 1e9.
fn quotient(mut units: i64, mut scale: f64) -> f64 {
    while scale > 1.0 && units % 10 == 0 {
        units /= 10;
        scale /= 10.0;
    }
    if units.unsigned_abs() < 1 << 53 {
        return units as f64 / scale;
    }
    let scale_units = scale as i64;
    let (whole, part) = (units / scale_units, units % scale_units);
    whole as f64 + part as f64 / scale
}

/// The aggregate of the samples of one bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NumberCell {
    pub(crate) count: u64,
    pub(crate) sum: Sum,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The time of the latest sample.
    pub(crate) last_time: i64,
    /// The series of the latest sample. Of two at one time, that of the larger id is the latest.
    pub(crate) last_series: u32,
    /// The value of the latest sample.
    pub(crate) last: f64,
}

impl NumberCell {
    pub(crate) const EMPTY: Self = Self {
        count: 0,
        sum: Sum::ZERO,
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
    fn ten_times_one_tenth_is_one() {
        let mut sum = Sum::default();
        (0..10).for_each(|_| sum.add(0.1));
        assert_eq!(sum.value(), 1.0);
    }

    #[test]
    fn units_are_converted_to_the_nearest_double() {
        for (decimal, units) in [
            ("0.3", 300_000_000),
            ("-2.25", -2_250_000_000),
            ("1e15", 10i128.pow(24)),
            ("1e27", 10i128.pow(36)),
            ("9223372036.854775807", i128::from(i64::MAX)),
            ("-9223372036.854775809", i128::from(i64::MIN) - 1),
        ] {
            assert_eq!(units_value(units), decimal.parse::<f64>().unwrap(), "{decimal}");
        }
    }

    fn sum_of(values: &[f64]) -> Sum {
        let mut sum = Sum::ZERO;
        values.iter().for_each(|value| sum.add(*value));
        sum
    }

    #[test]
    fn an_overflowing_sum_is_clamped_and_keeps_its_sign() {
        for sign in [1.0, -1.0] {
            let sum = sum_of(&[sign * f64::MAX; 4]);
            assert_eq!(sum.value(), sign * f64::MAX);
            assert_eq!(sum.divided_by(4.0), sign * f64::MAX);
            assert_eq!(sum_of(&[sign * 1e308; 4]).divided_by(4.0), sign * 1e308);
        }
        assert_eq!(sum_of(&[1e-3; 2]).divided_by(1e-311), f64::MAX);
    }

    #[test]
    fn a_repaired_sum_is_clamped_to_the_largest_double() {
        for (high, expected) in
            [(f64::INFINITY, f64::MAX), (f64::NEG_INFINITY, f64::MIN), (f64::NAN, 1.0), (2.5, 3.5)]
        {
            let low = if high.is_finite() { 0.0 } else { f64::NAN };
            let mut sum = Sum { units: 1_000_000_000, high, low, ..Sum::ZERO };
            sum.repair_overflow();
            assert_eq!(sum.value(), expected, "{high}");
        }
    }

    /// A sum of doubles as an integer, in units of 2^-1074.
    struct ExactInteger([i64; 80]);

    impl ExactInteger {
        fn of(values: impl Iterator<Item = f64>) -> Self {
            let mut sum = Self([0; 80]);
            for value in values {
                let bits = value.to_bits();
                let biased = (bits >> 52 & 0x7ff) as usize;
                let fraction = bits & ((1 << 52) - 1);
                let (significand, shift) =
                    if biased == 0 { (fraction, 0) } else { (fraction | 1 << 52, biased - 1) };
                let sign = if value < 0.0 { -1 } else { 1 };
                let mut limbs = u128::from(significand) << (shift % 32);
                for limb in &mut sum.0[shift / 32..] {
                    *limb += sign * (limbs & 0xffff_ffff) as i64;
                    limbs >>= 32;
                }
            }
            sum
        }

        /// Returns approximately the nearest double, in units of 2^200: each limb is rounded once.
        fn value(&self) -> f64 {
            // Limbs have either sign, so the carries are propagated upward first.
            let mut carry = 0;
            let mut limbs = self.0.map(|limb| {
                let sum = limb + carry;
                carry = sum >> 32;
                sum & 0xffff_ffff
            });
            let negative = carry < 0;
            if negative {
                let mut carry = 1;
                limbs = limbs.map(|limb| {
                    let sum = (!limb & 0xffff_ffff) + carry;
                    carry = sum >> 32;
                    sum & 0xffff_ffff
                });
            }
            let value = limbs.iter().enumerate().rev().fold(0.0, |sum, (i, limb)| {
                let exponent = i as i32 * 32 - 1074 - 200;
                sum + *limb as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
            });
            if negative { -value } else { value }
        }
    }

    fn any_magnitude() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => (-1.0..1.0f64).prop_map(|v| v * f64::MAX),
            2 => prop::sample::select(vec![1e308, -1e308, f64::MAX, f64::MIN, 1e292, -1e271, 1e270]),
            1 => (-1.0..1.0f64).prop_map(|v| v * 1e290),
            1 => -1e6..1e6f64,
            1 => (-1000i64..1000).prop_map(|m| m as f64 / 100.0),
        ]
    }

    proptest! {
        #[test]
        fn sums_of_any_magnitude_match_exact_integer_sums(
            values in proptest::collection::vec(any_magnitude(), 1..40),
            cut in any::<proptest::sample::Index>(),
        ) {
            let (a, b) = values.split_at(cut.index(values.len()));
            let mut sum = sum_of(a);
            sum.merge(&sum_of(b));
            let unit = 2f64.powi(-200);
            let exact = ExactInteger::of(values.iter().copied()).value();
            let size = ExactInteger::of(values.iter().map(|v| v.abs())).value();
            // A decimal is summed as it is written, not as its nearest double.
            let is_decimal = |v: &f64| decimal_units_of(*v).is_some();
            let decimals = values.iter().copied().filter(is_decimal).map(f64::abs);
            let decimals = ExactInteger::of(decimals).value();
            let near = |got: f64, wanted: f64, size: f64| {
                let error = size * 2f64.powi(-95) + decimals * 2f64.powi(-52);
                (got - wanted).abs() <= wanted.abs() * 2f64.powi(-51) + error
            };
            let n = values.len() as f64;
            let mean = sum.divided_by(n) * unit;
            prop_assert!(near(mean, exact / n, size), "{mean:e} instead of {:e}", exact / n);
            let largest = f64::MAX * unit;
            let got = sum.value() * unit;
            let wanted = exact.clamp(-largest, largest);
            prop_assert!(near(got, wanted, size), "{got:e} instead of {wanted:e}");
        }

        #[test]
        fn the_order_of_merging_does_not_change_the_result(
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
