//! Computes the exponent of growth from costs at several sizes.

use std::fmt;

/// The largest exponent that passes: sorting, and caches that become too small, cost more than
/// linear growth.
pub(crate) const EXPONENT_MAX: f64 = 1.2;
/// CPU seconds at the largest size below which growth is ignored: they do not matter to users, and
/// other threads use as much.
pub(crate) const SECONDS_MIN: f64 = 0.1;
/// CPU seconds at the smaller size below which a time is noise.
const NOISE_SECONDS: f64 = 0.002;

/// The growth of the cost of an operation with the size, as a power of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Growth {
    /// The operation takes hardly any time at the largest size.
    Noise,
    /// The time at the largest size alone is above the noise: the exponent is at least this.
    AtLeast(f64),
    /// The exponent between two sizes.
    Exponent(f64),
}

impl Growth {
    /// Computes the growth of these costs, each with its size, over all sizes but the smallest,
    /// whose cost is mostly constant and would hide the growth. Sizes ascend. All powers of ten
    /// have equal weight, so that one in which a CPU cache becomes too small counts no more than
    /// the others; quadratic growth is far above the limit in any two of them.
    pub(crate) fn of(times: &[(usize, f64)]) -> Self {
        let [(_, fixed), less, .., more] = times else { return Self::Noise };
        Self::between((less.0, less.1 - fixed), (more.0, more.1 - fixed))
    }

    /// Returns the growth over the last power of ten alone.
    pub(crate) fn at_the_end(times: &[(usize, f64)]) -> Self {
        let [.., less, more] = times else { return Self::Noise };
        Self::between(*less, *more)
    }

    fn between((less, less_seconds): (usize, f64), (more, more_seconds): (usize, f64)) -> Self {
        if more_seconds < SECONDS_MIN {
            return Self::Noise;
        }
        let sizes = (more as f64 / less as f64).ln();
        let exponent = |from: f64| (more_seconds / from).ln() / sizes;
        if less_seconds < NOISE_SECONDS {
            Self::AtLeast(exponent(NOISE_SECONDS))
        } else {
            Self::Exponent(exponent(less_seconds))
        }
    }

    /// Returns whether the cost certainly grows faster than the limit.
    pub(crate) fn is_steep(self) -> bool {
        match self {
            Self::Noise => false,
            Self::AtLeast(exponent) | Self::Exponent(exponent) => exponent > EXPONENT_MAX,
        }
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noise => f.write_str("     -"),
            Self::AtLeast(exponent) => write!(f, ">={exponent:>4.2}"),
            Self::Exponent(exponent) => write!(f, "{exponent:>6.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns costs that grow with this power of the size and are one second at a hundred
    /// thousand, plus a constant.
    fn times(power: f64, fixed: f64) -> [(usize, f64); 4] {
        [1_000, 10_000, 100_000, 1_000_000]
            .map(|size| (size, fixed + (size as f64 / 100_000.0).powf(power)))
    }

    #[track_caller]
    fn check(times: &[(usize, f64)], expected: f64, is_steep: bool) {
        let growth = Growth::of(times);
        let (Growth::AtLeast(exponent) | Growth::Exponent(exponent)) = growth else {
            panic!("{times:?} is noise")
        };
        assert!((exponent - expected).abs() < 0.035, "{growth:?} instead of {expected}");
        assert_eq!(growth.is_steep(), is_steep, "{growth:?}");
    }

    #[test]
    fn the_exponent_is_that_of_the_growth() {
        for (power, is_steep) in [(1.0, false), (1.1, false), (1.3, true), (2.0, true)] {
            check(&times(power, 0.0), power, is_steep);
            check(&times(power, 5.0), power, is_steep);
        }
        let with_logarithm = [1_000, 10_000, 100_000, 1_000_000];
        check(&with_logarithm.map(|n| (n, n as f64 * (n as f64).ln() / 1e6)), 1.11, false);
    }

    #[test]
    fn one_end_of_a_cache_is_no_square_and_the_beginning_of_a_square_is_one() {
        // Each entry takes 1.0, 1.1 and 2.1 µs; then 1, 2 and 11 µs, which is n + n² / 100 000.
        check(&[(100, 0.0), (10_000, 0.01), (100_000, 0.11), (1_000_000, 2.1)], 1.16, false);
        check(&[(100, 0.0), (10_000, 0.011), (100_000, 0.2), (1_000_000, 11.0)], 1.5, true);
    }

    #[test]
    fn times_below_the_noise_are_not_taken_for_growth_nor_hide_it() {
        assert_eq!(Growth::of(&[(10, 0.0), (100, 0.0), (10_000, 0.09)]), Growth::Noise);
        assert_eq!(Growth::of(&[(100, 0.0), (1_000, 5.0)]), Growth::Noise, "one size is no growth");
        check(&[(100, 0.0), (1_000, 0.0), (100_000, 0.5)], 1.2, false);
        check(&[(100, 0.0), (1_000, 0.001), (100_000, 2.0)], 1.5, true);
        assert_eq!(Growth::at_the_end(&[(10_000, 0.1), (100_000, 1.0)]), Growth::Exponent(1.0));
    }
}
