//! A text that jobs are searched for: in their class, in their arguments and in what they died of,
//! ignoring case.
//!
//! Arguments are stored as the JSON that the client sent. The text is looked for in the JSON, and
//! in the JSON with all escapes of its strings decoded: many programs send characters other than
//! ASCII as escapes, and quotes and line ends can only be sent as escapes. The cost is linear in
//! the length of the arguments, and the memory a small multiple of it: no document is built.

use std::borrow::Cow;

use telltale_engine::fold_case;

/// A text to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobSearch {
    folded: String,
}

impl JobSearch {
    pub(super) fn new(text: &str) -> Self {
        Self { folded: fold_case(text) }
    }

    /// Returns whether a text contains it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        fold_case(text).contains(&self.folded)
    }

    /// Returns whether arguments contain it, as they are or with their escapes decoded.
    pub(super) fn is_in_arguments(&self, json: &str) -> bool {
        self.is_in(json)
            || match decoded(json) {
                Cow::Borrowed(_) => false,
                Cow::Owned(decoded) => self.is_in(&decoded),
            }
    }
}

/// Returns JSON with all escapes decoded. The result is only searched, so it need not be JSON.
fn decoded(json: &str) -> Cow<'_, str> {
    let Some((before, mut rest)) = json.split_once('\\') else { return Cow::Borrowed(json) };
    let mut decoded = String::with_capacity(json.len());
    decoded.push_str(before);
    loop {
        let (character, after) = escape(rest);
        decoded.extend(character);
        let Some((before, next)) = after.split_once('\\') else {
            decoded.push_str(after);
            return Cow::Owned(decoded);
        };
        decoded.push_str(before);
        rest = next;
    }
}

/// Decodes the escape whose backslash is before `text`. Returns its character and what follows.
fn escape(text: &str) -> (Option<char>, &str) {
    let mut characters = text.chars();
    let character = match characters.next() {
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('u') => return unicode(characters.as_str()),
        Some(itself) => itself,
        None => return (None, text),
    };
    (Some(character), characters.as_str())
}

/// Decodes the rest of a `\u` escape, and the escape after it if both are one character.
fn unicode(text: &str) -> (Option<char>, &str) {
    let Some((unit, after)) = code_unit(text) else { return (None, text) };
    if let Some(character) = char::from_u32(unit.into()) {
        return (Some(character), after);
    }
    let pair = after.strip_prefix("\\u").and_then(code_unit).and_then(|(low, after)| {
        let character = char::decode_utf16([unit, low]).next()?.ok()?;
        Some((Some(character), after))
    });
    pair.unwrap_or((Some(char::REPLACEMENT_CHARACTER), after))
}

/// Parses four hexadecimal digits.
fn code_unit(text: &str) -> Option<(u16, &str)> {
    let (digits, after) = text.split_at_checked(4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some((unit, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_search_finds_what_is_escaped_in_json() {
        let json = r#"{"to":"Gr\u00f6\u00DFe \"x\"","n":1e999,"path":"a\/b\\c","text":"one\ntwo\ud83d\ude00","lone":"\ud83dx"}"#;
        for found in [
            "größe",
            "GRÖßE",
            r"gr\u00f6",
            "\"x\"",
            r#"\"x\""#,
            "one\ntwo",
            r"one\ntwo",
            "a/b",
            r"a\/b",
            r"b\c",
            "two😀",
            "1e999",
            r#""n":1e999"#,
            "\u{fffd}x",
        ] {
            assert!(JobSearch::new(found).is_in_arguments(json), "{found}");
        }
        for missing in ["grösse", "one two", "\\x", "twoo"] {
            assert!(!JobSearch::new(missing).is_in_arguments(json), "{missing}");
        }
        for (json, expected) in [
            (r"\", ""),
            (r"\u12", "12"),
            (r"\u+123", "+123"),
            (r"\u00é", "00é"),
            (r"\ud83d\u0041", "\u{fffd}A"),
        ] {
            assert_eq!(decoded(json), expected, "{json}");
        }
    }

    #[test]
    fn a_sigma_is_found_wherever_it_is_in_a_word() {
        let json = r#"{"street":"ΟΔΟΣ"}"#;
        assert!(JobSearch::new("οδοσ").is_in_arguments(json));
        assert!(JobSearch::new("ΟΔΟΣ").is_in_arguments(r#"{"street":"οδοστρωμα"}"#));
    }

    proptest! {
        #[test]
        fn every_part_of_a_string_is_found_in_its_json(text in "\\PC{0,8}[\"\\\\\n\t/é]{0,3}\\PC{0,4}") {
            let json = serde_json::json!({ "text": text }).to_string();
            prop_assert!(JobSearch::new(&text).is_in_arguments(&json));
            let ascii: String = text
                .encode_utf16()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect();
            prop_assert_eq!(decoded(&ascii), text);
        }
    }
}
