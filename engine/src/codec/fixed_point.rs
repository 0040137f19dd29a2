//! Doubles as binary fixed point: the integers of a walk of full doubles.
//!
//! The step from a double to the next depends on its exponent. A walk with steps of one size, as measured values take, has
//! steps of many sizes where doubles are counted, and an entropy coder pays for the mixture. Here all values are
//! counted in the unit of the largest, so that steps have one size; what a smaller value has below that unit, `n` bits for one
//! whose exponent is `n` less, follows from no other value and is kept as it is.
//!
//! ```text
//! significand of 53 − d bits:   1 m m m m m m m m m m
//!                               └── high ──┘└─ low ─┘   n = largest exponent − exponent
//! ```
//!
//! The length of the high part tells `n`, so that it is stored nowhere.

use super::{CodecError, CodecResult};

/// Bits of a significand.
const SIGNIFICAND_BITS: u32 = 53;
const FRACTION_BITS: u32 = SIGNIFICAND_BITS - 1;
const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
/// The biased exponents of numbers that are neither zero, subnormal, infinite nor NaN.
const EXPONENTS: std::ops::RangeInclusive<u64> = 1..=2046;

/// The unit that the values of a column are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The biased exponent of the largest.
    exponent: u64,
    /// Low bits of the significands that are zero in all of them.
    dropped: u32,
}

/// A value in two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// How often the unit goes into it, towards zero.
    pub(super) high: i64,
    /// The rest, in [`Unit::low_bits`] of the high part.
    pub(super) low: u64,
}

impl Unit {
    /// The unit that a column says it has.
    pub(super) fn new(exponent: u64, dropped: u8) -> CodecResult<Self> {
        let unit = Self { exponent, dropped: dropped.into() };
        let is_one = unit.dropped <= FRACTION_BITS
            && EXPONENTS.contains(&exponent)
            && exponent > u64::from(FRACTION_BITS - unit.dropped);
        let wrong = || CodecError::new(format!("no unit of doubles: {exponent}, {dropped}"));
        is_one.then_some(unit).ok_or_else(wrong)
    }

    /// The unit for these values; none when they are too small to have one.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let bits = || values.iter().map(|value| value.to_bits()).filter(|bits| is_normal(*bits));
        let exponent = bits().map(biased_exponent).max()?;
        let zeros = bits().fold(1 << FRACTION_BITS, |all, bits| all | bits).trailing_zeros();
        Self::new(exponent, zeros as u8).ok()
    }

    /// The exponent and the bits that make the unit.
    pub(super) fn stored(self) -> (u64, u8) {
        (self.exponent, self.dropped as u8)
    }

    /// Takes a value apart; none when it is so much smaller than the unit, or so special, that it has no parts.
    #[inline]
    pub(super) fn split(self, value: f64) -> Option<Parts> {
        let bits = value.to_bits();
        if bits == 0 {
            return Some(Parts { high: 0, low: 0 });
        }
        if !is_normal(bits) {
            return None;
        }
        let significand = (bits & FRACTION | 1 << FRACTION_BITS) >> self.dropped;
        let low_bits = self.exponent.checked_sub(biased_exponent(bits))?;
        if low_bits > u64::from(FRACTION_BITS - self.dropped) {
            return None;
        }
        let high = (significand >> low_bits) as i64;
        let low = significand & ((1 << low_bits) - 1);
        Some(Parts { high: if value < 0.0 { -high } else { high }, low })
    }

    /// How many bits the low part has beside this high part; an error when no double has it.
    #[inline]
    pub(super) fn low_bits(self, high: i64) -> CodecResult<u32> {
        let length = u64::BITS - high.unsigned_abs().leading_zeros();
        if length == 0 {
            return Ok(0);
        }
        let whole = SIGNIFICAND_BITS - self.dropped;
        whole.checked_sub(length).ok_or_else(|| CodecError::new("more bits than a double has"))
    }

    /// Puts a value together of its high part and so many bits of a low one.
    #[inline]
    pub(super) fn join(self, high: i64, low_bits: u32, low: u64) -> f64 {
        if high == 0 {
            return 0.0;
        }
        let significand = (high.unsigned_abs() << low_bits | low) << self.dropped;
        let exponent = self.exponent - u64::from(low_bits);
        let sign = u64::from(high < 0) << 63;
        f64::from_bits(sign | exponent << FRACTION_BITS | significand & FRACTION)
    }
}

fn biased_exponent(bits: u64) -> u64 {
    bits >> FRACTION_BITS & 0x7ff
}

fn is_normal(bits: u64) -> bool {
    EXPONENTS.contains(&biased_exponent(bits))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(values: &[f64]) -> usize {
        let Some(unit) = Unit::of(values) else { return 0 };
        let (exponent, dropped) = unit.stored();
        assert_eq!(Unit::new(exponent, dropped).unwrap(), unit);
        let mut split = 0;
        for value in values {
            let Some(parts) = unit.split(*value) else { continue };
            let bits = unit.low_bits(parts.high).unwrap();
            assert!(parts.low < 1 << bits, "{value}");
            assert_eq!(unit.join(parts.high, bits, parts.low).to_bits(), value.to_bits());
            split += 1;
        }
        split
    }

    #[test]
    fn values_of_one_size_are_counted_in_one_unit() {
        assert_eq!(check(&[99.1, 64.0, 3.3, -0.7, 0.0, 1e-9, 127.999]), 7);
        // All are multiples of a quarter, and 65.5 is 131 halves.
        let unit = Unit::of(&[65.5, 3.25, -1.0]).unwrap();
        assert_eq!(unit.split(65.5), Some(Parts { high: 131, low: 0 }));
        // Of 3.25 six halves are whole, and there is a quarter more in the five bits below.
        assert_eq!(unit.split(3.25), Some(Parts { high: 6, low: 0b10000 }));
        assert_eq!(unit.low_bits(6), Ok(5));
    }

    #[test]
    fn what_has_no_parts_is_told() {
        let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324];
        assert_eq!(check(&special), 0);
        assert_eq!(Unit::of(&special), None);
        assert_eq!(Unit::of(&[1e-300]), None, "what is smaller could not be told");
        assert_eq!(check(&[1e300, 1.5, f64::MAX, -0.0]), 2);
        for (exponent, dropped) in [(0, 0), (2047, 0), (1023, 53), (52, 0), (u64::MAX, 1)] {
            assert!(Unit::new(exponent, dropped).is_err(), "{exponent} {dropped}");
        }
        assert!(Unit::new(1023, 0).unwrap().low_bits(i64::MIN).is_err());
    }

    proptest! {
        #[test]
        fn any_values_are_put_together_as_they_were(
            bits in prop::collection::vec(any::<u64>(), 1..50),
            near in prop::collection::vec((-1e3..1e3_f64, 0u32..53), 1..50),
        ) {
            check(&bits.iter().map(|bits| f64::from_bits(*bits)).collect::<Vec<_>>());
            let cut = |(value, zeros): &(f64, u32)| f64::from_bits(value.to_bits() >> zeros << zeros);
            check(&near.iter().map(cut).collect::<Vec<_>>());
        }
    }
}
