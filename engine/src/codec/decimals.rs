//! Decimal representation of doubles: the integers `m` of values that equal `m / 10^scale` exactly.

/// The largest number of decimal places tried.
pub(crate) const SCALE_MAX: u8 = 9;
/// Decimals are integers below this magnitude, so that multiplying by the power of ten finds `m`
/// exactly.
pub(crate) const DECIMAL_MAX: f64 = (1u64 << 51) as f64;

const POWERS: [f64; 10] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// The rows per exception: at most one row in this many may be an exception.
pub(super) const ROWS_PER_EXCEPTION: usize = 32;
/// The rows that are scaled together before one of them is looked at alone.
const CHUNK_ROWS: usize = 128;
/// The number of rows sampled to rule out a scale before all rows are tried.
const SAMPLE_ROWS: usize = 64;

/// Returns `10^scale`, or 1 when `scale` exceeds [`SCALE_MAX`].
#[inline]
pub(crate) fn power_of_ten(scale: u8) -> f64 {
    POWERS.get(usize::from(scale)).copied().unwrap_or(1.0)
}

/// Returns the integer `m` for which `value == m / power` bit for bit, if its magnitude is below
/// [`DECIMAL_MAX`].
#[inline]
fn decimal(value: f64, power: f64) -> Option<i64> {
    let candidate = Candidate::of(value, power);
    (candidate.error_bits(value, power) == 0).then_some(candidate.integer)
}

/// Adding this number leaves no bits for a fraction, which rounds numbers below [`DECIMAL_MAX`]
/// without a call into the C library, and makes the integer the lowest bits of the sum.
const ROUNDER: f64 = 3.0 * DECIMAL_MAX;

/// The integer nearest to `value · power`, ties to even.
#[derive(Clone, Copy)]
struct Candidate {
    /// Meaningful only if [`Self::error_bits`] is zero.
    integer: i64,
    rounded: f64,
}

impl Candidate {
    #[inline]
    fn of(value: f64, power: f64) -> Self {
        let sum = value * power + ROUNDER;
        let integer = sum.to_bits().wrapping_sub(ROUNDER.to_bits()).cast_signed();
        Self { integer, rounded: sum - ROUNDER }
    }

    /// Returns 0 if `value` is this integer divided by `power`, bit for bit, and the integer is
    /// small enough. Without branches, so that the checks of many values can be combined by `|`.
    /// `rounded` is never -0.0, so that -0.0 is not a decimal.
    #[inline]
    fn error_bits(self, value: f64, power: f64) -> u64 {
        let quotient = self.rounded / power;
        // The bits of positive floats are ordered like the floats, with infinity and NaN last.
        let excess = (DECIMAL_MAX.to_bits() - 1).wrapping_sub(self.rounded.abs().to_bits());
        (quotient.to_bits() ^ value.to_bits()) | (excess & (1 << 63))
    }
}

/// A column of values as scaled integers.
pub(super) struct Decimals {
    pub(super) scale: u8,
    /// The greatest common divisor of the original integers; `integers` are divided by it.
    pub(super) unit: u64,
    pub(super) integers: Vec<i64>,
    /// The rows whose values are not decimals of this scale, with the bits of the values.
    pub(super) exceptions: Vec<(usize, u64)>,
}

/// Converts a column to decimals at the smallest scale that fits. Returns `None` when at every
/// scale more than one row in [`ROWS_PER_EXCEPTION`] is not a decimal.
pub(super) fn to_decimals(values: &[f64]) -> Option<Decimals> {
    let exceptions_max = values.len() / ROWS_PER_EXCEPTION;
    let stride = (values.len() / SAMPLE_ROWS).max(1);
    let mut scale = 0;
    loop {
        let power = power_of_ten(scale);
        let misses = |sample: &mut dyn Iterator<Item = &f64>| {
            sample.filter(|v| decimal(**v, power).is_none()).count()
        };
        // The sample rules out most scales cheaply; only the whole column can confirm one.
        let sampled = values.len().div_ceil(stride);
        let plausible = misses(&mut values.iter().step_by(stride)) <= sampled / ROWS_PER_EXCEPTION;
        if plausible && let Some(found) = scale_all(values, scale, exceptions_max) {
            return Some(found);
        }
        if scale == SCALE_MAX {
            return None;
        }
        scale += 1;
    }
}

/// Returns the smallest scale at which all values are decimals, and their integers; `None` if there
/// is none.
pub(crate) fn exact_decimals(values: &[f64]) -> Option<(u8, Vec<i64>)> {
    let mut scale = 0;
    for value in values {
        while decimal(*value, power_of_ten(scale)).is_none() {
            scale += 1;
            if scale > SCALE_MAX {
                return None;
            }
        }
    }
    decimals_at(values, scale).map(|integers| (scale, integers))
}

