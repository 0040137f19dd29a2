//! Conversions of integers within a block.

/// Returns a number of rows, strings, columns or pages, or an index of one, in 32 bits.
#[inline]
pub(super) fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or_else(|_| {
        panic!("{n}: the limits on rows and bytes keep all numbers in a block below 4 GiB")
    })
}

/// Returns an integer whose range the caller has checked, in 32 bits. For loops over whole columns,
/// which check the range of all values first.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller has checked the range"
)]
pub(super) fn checked_u32(n: i64) -> u32 {
    debug_assert!(u32::try_from(n).is_ok(), "{n}");
    n as u32
}

/// Returns the lower half of a hash.
#[allow(clippy::cast_possible_truncation, reason = "the upper half is not wanted")]
pub(super) fn low_half(hash: u64) -> u32 {
    hash as u32
}
