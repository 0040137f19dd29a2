//! An exact sum of `f64`: additions do not round, so that the result does not depend on order or
//! grouping.
//!
//! Measured values are mostly decimals. Ten times `0.1` must be `1.0`, which no sum of binary
//! fractions gives. A value that is the nearest `f64` of a short decimal is therefore added as that
//! decimal, in an integer; any other value, a result of floating-point arithmetic, is added exactly
//! as the binary fraction that it is.
//!
//! ```text
//! value ──┬─ decimal ────────────► units: i128, in units of 1e-9
//!         └─ binary ─┬─ |v| < 2^900 ─► low:  partials
//!                    └─ otherwise ───► high: partials, in units of 2^128
//! *Decimal.* Every whole number under 2^53 is decimal. For any other v let k be the largest of
//! 1..=9 with |v|·10^k < 2^51 and m the integer nearest to v·10^k; v is decimal when
//! `m / 10^k == v`. It adds m·10^(9-k) units. Under 2^51 doubles are closer together than multiples
//! of 10^-k, so m is the only such integer, and the rounding of v and of the product are together
//! less than a half, so m is found. Every number of at most nine decimal places and 15 significant
//! digits is thus read as the user wrote it, and code that has v as `m / 10^k` with k ≤ 9 and |m| <
//! 2^51 can add m·10^(9-k) units directly. A value adds less than 2^83 units, so 2^44 additions of
//! the largest value fit; beyond that the units saturate.
//!
//! *Binary.* Partials are doubles that do not overlap and whose exact sum is the sum (Shewchuk
//! 1997, the method of Python's `math.fsum`). High values have a separate list, scaled down,
//! because a partial near `f64::MAX` would overflow; which list a value is added to depends only on
//! the value. So even 2^60 additions of `f64::MAX` are exact. Only [`ExactSum::value`] saturates,
//! at `f64::MAX`.
//!
//! *Stored form.* The units, and the components: S is written as c1 = S rounded to `f64`, c2 = S −
//! c1 rounded, and so on until the remainder is zero. That sequence depends on S alone, while
//! partials depend on the order of additions. The components of the high list come first,
//! terminated by an infinity:
//!
//! ```text
//! []                      all values were decimal, or the binary ones cancelled out
//! [c1, c2, ...]           low
//! [h1, h2, ..., inf, c1, ...]  high in units of 2^128, then low
//! ```

use super::{SketchError, SketchResult};
use crate::cast::integer_part;

/// The units per 1.0 of the decimal part.
const UNITS_PER_ONE: i128 = 1_000_000_000;
/// The decimal places of the decimal part.
const PLACES: usize = 9;
/// The powers 10^k as `f64`, all exact.
const POWERS: [f64; PLACES + 1] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// The units per last decimal place of a number with k decimal places.
const UNITS_OF_PLACE: [i64; PLACES + 1] =
    [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
/// Below this bound doubles distinguish quarters, so that v·10^k can be rounded reliably.
const SCALED_MAX: f64 = power_of_two(51);
/// From here on adjacent doubles are at least one apart.
const WHOLE_MIN: f64 = power_of_two(52);
/// From here on not every whole number is a double.
const SPARSE_MIN: f64 = power_of_two(53);
/// Binary values of at least this magnitude join the high list; sums of 2^64 smaller ones do not
/// overflow.
pub(crate) const HIGH_MIN: f64 = power_of_two(900);
/// The unit of the high list; sums of 2^64 of the largest doubles do not overflow in it.
pub(crate) const HIGH_UNIT: f64 = power_of_two(128);
/// An upper bound of the sums of 2^64 values in either list; merged parts must not overflow.
const COMPONENT_MAX: f64 = power_of_two(970);

const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent).cast_unsigned() as u64) << 52)
}

