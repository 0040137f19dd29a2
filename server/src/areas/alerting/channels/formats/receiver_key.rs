//! Keys by which receivers combine messages about the same alert.

use sha2::{Digest, Sha256};

use super::cut;

/// Returns a key within the limit of a receiver: `key` itself, or its SHA-256 in hexadecimal if it
/// is empty or too long. Cutting it would combine different alerts.
pub(super) fn within(key: &str, units_max: usize) -> String {
    if (1..=units_max).contains(&cut::units(key)) { key.to_owned() } else { sha256(key) }
}

/// Returns a key that can be a segment of a path: like [`within`], but not of dots only, which
/// clients would resolve even if they were percent-encoded.
pub(super) fn alias(key: &str, units_max: usize) -> String {
    if key.bytes().all(|b| b == b'.') { sha256(key) } else { within(key, units_max) }
}

/// Returns the [`alias`] as a segment of a path.
pub(super) fn path_segment(key: &str, units_max: usize) -> String {
    percent_encoded(&alias(key, units_max))
}

/// Returns the SHA-256 of a string, in hexadecimal.
pub(super) fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Encodes all bytes but the unreserved ones of RFC 3986.
fn percent_encoded(text: &str) -> String {
    let is_unreserved = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    let encoded = |b: u8| match is_unreserved(b) {
        true => char::from(b).to_string(),
        false => format!("%{b:02X}"),
    };
    text.bytes().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_keys_become_hashes_that_differ() {
        let (a, b) = ("k".repeat(255), "k".repeat(256));
        assert_eq!(within(&a, 255), a);
        assert_eq!(within(&b, 255), sha256(&b));
        assert_ne!(within(&b, 255), within(&format!("{b}k"), 255));
        assert_eq!(within(&"😀".repeat(128), 255).len(), 64);
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(within("", 255), empty);
    }

    #[test]
    fn a_key_stays_one_segment_of_a_path() {
        for (key, expected) in [
            ("a-b_c.d~9", "a-b_c.d~9".to_owned()),
            ("a/b?c#d%e f", "a%2Fb%3Fc%23d%25e%20f".to_owned()),
            ("é", "%C3%A9".to_owned()),
            ("..", sha256("..")),
            (".", sha256(".")),
            ("", sha256("")),
        ] {
            assert_eq!(path_segment(key, 512), expected);
        }
    }
}
