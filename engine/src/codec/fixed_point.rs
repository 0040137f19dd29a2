//! Binary fixed point for columns of full-precision doubles that change in small steps.
//!
//! The difference between the bit patterns of two doubles depends on their exponents. Measured
//! values that change in steps of similar size thus yield bit-pattern differences of many sizes,
//! which an entropy coder compresses badly. Here all values of a column are split at one unit, that
//! of the largest value: the high parts are multiples of the unit, so that equal steps give equal
//! differences. A value whose exponent is `n` below the largest has `n` bits below the unit; these
//! low bits are effectively random and are stored uncompressed.
//!
//! ```text
//! significand of 53 − d bits:   1 m m m m m m m m m m
//!                               └── high ──┘└─ low ─┘   n = largest exponent − exponent
//! ```
//!
//! `n` follows from the bit length of the high part and is not stored.

use super::{CodecError, CodecResult};
use crate::cast::low_byte;

/// Bits of a significand, with the implicit leading one.
const SIGNIFICAND_BITS: u32 = 53;
const FRACTION_BITS: u32 = SIGNIFICAND_BITS - 1;
const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
/// The biased exponents of normal numbers: not zero, subnormal, infinite or NaN.
const EXPONENTS: std::ops::RangeInclusive<u64> = 1..=2046;

/// The unit of the high parts of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The biased exponent of the largest value.
    exponent: u64,
    /// The number of trailing zero bits that all significands share; they are not stored.
    dropped: u32,
}

/// A value split at the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The multiple of the unit, rounded toward zero, with the sign of the value.
    pub(super) high: i64,
    /// The bits below the unit; their number is [`Unit::low_bits`] of `high`.
    pub(super) low: u64,
}

impl Unit {
    /// Validates the parameters of a stored unit.
    pub(super) fn new(exponent: u64, dropped: u8) -> CodecResult<Self> {
        let unit = Self { exponent, dropped: dropped.into() };
        let is_one = unit.dropped <= FRACTION_BITS
            && EXPONENTS.contains(&exponent)
            && exponent > u64::from(FRACTION_BITS - unit.dropped);
        let wrong = || {
            CodecError::new(format!(
                "invalid fixed-point unit: exponent {exponent}, {dropped} dropped bits"
            ))
        };
        is_one.then_some(unit).ok_or_else(wrong)
    }

    /// Returns the unit for a column; `None` when it has no normal values, or the largest is too
    /// small.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let bits = || values.iter().map(|value| value.to_bits()).filter(|bits| is_normal(*bits));
        let exponent = bits().map(biased_exponent).max()?;
        let zeros = bits().fold(1 << FRACTION_BITS, |all, bits| all | bits).trailing_zeros();
        Self::new(exponent, low_byte(u64::from(zeros))).ok()
    }

    /// Returns the parameters to store: the biased exponent and the number of dropped bits.
    pub(super) fn stored(self) -> (u64, u8) {
        (self.exponent, low_byte(u64::from(self.dropped)))
    }

    /// Splits a value. Returns `None` when it lies entirely below the unit, exceeds the largest
    /// exponent, or is -0.0, subnormal, infinite or NaN.
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
        let high = (significand >> low_bits).cast_signed();
        let low = significand & ((1 << low_bits) - 1);
        Some(Parts { high: if value < 0.0 { -high } else { high }, low })
    }

    /// Returns the number of low bits that belong to a high part. Fails when no double has this
    /// high part.
    #[inline]
    pub(super) fn low_bits(self, high: i64) -> CodecResult<u32> {
        let length = u64::BITS - high.unsigned_abs().leading_zeros();
        if length == 0 {
            return Ok(0);
        }
        let whole = SIGNIFICAND_BITS - self.dropped;
        whole
            .checked_sub(length)
            .ok_or_else(|| CodecError::new("fixed-point value has more bits than a double"))
    }

    /// Rebuilds the value from its high part and its `low_bits` low bits.
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
    fn values_of_similar_size_are_split_at_one_unit() {
        assert_eq!(check(&[99.1, 64.0, 3.3, -0.7, 0.0, 1e-9, 127.999]), 7);
        // All values are multiples of 1/4. The unit is 1/2: 65.5 is 131 units.
        let unit = Unit::of(&[65.5, 3.25, -1.0]).unwrap();
        assert_eq!(unit.split(65.5), Some(Parts { high: 131, low: 0 }));
        // 3.25 is six units and 1/4, which is the highest of the five low bits.
        assert_eq!(unit.split(3.25), Some(Parts { high: 6, low: 0b10000 }));
        assert_eq!(unit.low_bits(6), Ok(5));
    }

    #[test]
    fn special_and_tiny_values_are_not_split() {
        let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324];
        assert_eq!(check(&special), 0);
        assert_eq!(Unit::of(&special), None);
        assert_eq!(Unit::of(&[1e-300]), None, "the unit has no normal exponent");
        assert_eq!(check(&[1e300, 1.5, f64::MAX, -0.0]), 2);
        for (exponent, dropped) in [(0, 0), (2047, 0), (1023, 53), (52, 0), (u64::MAX, 1)] {
            assert!(Unit::new(exponent, dropped).is_err(), "{exponent} {dropped}");
        }
        assert!(Unit::new(1023, 0).unwrap().low_bits(i64::MIN).is_err());
    }

    proptest! {
        #[test]
        fn split_values_are_rebuilt_bit_for_bit(
            bits in prop::collection::vec(any::<u64>(), 1..50),
            near in prop::collection::vec((-1e3..1e3_f64, 0u32..53), 1..50),
        ) {
            check(&bits.iter().map(|bits| f64::from_bits(*bits)).collect::<Vec<_>>());
            let cut = |(value, zeros): &(f64, u32)| f64::from_bits(value.to_bits() >> zeros << zeros);
            check(&near.iter().map(cut).collect::<Vec<_>>());
        }
    }
}