/// Returns the units of 1e-9 that `v` adds to the decimal part of a sum; `None` when it is not
/// decimal.
#[inline]
pub(crate) fn decimal_units_of(v: f64) -> Option<i128> {
    // Whole numbers are frequent and need no division. The cast saturates and turns NaN into 0.
    let whole = integer_part(v);
    if whole as f64 == v && v.abs() < SPARSE_MIN {
        return Some(i128::from(whole) * UNITS_PER_ONE);
    }
    let (k, scaled) = scale(v)?;
    // Adding 2^52 leaves no bits for a fraction; this rounds without a call into the C library.
    let shift = WHOLE_MIN.copysign(scaled);
    let m = (scaled + shift) - shift;
    (m / POWERS[k] == v).then(|| i128::from(integer_part(m)) * i128::from(UNITS_OF_PLACE[k]))
}

/// Returns the largest k with |v|·10^k < 2^51, and v·10^k; `None` when even k = 1 is too large.
#[inline]
fn scale(v: f64) -> Option<(usize, f64)> {
    let most = v * POWERS[PLACES];
    if most.abs() < SCALED_MAX {
        return Some((PLACES, most));
    }
    (1..PLACES).rev().map(|k| (k, v * POWERS[k])).find(|(_, scaled)| scaled.abs() < SCALED_MAX)
}

/// A sum of finite `f64` that is exact and independent of the order of additions.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactSum {
    units: i128,
    /// `None` until the first binary value; most sums take only 32 bytes and no allocation.
    binary: Option<Box<Binary>>,
}

#[derive(Clone, Debug, Default)]
struct Binary {
    low: Partials,
    high: Partials,
}

impl ExactSum {
    /// An upper bound of the number of components: the low list spans less than 2,045 bits, the
    /// high one less than 245, and each component covers at least 53.
    pub(crate) const COMPONENTS_MAX: usize = 64;

    /// Adds one value, which must be finite.
    #[inline]
    pub(crate) fn add(&mut self, v: f64) {
        match decimal_units_of(v) {
            Some(units) => self.units = self.units.saturating_add(units),
            None => self.add_binary(v),
        }
    }

    /// Adds one value `n` times.
    pub(crate) fn add_n(&mut self, v: f64, n: u64) {
        match decimal_units_of(v) {
            Some(units) => {
                self.units = self.units.saturating_add(units.saturating_mul(i128::from(n)));
            }
            None => {
                let (partials, v) = self.binary_for(v);
                // A product with n may need more than 53 bits; products with its powers of two do
                // not.
                for bit in (0..64).filter(|bit| n >> bit & 1 == 1) {
                    partials.add(v * power_of_two(bit));
                }
            }
        }
    }

    fn add_binary(&mut self, v: f64) {
        let (partials, v) = self.binary_for(v);
        partials.add(v);
    }

    /// Returns the partials that `v` is added to, and `v` in their unit.
    fn binary_for(&mut self, v: f64) -> (&mut Partials, f64) {
        assert!(v.is_finite(), "values are checked to be finite before they are added; got {v}");
        let binary = self.binary.get_or_insert_default();
        if v.abs() < HIGH_MIN { (&mut binary.low, v) } else { (&mut binary.high, v / HIGH_UNIT) }
    }

