//! Secrets in resources, and what is shown of them.

use std::fmt;

use crate::limits;

/// The character in place of what is not shown. No valid secret contains it, so that a redacted
/// secret is never taken for a new one.
pub const HIDDEN: char = '…';
/// Characters at the end of a secret that are shown.
const SHOWN_CHARS: usize = 4;

/// A secret. Its debug form is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(secret: String) -> Self {
        Self(secret)
    }

    /// Returns the secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns what is shown of the secret.
    pub fn redacted(&self) -> String {
        redacted(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted())
    }
}

/// Returns what is shown of a secret: `…` and its last four characters, which tell secrets apart.
/// A secret of fewer than [`limits::SECRET_SHOWN_CHARS_MIN`] characters is only `…`.
pub fn redacted(secret: &str) -> String {
    let count = secret.chars().count();
    let is_long = count >= limits::SECRET_SHOWN_CHARS_MIN;
    let skipped = if is_long { count - SHOWN_CHARS } else { count };
    std::iter::once(HIDDEN).chain(secret.chars().skip(skipped)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_long_secrets_is_shown() {
        for (secret, expected) in [
            ("", "…"),
            ("abc", "…"),
            ("0123456789abcde", "…"),
            ("0123456789abcdef", "…cdef"),
            ("éééééééééééé漢字漢字", "…漢字漢字"),
        ] {
            assert_eq!(redacted(secret), expected);
            let secret = Secret::new(secret.to_owned());
            assert_eq!(format!("{secret:?}"), expected);
        }
    }
}
