//! What a server says, without the key that was sent to it: a server may repeat its request in an
//! error or in an answer, and both are logged or shown.

use crate::platform::sealing::Secret;

/// What replaces a key.
const REPLACEMENT: &str = "…";

/// Letters and digits of half a key, at least: fewer occur in any text. A key that is shorter than
/// that, as servers that need none accept, is no secret.
const HALF_CHARS_MIN: usize = 8;

/// Returns a text without a key; `None` if half of the key is still in it, however it is divided
/// by marks and spaces, as when it is cut or written in two lines.
pub(super) fn without_key(text: &str, key: &Secret) -> Option<String> {
    let key = key.expose();
    if key.len() < HALF_CHARS_MIN {
        return Some(text.to_owned());
    }
    let text = text.replace(key, REPLACEMENT);
    (!contains_half(&text, key)).then_some(text)
}

fn contains_half(text: &str, key: &str) -> bool {
    let text = letters(text);
    let key = letters(key);
    let half = key.len().div_ceil(2).max(HALF_CHARS_MIN);
    let mut parts = key.windows(half);
    let is_in = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    parts.any(is_in)
}

/// Returns the ASCII letters and digits of a text, in lower case.
fn letters(text: &str) -> Vec<u8> {
    let letters = text.bytes().filter(u8::is_ascii_alphanumeric);
    letters.map(|byte| byte.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let key = Secret::from("sk-TOPSECRETKEY123".to_owned());
        assert_eq!(without_key(text, &key).as_deref(), expected, "{text}");
    }

    #[test]
    fn a_key_is_removed_whole_or_with_its_text() {
        check("the model is overloaded", Some("the model is overloaded"));
        check("error for Bearer sk-TOPSECRETKEY123 at once", Some("error for Bearer … at once"));
        check("sk-TOPSECRETKEY123sk-TOPSECRETKEY123", Some("……"));
        check("sk-TOPsk-TOPSECRETKEY123SECRETKEY123", None);
        check("sk-TOPSECRET", None);
        check("SECRET-KEY123", None);
        check("sk-TOP\nSEC RET\"KEY\u{200b}123", None);
        check("SK-topsecretkey123", None);
        check("the secret", Some("the secret"));
        for key in ["", "none"] {
            let key = Secret::from(key.to_owned());
            assert_eq!(without_key("none at all", &key).as_deref(), Some("none at all"));
        }
    }
}