    /// Adds all values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.units = self.units.saturating_add(other.units);
        if let Some(theirs) = &other.binary {
            let ours = self.binary.get_or_insert_default();
            ours.low.add_all(&theirs.low.0);
            ours.high.add_all(&theirs.high.0);
        }
    }

    /// Returns the sum rounded to the nearest `f64`; `f64::MAX` with the sign of the sum when that
    /// would be infinite. Without binary values the rounding is always correct; with them, the
    /// decimal part contributes 97 significant bits.
    pub(crate) fn value(&self) -> f64 {
        let (rounded, unit) = self.rounded();
        (rounded * unit).clamp(f64::MIN, f64::MAX)
    }

    /// Returns the sum divided by `count`; finite even when the sum is not.
    pub(crate) fn mean(&self, count: u64) -> f64 {
        let (rounded, unit) = self.rounded();
        (rounded / count as f64 * unit).clamp(f64::MIN, f64::MAX)
    }

    /// Returns the sum rounded to the nearest `f64` in a unit in which it is finite, and that unit.
    fn rounded(&self) -> (f64, f64) {
        let (head, tail) = decimal_pair(self.units);
        let Some(binary) = &self.binary else {
            return (head, 1.0);
        };
        if binary.high.is_empty() {
            let mut total = binary.low.clone();
            total.add_all(&[tail, head]);
            return (total.rounded(), 1.0);
        }
        let mut total = binary.high.clone();
        for part in binary.low.0.iter().chain(&[tail, head]) {
            total.add(part / HIGH_UNIT);
        }
        (total.rounded(), HIGH_UNIT)
    }

    /// Returns the decimal part, in units of 1e-9.
    pub(crate) fn decimal_units(&self) -> i128 {
        self.units
    }

    /// Returns the components of the binary part, as described for the stored form above. Empty
    /// when all values were decimal.
    pub(crate) fn components(&self) -> Vec<f64> {
        let Some(binary) = &self.binary else {
            return Vec::new();
        };
        let mut components = binary.high.canonical();
        if !components.is_empty() {
            components.push(f64::INFINITY);
        }
        components.extend(binary.low.canonical());
        components
    }

    /// Creates the sum with these parts. Fails for components that [`Self::components`] cannot
    /// return.
    pub(crate) fn from_parts(units: i128, components: &[f64]) -> SketchResult<Self> {
        if components.is_empty() {
            return Ok(Self { units, binary: None });
        }
        if components.len() > Self::COMPONENTS_MAX {
            return Err(SketchError::Inconsistent("a sum has too many components"));
        }
        let (high, low) = match components.iter().position(|&c| c == f64::INFINITY) {
            Some(separator) => (&components[..separator], &components[separator + 1..]),
            None => (&components[..0], components),
        };
        if high.iter().chain(low).any(|c| c.is_nan() || c.abs() >= COMPONENT_MAX) {
            return Err(SketchError::Inconsistent("a component of a sum is out of range"));
        }
        let mut binary = Binary::default();
        binary.high.add_all(high);
        binary.low.add_all(low);
        let sum = Self { units, binary: Some(Box::new(binary)) };
        if sum.components().iter().map(|c| c.to_bits()).eq(components.iter().map(|c| c.to_bits())) {
            Ok(sum)
        } else {
            Err(SketchError::Inconsistent("the components of a sum overlap"))
        }
    }
}

/// Sums are equal when their stored forms are.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        self.units == other.units && self.components() == other.components()
    }
}

/// Returns `units`·1e-9 as the nearest double, and the remainder as the nearest double.
fn decimal_pair(units: i128) -> (f64, f64) {
    let magnitude = units.unsigned_abs();
    if magnitude == 0 {
        return (0.0, 0.0);
    }
    let shift = magnitude.leading_zeros();
    let dividend = magnitude << shift;
    let divisor = UNITS_PER_ONE.unsigned_abs();
    // The quotient has 98 bits, far more than a double. Setting its last bit when there is a
    // remainder makes the conversion round as it would with all digits.
    let quotient = (dividend / divisor) | u128::from(!dividend.is_multiple_of(divisor));
    let head = quotient as f64;
    #[expect(clippy::cast_possible_truncation, reason = "the quotient has 98 bits")]
    let rounded = head as i128;
    let tail = (quotient.cast_signed() - rounded) as f64;
    let scale = if units < 0 {
        -power_of_two(-shift.cast_signed())
    } else {
        power_of_two(-shift.cast_signed())
    };
    (head * scale, tail * scale)
}

/// Nonzero doubles in ascending order of magnitude without overlapping bits; their exact sum is the
/// state.
#[derive(Clone, Debug, Default)]
struct Partials(Vec<f64>);

