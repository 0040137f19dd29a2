//! Numbers of any length, with or without an exponent.

use serde::de::IgnoredAny;

/// The bytes that `text` begins with and a number may have.
pub(super) fn number_len(text: &[u8]) -> usize {
    let in_number = |b: &u8| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    text.iter().position(|b| !in_number(b)).unwrap_or(text.len())
}

/// The value of a token if it is a JSON number: infinite for one that is too large.
pub(super) fn any_number(token: &[u8]) -> Option<f64> {
    // Skipping a value checks its grammar and not its size.
    serde_json::from_slice::<IgnoredAny>(token).ok()?;
    std::str::from_utf8(token).ok()?.parse().ok()
}
