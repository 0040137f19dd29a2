//! Decimal representation of doubles: the integers `m` of values that equal `m / 10^scale` exactly.

use crate::cast::integer_part;

/// The largest number of decimal places tried.
pub(crate) const SCALE_MAX: u8 = 9;
/// Decimals are integers below this magnitude, so that multiplying by the power of ten finds `m`
/// exactly.
pub(crate) const DECIMAL_MAX: f64 = (1u64 << 51) as f64;

const POWERS: [f64; 10] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// The rows per exception: at most one row in this many may be an exception.
pub(super) const ROWS_PER_EXCEPTION: usize = 32;
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
pub(crate) fn decimal(value: f64, power: f64) -> Option<i64> {
    let scaled = (value * power).round_ties_even();
    let integer = integer_part(scaled);
    // The division starts from the integer, which cannot represent -0.0, so that -0.0 is not a
    // decimal.
    let exact = scaled.abs() < DECIMAL_MAX && (integer as f64 / power).to_bits() == value.to_bits();
    exact.then_some(integer)
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

fn scale_all(values: &[f64], scale: u8, exceptions_max: usize) -> Option<Decimals> {
    let power = power_of_ten(scale);
    let mut integers = Vec::with_capacity(values.len());
    let mut exceptions = Vec::new();
    let mut last = 0;
    for (row, &value) in values.iter().enumerate() {
        match decimal(value, power) {
            Some(integer) => last = integer,
            None if exceptions.len() < exceptions_max => exceptions.push((row, value.to_bits())),
            None => return None,
        }
        integers.push(last);
    }
    let unit = common_divisor(&integers);
    if unit > 1 {
        integers.iter_mut().for_each(|v| *v /= unit.cast_signed());
    }
    Some(Decimals { scale, unit, integers, exceptions })
}

/// Returns the greatest common divisor of `values`, at least 1. Stops as soon as it is 1.
fn common_divisor(values: &[i64]) -> u64 {
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