impl Partials {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, mut x: f64) {
        let mut kept = 0;
        for i in 0..self.0.len() {
            let y = self.0[i];
            // Knuth's two-sum: `high + low` is exactly `x + y`, whichever is larger.
            let high = x + y;
            let of_y = high - x;
            let low = (x - (high - of_y)) + (y - of_y);
            if low != 0.0 {
                self.0[kept] = low;
                kept += 1;
            }
            x = high;
        }
        self.0.truncate(kept);
        if x != 0.0 {
            self.0.push(x);
        }
    }

    fn add_all(&mut self, values: &[f64]) {
        for &v in values {
            self.add(v);
        }
    }

    /// Returns the sum rounded to the nearest double, ties to even.
    fn rounded(&self) -> f64 {
        let Some((&top, mut rest)) = self.0.split_last() else {
            return 0.0;
        };
        let mut high = top;
        while let Some((&next, lower)) = rest.split_last() {
            rest = lower;
            let before = high;
            high = before + next;
            let low = next - (high - before);
            if low != 0.0 {
                // `high` was rounded. If it was a tie, a further partial with the sign of `low`
                // breaks it.
                if lower.last().is_some_and(|below| (*below < 0.0) == (low < 0.0)) {
                    let twice = low * 2.0;
                    let away = high + twice;
                    if away - high == twice {
                        high = away;
                    }
                }
                break;
            }
        }
        high
    }

    fn canonical(&self) -> Vec<f64> {
        if self.0.len() < 2 {
            return self.0.clone();
        }
        let mut rest = self.clone();
        let mut components = Vec::with_capacity(self.0.len());
        while !rest.is_empty() {
            let component = rest.rounded();
            components.push(component);
            rest.add(-component);
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum_of(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        for &v in values {
            sum.add(v);
        }
        sum
    }

    fn stored(sum: &ExactSum) -> (i128, Vec<u64>) {
        (sum.decimal_units(), sum.components().iter().map(|c| c.to_bits()).collect())
    }

    /// Generates finite doubles: decimals, whole numbers, all binary exponents.
    fn any_value() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-1_000_000_000i64..1_000_000_000, 0..=9usize).prop_map(|(m, k)| m as f64 / POWERS[k]),
            (-1.0e9f64..1.0e9),
            (0.0f64..1.0),
            any::<f64>().prop_filter("finite", |v| v.is_finite()),
            Just(f64::MAX),
            Just(f64::MIN),
            Just(f64::MIN_POSITIVE),
            Just(5e-324),
            Just(-0.0),
        ]
    }

    /// Generates values whose sums fit an `i128` in units of 2^-40.
    fn narrow_binary() -> impl Strategy<Value = f64> {
        (-(1i64 << 52)..(1i64 << 52), -40..20i32).prop_map(|(m, e)| m as f64 * power_of_two(e))
    }

    #[test]
    fn decimals_add_up_exactly() {
        assert_eq!(sum_of(&[0.1; 10]).value(), 1.0);
        assert_eq!(sum_of(&[0.1, 0.2, -0.3]).value(), 0.0);
        assert_eq!(sum_of(&[19.99; 100]).value(), 1999.0);
        assert_eq!(sum_of(&[1e15, 0.001, -1e15]).value(), 0.001);
        // A double cannot represent the tenths of this number exactly; the shortest decimal is
        // meant.
        assert_eq!(sum_of(&[8_388_608.1; 10]).value(), 83_886_081.0);
    }

    #[test]
    fn short_decimals_are_recognized() {
        let check =
            |v: f64, expected: Option<i128>| assert_eq!(decimal_units_of(v), expected, "{v:e}");
        check(0.0, Some(0));
        check(-0.0, Some(0));
        check(1.5, Some(1_500_000_000));
        check(-0.000_000_001, Some(-1));
        check(1e-10, None);
        check(1.0 / 3.0, None);
        check(0.1 + 0.2, None);
        check(9_007_199_254_740_991.0, Some(9_007_199_254_740_991_000_000_000));
        check(9_007_199_254_740_992.0, None);
        check(-9_007_199_254_740_991.0, Some(-9_007_199_254_740_991_000_000_000));
        check(4_503_599_627_370_495.5, None);
        check(123_456.789_012_345, Some(123_456_789_012_345));
        check(123_456_789_012.345, Some(123_456_789_012_345_000_000));
        check(f64::MAX, None);
        check(f64::INFINITY, None);
        check(f64::NAN, None);
    }

    #[test]
    fn the_largest_doubles_cancel_exactly_and_only_the_value_saturates() {
        let mut sum = sum_of(&[f64::MAX, f64::MAX, f64::MAX, 1e-310]);
        assert_eq!(sum.value(), f64::MAX);
        assert_eq!(sum_of(&[f64::MIN, f64::MIN]).value(), f64::MIN);
        assert_eq!(sum.components().iter().filter(|c| c.is_infinite()).count(), 1);
        sum.merge(&sum_of(&[f64::MIN, f64::MIN, f64::MIN]));
        assert_eq!(sum.components(), [1e-310]);
        assert_eq!(sum_of(&[f64::MAX]).value(), f64::MAX);
        let mut many = ExactSum::default();
        many.add_n(f64::MAX, u64::MAX);
        assert!(many.components().len() <= 4);
        assert_eq!(ExactSum::from_parts(0, &many.components()).unwrap(), many);
    }

    #[test]
    fn a_mean_is_finite_where_the_sum_is_not() {
        assert_eq!(sum_of(&[-1e308; 4]).mean(4), -1e308);
        assert_eq!(sum_of(&[1e308, 1e308, 1e308, 0.0]).mean(4), 7.5e307);
        assert_eq!(sum_of(&[0.1; 10]).mean(10), 0.1);
    }

    /// Compares with the results of Python's `math.fsum`.
    #[test]
    fn values_agree_with_fsum() {
        let check = |values: &[f64], expected: f64| {
            assert_eq!(sum_of(values).value(), expected, "{values:?}")
        };
        check(&[1e100, 1.0 / 3.0, -1e100], 1.0 / 3.0);
        check(&[1e16 + 2.0, 1.0 + 2e-16, 1e-30], 1.000_000_000_000_000_4e16);
        check(&[2.0f64.powi(53), -0.5, -2.0f64.powi(-54)], 9_007_199_254_740_991.0);
        check(&[1e308, 1e308, -1e308], 1e308);
    }

    #[test]
    fn more_components_than_a_sum_can_have_are_refused() {
        let too_many = Err(SketchError::Inconsistent("a sum has too many components"));
        let read = |count: usize| ExactSum::from_parts(0, &vec![1.0; count]).map(drop);
        assert_eq!(read(ExactSum::COMPONENTS_MAX + 1), too_many);
        assert_ne!(read(ExactSum::COMPONENTS_MAX), too_many);
    }

    #[test]
    fn components_that_no_sum_has_are_refused() {
        let refused = |components: &[f64]| {
            assert!(ExactSum::from_parts(0, components).is_err(), "{components:?}");
        };
        refused(&[0.0]);
        refused(&[-0.0]);
        refused(&[f64::NAN]);
        refused(&[f64::NEG_INFINITY]);
        refused(&[f64::INFINITY]);
        refused(&[1.0, f64::INFINITY, f64::INFINITY]);
        refused(&[f64::MAX]);
        refused(&[1.0, 1.0]);
        refused(&[1e-30, 1.0]);
        assert!(ExactSum::from_parts(i128::MIN, &[1.0, 1e-30]).is_ok());
    }

    #[test]
    fn units_saturate() {
        let mut sum = ExactSum::from_parts(i128::MAX, &[]).unwrap();
        sum.add(1.0);
        assert_eq!(sum.decimal_units(), i128::MAX);
        assert!((sum.value() - 1.7e29).abs() < 1e28);
        assert!(ExactSum::from_parts(i128::MIN, &[]).unwrap().value() < -1.7e29);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_sum_does_not_depend_on_order_or_grouping(
            values in proptest::collection::vec(any_value(), 0..40),
            shuffle in any::<prop::sample::Index>(),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        ) {
            let whole = sum_of(&values);
            let mut reordered = values.clone();
            if !reordered.is_empty() {
                let by = shuffle.index(reordered.len());
                reordered.rotate_left(by);
                reordered[..=by / 2].reverse();
            }
            prop_assert_eq!(stored(&sum_of(&reordered)), stored(&whole));
            reordered.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
            prop_assert_eq!(stored(&sum_of(&reordered)), stored(&whole));

            let mut bounds: Vec<usize> = cuts.iter().map(|c| c.index(values.len() + 1)).collect();
            bounds.extend([0, values.len()]);
            bounds.sort_unstable();
            let mut merged = ExactSum::default();
            for pair in bounds.windows(2).rev() {
                let part = sum_of(&values[pair[0]..pair[1]]);
                merged.merge(&ExactSum::from_parts(part.decimal_units(), &part.components()).unwrap());
            }
            prop_assert_eq!(stored(&merged), stored(&whole));
            prop_assert_eq!(merged.value().to_bits(), whole.value().to_bits());
        }

        #[test]
        fn binary_values_are_summed_exactly(
            values in proptest::collection::vec(narrow_binary(), 1..60),
        ) {
            let mut sum = ExactSum::default();
            let mut exact = 0i128;
            for &v in &values {
                sum.add_binary(v);
                exact += (v * power_of_two(40)) as i128;
            }
            prop_assert_eq!(sum.value(), exact as f64 * power_of_two(-40));
            let parts: i128 = sum.components().iter().map(|c| (c * power_of_two(40)) as i128).sum();
            prop_assert_eq!(parts, exact);
        }

        #[test]
        fn decimals_are_recognized_as_written(bits in 1..=51u32, low in any::<i64>(), k in 0..=9usize) {
            // As many large as small numbers, up to 2^51 and thus all of 15 digits.
            let m = low % (1 << bits);
            let v: f64 = format!("{m}e-{k}").parse().unwrap();
            prop_assert_eq!(v, m as f64 / POWERS[k]);
            prop_assert_eq!(decimal_units_of(v), Some(i128::from(m) * i128::from(UNITS_OF_PLACE[k])));
        }

        #[test]
        fn decimal_sums_are_rounded_correctly(units in any::<i128>(), narrow in any::<u32>()) {
            for units in [units >> (narrow % 120), units] {
                let expected = format!("{units}e-9").parse::<f64>().unwrap();
                prop_assert_eq!(ExactSum::from_parts(units, &[]).unwrap().value(), expected);
            }
        }

        /// In units of 2^-40 / 1e9 the exact sum is a whole number; no double may be nearer to it
        /// than the value.
        #[test]
        fn mixed_sums_are_rounded_correctly(
            units in -(1i64 << 40)..(1i64 << 40), binary in -(1i64 << 52)..(1i64 << 52),
        ) {
            let mut sum = ExactSum::from_parts(i128::from(units), &[]).unwrap();
            sum.add_binary(binary as f64 * power_of_two(-40));
            let value = sum.value();
            prop_assume!(value.abs() > power_of_two(-20));
            let exact = (i128::from(units) << 40) + i128::from(binary) * UNITS_PER_ONE;
            // Distances in units of 2^-75 / 1e9, in which every double over 2^-20 is whole.
            let distance = |v: f64| ((v * power_of_two(75)) as i128 * UNITS_PER_ONE).abs_diff(exact << 35);
            prop_assert!(distance(value) <= distance(value.next_up()));
            prop_assert!(distance(value) <= distance(value.next_down()));
        }

        #[test]
        fn n_times_a_value_is_the_value_added_n_times(v in any_value(), n in 0..70u64) {
            let mut at_once = ExactSum::default();
            at_once.add_n(v, n);
            prop_assert_eq!(stored(&at_once), stored(&sum_of(&vec![v; n as usize])));
        }
    }
}
