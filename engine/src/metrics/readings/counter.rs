//! Counters: the last total of a series, and what a later one has more.

use crate::metrics::cell::units_value;
use crate::model::TimestampMs;
use crate::sketch::decimal_units_of;

/// The last reading of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CounterTotal {
    pub(super) time: TimestampMs,
    pub(super) total: f64,
}

/// What came between two totals; all of `now` when it is the lower one, because the counter began anew.
pub(super) fn increase(before: f64, now: f64) -> f64 {
    if now < before {
        return now;
    }
    let difference = now - before;
    if is_whole(now) && is_whole(before) {
        return difference.min(f64::MAX);
    }
    // What people see of 0.3 after 0.1 is 0.2, and so it stays a short decimal, which sums exactly and packs well.
    match (decimal_units_of(now), decimal_units_of(before)) {
        (Some(now), Some(before)) => units_value(now - before),
        _ => difference.min(f64::MAX),
    }
}

/// Most totals are: of these the difference is right as it is.
fn is_whole(total: f64) -> bool {
    (total as i64) as f64 == total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increases_of_decimals_are_decimals() {
        assert_eq!(increase(0.1, 0.3), 0.2);
        assert_eq!(increase(1e15, 1e15 + 1.0), 1.0);
        assert_eq!(increase(7.25, 7.25), 0.0);
        assert_eq!(increase(1.0 / 3.0, 2.0 / 3.0), 1.0 / 3.0);
    }

    #[test]
    fn a_lower_total_is_all_new() {
        assert_eq!(increase(10.0, 3.5), 3.5);
        assert_eq!(increase(10.0, 0.0), 0.0);
    }

    #[test]
    fn an_increase_is_finite() {
        assert_eq!(increase(f64::MIN, f64::MAX), f64::MAX);
    }
}
