//! JSON numbers of any length, with or without an exponent.

use serde::de::IgnoredAny;

/// Returns the number of leading bytes of `text` that can be part of a number.
pub(super) fn number_len(text: &[u8]) -> usize {
    let in_number = |b: &u8| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    text.iter().position(|b| !in_number(b)).unwrap_or(text.len())
}

/// Returns the value of a token if it is a JSON number; infinite if it is too large.
pub(super) fn any_number(token: &[u8]) -> Option<f64> {
    // `IgnoredAny` checks the grammar and not the range.
    serde_json::from_slice::<IgnoredAny>(token).ok()?;
    std::str::from_utf8(token).ok()?.parse().ok()
}
