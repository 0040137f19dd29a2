//! Decimals among doubles: the integers `m` of values that are `m / 10^k` exactly.

/// Decimal places that are looked for.
pub(crate) const SCALE_MAX: u8 = 9;
/// Decimals are integers below this magnitude: `m` found by multiplying is then exact.
pub(crate) const DECIMAL_MAX: f64 = (1u64 << 51) as f64;

const POWERS: [f64; 10] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// At most one row in so many may be an exception.
pub(super) const ROWS_PER_EXCEPTION: usize = 32;
/// Rows looked at to choose a scale before all rows are tried.
const SAMPLE_ROWS: usize = 64;

/// `10^scale`; 1 beyond [`SCALE_MAX`].
#[inline]
pub(crate) fn power_of_ten(scale: u8) -> f64 {
    POWERS.get(usize::from(scale)).copied().unwrap_or(1.0)
}

/// The integer `m` with `value == m / 10^scale` to the bit, if there is one below [`DECIMAL_MAX`].
#[inline]
pub(crate) fn decimal(value: f64, power: f64) -> Option<i64> {
    let scaled = (value * power).round_ties_even();
    let integer = scaled as i64;
    // Through the integer, so that -0.0, which it cannot hold, is no decimal.
    let exact = scaled.abs() < DECIMAL_MAX && (integer as f64 / power).to_bits() == value.to_bits();
    exact.then_some(integer)
}

/// A column of decimals.
pub(super) struct Decimals {
    pub(super) scale: u8,
    /// The integers are multiples of it, and counted in it.
    pub(super) unit: u64,
    pub(super) integers: Vec<i64>,
    /// Rows that are no decimals of this scale, and their bits.
    pub(super) exceptions: Vec<(usize, u64)>,
}

/// The decimals that nearly all values are; none when too many are not.
pub(super) fn to_decimals(values: &[f64]) -> Option<Decimals> {
    let exceptions_max = values.len() / ROWS_PER_EXCEPTION;
    let stride = (values.len() / SAMPLE_ROWS).max(1);
    let mut scale = 0;
    loop {
        let power = power_of_ten(scale);
        let misses = |sample: &mut dyn Iterator<Item = &f64>| {
            sample.filter(|v| decimal(**v, power).is_none()).count()
        };
        // The sample settles most scales; the whole column has the last word.
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
        integers.iter_mut().for_each(|v| *v /= unit as i64);
    }
    Some(Decimals { scale, unit, integers, exceptions })
}

/// The greatest common divisor, at least 1. Ends at the first pair that has none.
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
