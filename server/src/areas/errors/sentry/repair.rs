//! Repairs events whose JSON is slightly invalid: old JavaScript engines write lone surrogates.
//!
//! Slices are taken at positions that were found in the same bytes, so they always exist.

use std::borrow::Cow;

use super::super::occurrence::Occurrence;
use super::event::read_event;
use crate::platform::json::{InvalidJson, Value, with_document};

/// Parses an event and passes it to `use_event`. JSON that is not an object becomes an empty event.
pub(in crate::areas::errors) fn with_event<R>(
    bytes: &[u8],
    mut use_event: impl FnMut(Occurrence<'_>) -> R,
) -> Result<R, InvalidJson> {
    let mut read = |document: Value<'_>| use_event(read_event(document));
    match with_document(bytes, &mut read) {
        Err(error @ InvalidJson::Malformed(_)) => match repaired(bytes) {
            Cow::Owned(bytes) => with_document(&bytes, read),
            Cow::Borrowed(_) => Err(error),
        },
        outcome => outcome,
    }
}

/// Replaces every escaped lone surrogate, and every byte that is not UTF-8, by a replacement
/// character.
fn repaired(bytes: &[u8]) -> Cow<'_, [u8]> {
    let text = String::from_utf8_lossy(bytes);
    let mut out: Option<Vec<u8>> = None;
    let (mut rest, mut done) = (text.as_bytes(), 0);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let Some(escape) = rest.get(at..) else { break };
        let (len, is_alone) = match surrogate(escape) {
            Some(High) if escape.get(6..).and_then(surrogate) == Some(Low) => (12, false),
            Some(_) => (6, true),
            // An escaped backslash does not begin an escape.
            None => (2, false),
        };
        if is_alone {
            let out = out.get_or_insert_with(Vec::new);
            out.extend_from_slice(
                text.as_bytes().get(done..text.len() - rest.len() + at).unwrap_or_default(),
            );
            out.extend_from_slice(br"\ufffd");
            done = text.len() - rest.len() + at + len;
        }
        rest = escape.get(len..).unwrap_or_default();
    }
    match (out, text) {
        (Some(mut out), text) => {
            out.extend_from_slice(text.as_bytes().get(done..).unwrap_or_default());
            Cow::Owned(out)
        }
        (None, Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
        (None, Cow::Borrowed(_)) => Cow::Borrowed(bytes),
    }
}

/// One half of the escape of a character above U+FFFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surrogate {
    High,
    Low,
}
use Surrogate::{High, Low};

/// Returns the kind of surrogate whose escape `bytes` begin with, if any.
fn surrogate(bytes: &[u8]) -> Option<Surrogate> {
    let [b'\\', b'u', b'd' | b'D', second, third, fourth, ..] = bytes else { return None };
    if !third.is_ascii_hexdigit() || !fourth.is_ascii_hexdigit() {
        return None;
    }
    match second.to_ascii_lowercase() {
        b'8' | b'9' | b'a' | b'b' => Some(High),
        b'c' | b'd' | b'e' | b'f' => Some(Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_kept() {
        for (sent, expected) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\ude00\uD83Db\n\ud83d\ude00""#, r#""\ufffd\ufffdb\n\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\u00e9\"#, r#""\u00e9\"#),
        ] {
            assert_eq!(String::from_utf8_lossy(&repaired(sent.as_bytes())), expected, "{sent}");
        }
        assert_eq!(&*repaired(b"a\xffb"), "a\u{fffd}b".as_bytes());
    }

    #[test]
    fn an_event_with_a_lone_surrogate_is_read() {
        let message = |bytes: &[u8]| {
            with_event(bytes, |event| event.message.map(|message| message.into_owned()))
        };
        assert_eq!(message(br#"{"message":"a\ud83db"}"#), Ok(Some("a\u{fffd}b".into())));
        assert!(message(br#"{"message":"a\ud83db""#).is_err());
        assert!(message(br#"{"message":}"#).is_err());
    }
}
