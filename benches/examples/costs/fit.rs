//! From times at several sizes to the exponent of the growth between them.

use std::fmt;

/// The largest exponent that passes: sorting, and caches that no longer hold what they held, cost more than linear growth.
pub(crate) const EXPONENT_MAX: f64 = 1.2;
/// Seconds of CPU below which a time is noise: ten ticks of the clock that measures it.
pub(crate) const SECONDS_MIN: f64 = 0.1;

/// How the cost of an operation grows with the size, as a power of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Growth {
    /// The operation takes hardly any time at the largest size.
    Noise,
    /// The time at the largest size alone is above the noise: the exponent is at least this.
    AtLeast(f64),
    /// The exponent between the two largest sizes.
    Exponent(f64),
}

impl Growth {
    /// The growth of these times, each after its size. Sizes ascend.
    pub(crate) fn of(times: &[(usize, f64)]) -> Self {
        let [.., (less, less_seconds), (more, more_seconds)] = times else { return Self::Noise };
        if *more_seconds < SECONDS_MIN {
            return Self::Noise;
        }
        let sizes = (*more as f64 / *less as f64).ln();
        let exponent = |from: f64| (more_seconds / from).ln() / sizes;
        if *less_seconds < SECONDS_MIN {
            Self::AtLeast(exponent(SECONDS_MIN))
        } else {
            Self::Exponent(exponent(*less_seconds))
        }
    }

    /// Whether the cost surely grows faster than it may.
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

    /// Times that grow with this power of the size, and take one second at a hundred thousand.
    fn times(power: f64) -> [(usize, f64); 3] {
        [10_000, 100_000, 1_000_000].map(|size| (size, (size as f64 / 100_000.0).powf(power)))
    }

    #[track_caller]
    fn check(times: &[(usize, f64)], expected: f64, is_steep: bool) {
        let growth = Growth::of(times);
        let (Growth::AtLeast(exponent) | Growth::Exponent(exponent)) = growth else {
            panic!("{times:?} is noise")
        };
        assert!((exponent - expected).abs() < 0.005, "{growth:?} instead of {expected}");
        assert_eq!(growth.is_steep(), is_steep, "{growth:?}");
    }

    #[test]
    fn the_exponent_is_that_of_the_growth() {
        for (power, is_steep) in
            [(0.0, false), (0.5, false), (1.0, false), (1.3, true), (2.0, true)]
        {
            check(&times(power), power, is_steep);
        }
        let with_logarithm = [100_000, 1_000_000].map(|n| (n, n as f64 * (n as f64).ln() / 1e6));
        check(&with_logarithm, 1.08, false);
        check(&[(3_000, 1.0), (10_000, 1.0 / 0.09)], 2.0, true);
    }

    #[test]
    fn times_below_the_noise_are_not_taken_for_growth_nor_hide_it() {
        assert_eq!(Growth::of(&[(1_000, 0.0), (10_000, 0.09)]), Growth::Noise);
        assert_eq!(Growth::of(&[(1_000, 5.0)]), Growth::Noise, "one size is no growth");
        check(&[(1_000, 0.0), (10_000, 0.5)], 0.70, false);
        check(&[(1_000, 0.02), (10_000, 2.0)], 1.30, true);
        check(&[(1_000, 0.1), (10_000, 1.0)], 1.0, false);
    }
}
