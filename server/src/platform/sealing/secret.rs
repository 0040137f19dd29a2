//! Secret strings in memory: never printed, overwritten when dropped.

use std::fmt;

use zeroize::Zeroizing;

use crate::platform::settings::{SettingValue, quoted};

/// What is printed instead of a secret.
const REDACTED: &str = "[redacted]";
/// Characters of a secret that are shown so that its owner recognises it.
const SHOWN_CHARS: usize = 4;
/// Characters from which a secret is long enough to show a part of it: what remains hidden is still
/// hard to guess.
const SHOWN_FROM_CHARS: usize = 16;

/// A password, token or URL that grants access. Printing it prints `[redacted]`; it cannot be
/// serialised.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Returns the secret itself. The caller must neither log it nor send it to anyone but the
    /// system it is for.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether there is no secret.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what responses show: `…` and the last four characters, or `…` alone for a short
    /// secret.
    pub fn last4(&self) -> String {
        let count = self.0.chars().count();
        let hidden = if count < SHOWN_FROM_CHARS { count } else { count - SHOWN_CHARS };
        ['…'].into_iter().chain(self.0.chars().skip(hidden)).collect()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Secrets in the configuration. Printing the configuration does not print them; what it prints is
/// refused as a value, because a file made of it would have lost the secret.
impl SettingValue for Secret {
    const EXPECTS: &'static str = "a secret string";

    fn from_text(text: &str) -> Result<Self, String> {
        if text == REDACTED {
            return Err(format!("{REDACTED} stands for a secret: write the secret itself"));
        }
        Ok(text.to_owned().into())
    }

    fn to_toml(&self) -> String {
        quoted(if self.is_empty() { "" } else { REDACTED })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::settings::Raw;

    fn secret(text: &str) -> Secret {
        text.to_owned().into()
    }

    #[test]
    fn a_secret_is_printed_nowhere() {
        let planted = secret("planted-password");
        assert_eq!(format!("{planted} {planted:?} {:?}", Some(&planted)), {
            "[redacted] [redacted] Some([redacted])"
        });
        assert_eq!(planted.to_toml(), "\"[redacted]\"");
        assert_eq!(planted.expose(), "planted-password");
        assert_eq!(Secret::default().to_toml(), "\"\"");
    }

    #[test]
    fn only_long_secrets_show_their_end() {
        for (text, shown) in [
            ("", "…"),
            ("hunter2", "…"),
            ("123456789012345", "…"),
            ("1234567890123456", "…3456"),
            ("https://hooks.example.com/T0/B0/äöüß", "…äöüß"),
        ] {
            assert_eq!(secret(text).last4(), shown, "{text}");
        }
    }

    #[test]
    fn a_printed_configuration_is_not_read_as_secrets() {
        let read = |text: &str| Secret::read(&Raw::Text(text.to_owned()));
        assert_eq!(read("p\"ä ss").unwrap().expose(), "p\"ä ss");
        assert!(read("").unwrap().is_empty());
        let refused = "[redacted] stands for a secret: write the secret itself";
        assert_eq!(read("[redacted]").unwrap_err(), refused);
        let number = Secret::read(&Raw::Integer(5)).unwrap_err();
        assert_eq!(number, "expected a secret string, found a number");
    }
}
