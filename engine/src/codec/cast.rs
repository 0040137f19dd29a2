//! Conversions that lose bits on purpose, named by what they keep. All others are `From`,
//! `TryFrom`, `cast_signed` and `cast_unsigned`.

/// Returns the lowest 8 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are not wanted")]
pub(super) fn low_byte(n: u64) -> u8 {
    n as u8
}

/// Returns the lowest 64 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are not wanted")]
pub(super) fn low_word(n: u128) -> u64 {
    n as u64
}

/// Returns the integer part; the nearer end of the range for numbers beyond it, and 0 for NaN.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the fraction is not wanted")]
pub(super) fn integer_part(n: f64) -> i64 {
    n as i64
}

/// Returns a number of rows or runs of a page, in 32 bits.
#[inline]
pub(super) fn rows_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or_else(|_| panic!("{n} rows: callers bound the rows of a block"))
}
