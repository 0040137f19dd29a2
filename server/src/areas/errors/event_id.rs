//! The ids of Sentry events: 128 bits, written as 32 hexadecimal digits.

/// Parses an event id: 32 hexadecimal digits, with or without dashes.
pub(super) fn parse_event_id(id: &str) -> Option<u128> {
    let digits: String = id.chars().filter(|c| *c != '-').collect();
    (digits.len() == 32).then(|| u128::from_str_radix(&digits, 16).ok()).flatten()
}

/// Returns an event id in the form that SDKs use: 32 hexadecimal digits.
pub(super) fn format_event_id(id: u128) -> String {
    format!("{id:032x}")
}
