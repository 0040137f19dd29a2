//! Conversions of numbers that lose something on purpose, or whose range is known, named by what
//! they keep. All others are `From`, `TryFrom`, `cast_signed` and `cast_unsigned`: the modules of
//! stored forms deny casts.

/// Returns the lowest 8 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are not wanted")]
pub(crate) fn low_byte(n: u64) -> u8 {
    n as u8
}

/// Returns the lowest 32 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are not wanted")]
pub(crate) fn low_half(n: u64) -> u32 {
    n as u32
}

/// Returns the lowest 64 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are not wanted")]
pub(crate) fn low_word(n: u128) -> u64 {
    n as u64
}

/// Returns the lowest 64 bits of a two's complement, as one.
#[inline]
pub(crate) fn low_word_signed(n: i128) -> i64 {
    low_word(n.cast_unsigned()).cast_signed()
}

/// Returns the integer part; the nearer end of the range for numbers beyond it, and 0 for NaN.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the fraction is not wanted")]
pub(crate) fn integer_part(n: f64) -> i64 {
    n as i64
}

/// Returns the integer part; 0 for negative numbers and NaN, the maximum for numbers beyond it.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the fraction is not wanted"
)]
pub(crate) fn natural_part(n: f64) -> u64 {
    n as u64
}

/// Returns a length of a collection in memory.
#[inline]
#[expect(clippy::cast_possible_wrap, reason = "a collection has at most `isize::MAX` bytes")]
pub(crate) fn length(n: usize) -> i64 {
    n as i64
}

/// Returns a number of rows, series, strings, columns or pages of a block, or an index of one, in
/// 32 bits.
///
/// # Panics
///
/// If it does not fit: the limits on rows and bytes keep all numbers in a block below 4 GiB.
#[inline]
pub(crate) fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or_else(|_| {
        panic!("{n}: the limits on rows and bytes keep all numbers in a block below 4 GiB")
    })
}

/// Returns an integer whose range the caller has checked, in 32 bits. For loops over whole columns,
/// which check the range of all values first.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller has checked the range"
)]
pub(crate) fn checked_u32(n: i64) -> u32 {
    debug_assert!(u32::try_from(n).is_ok(), "{n}");
    n as u32
}

/// Returns a number of items in memory, or an index of one, which the caller has checked.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the caller has checked that so many exist")]
pub(crate) fn items(n: u64) -> usize {
    debug_assert!(usize::try_from(n).is_ok(), "{n}");
    n as usize
}

/// Returns the lowest 16 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are not wanted")]
pub(crate) fn low_quarter(n: u64) -> u16 {
    n as u16
}