/// Returns the integers of values that all are decimals at a scale.
pub(crate) fn decimals_at(values: &[f64], scale: u8) -> Option<Vec<i64>> {
    let power = power_of_ten(scale);
    values.iter().map(|value| decimal(*value, power)).collect()
}

fn scale_all(values: &[f64], scale: u8, exceptions_max: usize) -> Option<Decimals> {
    let power = power_of_ten(scale);
    let mut integers = Vec::with_capacity(values.len());
    let mut exceptions = Vec::new();
    for (chunk, rows) in values.chunks(CHUNK_ROWS).enumerate() {
        let mut errors = 0;
        let start = integers.len();
        integers.extend(rows.iter().map(|&value| {
            let candidate = Candidate::of(value, power);
            errors |= candidate.error_bits(value, power);
            candidate.integer
        }));
        if errors == 0 {
            continue;
        }
        integers.truncate(start);
        let mut last = integers.last().copied().unwrap_or_default();
        for (row, &value) in rows.iter().enumerate() {
            match decimal(value, power) {
                Some(integer) => last = integer,
                None if exceptions.len() < exceptions_max => {
                    exceptions.push((chunk * CHUNK_ROWS + row, value.to_bits()));
                }
                None => return None,
            }
            integers.push(last);
        }
    }
    let unit = common_divisor(integers.iter());
    if unit > 1 {
        integers.iter_mut().for_each(|v| *v /= unit.cast_signed());
    }
    Some(Decimals { scale, unit, integers, exceptions })
}

/// Returns the greatest common divisor of `values`, at least 1. Stops as soon as it is 1.
pub(crate) fn common_divisor<'v>(values: impl Iterator<Item = &'v i64>) -> u64 {
    let mut divisor = 0;
    for value in values {
        let mut a = value.unsigned_abs();
        while a != 0 {
            (divisor, a) = (a, divisor % a);
        }
        if divisor == 1 {
            break;
        }
    }
    divisor.max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, with the rounding of the standard library.
    fn expected(value: f64, power: f64) -> Option<i64> {
        let scaled = (value * power).round_ties_even();
        let integer = scaled as i64;
        let is_exact = (integer as f64 / power).to_bits() == value.to_bits();
        (scaled.abs() < DECIMAL_MAX && is_exact).then_some(integer)
    }

    fn any_value() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            (any::<i64>(), 0..=SCALE_MAX, 0u32..60)
                .prop_map(|(m, scale, drop)| { (m >> drop) as f64 / power_of_ten(scale) }),
            (-40i64..40, 0..=SCALE_MAX).prop_map(|(more, scale)| {
                (DECIMAL_MAX + more as f64 / 4.0) / power_of_ten(scale)
            }),
            (-40i64..40, 0..=SCALE_MAX).prop_map(|(more, scale)| {
                -(DECIMAL_MAX + more as f64 / 4.0) / power_of_ten(scale)
            }),
        ]
    }

    proptest! {
        #[test]
        fn decimals_are_found_as_defined(value in any_value(), scale in 0..=SCALE_MAX) {
            let power = power_of_ten(scale);
            prop_assert_eq!(decimal(value, power), expected(value, power));
        }

        #[test]
        fn columns_are_scaled_row_by_row(
            mut values in prop::collection::vec((-999i64..999).prop_map(|m| m as f64 / 100.0), 0..600),
            others in prop::collection::vec((any_value(), any::<prop::sample::Index>()), 0..8),
        ) {
            if !values.is_empty() {
                for (value, at) in others {
                    let at = at.index(values.len());
                    values[at] = value;
                }
            }
            if let Some(found) = scale_all(&values, 2, values.len() / ROWS_PER_EXCEPTION) {
                let mut exceptions = found.exceptions.iter();
                let mut last = 0;
                for (row, value) in values.iter().enumerate() {
                    match expected(*value, 100.0) {
                        Some(integer) => last = integer,
                        None => prop_assert_eq!(exceptions.next(), Some(&(row, value.to_bits()))),
                    }
                    prop_assert_eq!(found.integers[row] * found.unit.cast_signed(), last);
                }
                prop_assert_eq!(exceptions.next(), None);
            } else {
                let misses = values.iter().filter(|v| expected(**v, 100.0).is_none()).count();
                prop_assert!(misses > values.len() / ROWS_PER_EXCEPTION);
            }
        }
    }

    #[test]
    fn special_values_are_no_decimals() {
        for value in [-0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, DECIMAL_MAX] {
            assert_eq!(decimal(value, 1.0), None, "{value}");
        }
        assert_eq!(decimal(0.0, 1e9), Some(0));
        assert_eq!(decimal(DECIMAL_MAX - 1.0, 1.0), Some((1 << 51) - 1));
        assert_eq!(decimal(1.0 - DECIMAL_MAX, 1.0), Some(1 - (1 << 51)));
    }
}
