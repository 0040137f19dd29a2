//! Parameterises messages: replaces what differs between occurrences by placeholders. These are
//! numbers, ids, addresses, times, paths and quoted strings.
//!
//! One pass finds the leftmost match of several patterns; of those that match at the same position,
//! the earlier pattern wins. Only as many characters are read as a stored message may have.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::super::occurrence::truncate;
use super::replaced::Replacements;
use crate::limits;

/// Patterns and their placeholders. Patterns and order are part of versions 1 and 2 of the rules.
const PATTERNS: [(&str, &str); 16] = [
    (r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", "<email>"),
    (r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+"#, "<url>"),
    (r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::[0-9]{1,5})?\b", "<ip>"),
    (
        r"\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b|\b(?:[0-9A-Fa-f]{1,4}:){1,6}:(?:[0-9A-Fa-f]{1,4}:){0,5}[0-9A-Fa-f]{1,4}\b|::(?:[0-9A-Fa-f]{1,4}:){0,6}[0-9A-Fa-f]{1,4}\b",
        "<ip>",
    ),
    (r"\b[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\b", "<traceparent>"),
    (r"\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b", "<uuid>"),
    (
        r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?\b",
        "<date>",
    ),
    (r"\b[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?\b", "<date>"),
    (r"\b0[xX][0-9A-Fa-f]+\b", "<hex>"),
    (r#"\B'[^'\n]*'|\B"[^"\n]*"|\B`[^`\n]*`"#, "<quoted>"),
    (r"(?:[A-Za-z]:\\|\B\.{0,2}/)(?:[\w.@~+-]+[/\\])+[\w.@~+-]*", "<path>"),
    (
        r"\b[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h|d|days?|hours?|minutes?|seconds?)\b",
        "<duration>",
    ),
    (r"\b[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?\b", "<float>"),
    (r"\b[0-9]+\b", "<int>"),
    // A word of letters and digits: `word` decides.
    (r"\b[A-Za-z_-]*[0-9][A-Za-z0-9_-]*\b", ""),
    (r"\b(?:true|false|True|False)\b", "<bool>"),
];

/// The minimum characters of a word with digits that is an id.
const ID_CHARS_MIN: usize = 8;
/// The minimum characters of a word of hexadecimal digits that is one number.
const HEX_CHARS_MIN: usize = 7;

static REPLACEMENTS: LazyLock<Replacements> = LazyLock::new(|| Replacements::new(&PATTERNS));

/// Returns the message with placeholders.
pub(super) fn parameterized(message: &str) -> Cow<'_, str> {
    let message = truncate(message, limits::ERROR_MESSAGE_CHARS_MAX);
    REPLACEMENTS.replace(message, |placeholder, matched, out| match placeholder {
        "" => word(matched, out),
        placeholder => out.push_str(placeholder),
    })
}

/// Replaces a word with digits: a hexadecimal number, an id, or a name that contains numbers.
fn word(word: &str, out: &mut String) {
    if word.len() >= HEX_CHARS_MIN && word.bytes().all(|b| b.is_ascii_hexdigit()) {
        out.push_str("<hex>");
    } else if word.len() >= ID_CHARS_MIN && word.bytes().filter(u8::is_ascii_digit).count() > 1 {
        out.push_str("<id>");
    } else {
        let mut in_number = false;
        for character in word.chars() {
            let is_digit = character.is_ascii_digit();
            match (is_digit, in_number) {
                (true, false) => out.push_str("<int>"),
                (true, true) => {}
                (false, _) => out.push(character),
            }
            in_number = is_digit;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn variable_parts_are_replaced_by_placeholders() {
        for (message, expected) in [
            ("connection refused", "connection refused"),
            ("user 17 not found", "user <int> not found"),
            ("user17 not found", "user<int> not found"),
            ("mail to ann.o@example.co.uk failed", "mail to <email> failed"),
            ("GET https://example.com/a?b=1 failed", "GET <url> failed"),
            ("10.0.0.7:5432 refused", "<ip> refused"),
            ("no route to fe80::1", "no route to <ip>"),
            ("id 123e4567-e89b-12d3-a456-426614174000 gone", "id <uuid> gone"),
            ("at 2026-01-02T03:04:05.678Z", "at <date>"),
            ("at 03:04:05", "at <date>"),
            ("commit 3f2a9c1 and 0xDEADbeef", "commit <hex> and <hex>"),
            ("key 'abc' is missing", "key <quoted> is missing"),
            ("can't open file 'a' or \"b c\"", "can't open file <quoted> or <quoted>"),
            ("no file /var/lib/app/x.db", "no file <path>"),
            (r"no file C:\Users\ann\x.txt", "no file <path>"),
            ("took 250ms of 1.5s", "took <duration> of <duration>"),
            ("ratio 0.5 of -3", "ratio <float> of -<int>"),
            ("token Abc123xyz789 expired", "token <id> expired"),
            ("is_open: true", "is_open: <bool>"),
            ("größe 5 für Straße", "größe <int> für Straße"),
        ] {
            assert_eq!(parameterized(message), expected, "{message}");
        }
    }

    proptest! {
        #[test]
        fn any_message_is_parameterised_deterministically(message in "\\PC{0,200}") {
            prop_assert_eq!(parameterized(&message), parameterized(&message));
        }

        #[test]
        fn messages_that_differ_only_in_numbers_are_equal(a in 0_u64.., b in 0_u64.., words in "[a-z]{1,9}") {
            let message = |n: u64| format!("{words} {n} of {n} rows");
            let [one, other] = [a, b].map(message);
            prop_assert_eq!(parameterized(&one), parameterized(&other));
        }
    }
}
