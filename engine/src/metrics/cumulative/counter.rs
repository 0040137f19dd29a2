//! Cumulative counters: the last value of a series and the increase to a later one.

use crate::cast::integer_part;
use crate::metrics::cell::units_value;
use crate::model::TimestampMs;
use crate::sketch::decimal_units_of;

/// The last cumulative value of a counter and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LastCounter {
    pub(super) time: TimestampMs,
    pub(super) value: f64,
}

/// Returns the increase between two cumulative values: all of `now` after a counter reset (`now <
/// before`). Finite for finite arguments.
pub(super) fn increase(before: f64, now: f64) -> f64 {
    if now < before {
        return now;
    }
    let difference = now - before;
    if is_whole(now) && is_whole(before) {
        return difference.min(f64::MAX);
    }
    // The increase from 0.1 to 0.3 should be 0.2: a short decimal, which sums exactly and
    // compresses well.
    match (decimal_units_of(now), decimal_units_of(before)) {
        (Some(now), Some(before)) => units_value(now - before),
        _ => difference.min(f64::MAX),
    }
}

/// Reports whether a value is a whole number, as most cumulative values are: the difference of two
/// needs no correction.
fn is_whole(value: f64) -> bool {
    integer_part(value) as f64 == value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increases_of_short_decimals_are_short_decimals() {
        assert_eq!(increase(0.1, 0.3), 0.2);
        assert_eq!(increase(1e15, 1e15 + 1.0), 1.0);
        assert_eq!(increase(7.25, 7.25), 0.0);
        assert_eq!(increase(1.0 / 3.0, 2.0 / 3.0), 1.0 / 3.0);
    }

    #[test]
    fn a_lower_value_is_a_reset() {
        assert_eq!(increase(10.0, 3.5), 3.5);
        assert_eq!(increase(10.0, 0.0), 0.0);
    }

    #[test]
    fn an_increase_is_finite() {
        assert_eq!(increase(f64::MIN, f64::MAX), f64::MAX);
    }
}
