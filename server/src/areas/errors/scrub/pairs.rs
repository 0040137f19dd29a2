//! Finds the values of secret keys in strings: `key=value`, `key: value`, `"key": "value"`,
//! `Config(key='value')`, `/key/value`.
//!
//! A value in quotes or brackets, or directly after `=`, is redacted whatever it is. After a colon
//! or a blank, prose may follow ("invalid token: expected a number"), so only values that look
//! random are redacted.
//!
//! Slices are taken at positions that were found in the same string, between characters, so they
//! always exist.

use std::ops::Range;

use super::scrubber::FILTERED;

/// The maximum bytes of a key that are examined.
const KEY_BYTES_MAX: usize = 128;
/// The maximum blanks between a key, the separator and its value.
const BLANKS_MAX: usize = 4;
/// The minimum bytes of a path segment that may be a secret.
const PATH_SECRET_BYTES_MIN: usize = 12;

/// The position after a separator that follows a secret key.
struct ValueCandidate<'t> {
    text: &'t str,
    at: usize,
    /// Whether the separator is `=` and no blank follows it.
    is_assigned: bool,
    key: &'t str,
    key_is_quoted: bool,
}

/// Adds the ranges of values of secret keys.
pub(super) fn find(text: &str, is_secret: impl Fn(&str) -> bool, found: &mut Vec<Range<usize>>) {
    let mut done = 0;
    for at in memchr::memchr3_iter(b'=', b':', b'/', text.as_bytes()) {
        if at < done {
            continue;
        }
        let value = match text.as_bytes().get(at) {
            Some(b'/') => path_value(text, at, &is_secret),
            _ => value_after(text, at, &is_secret).and_then(|value| value.range()),
        };
        if let Some(range) = value {
            done = range.end;
            found.push(range);
        }
    }
}

/// Returns the path segment after the separator at `at`, if the segment before names a secret and
/// this one looks like one.
fn path_value(text: &str, at: usize, is_secret: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    let (key, _) = key_before(text, at)?;
    let start = at + 1;
    let part = text.get(start..)?;
    let len = part.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"-_~".contains(b)).count();
    let (value, rest) = part.split_at_checked(len)?;
    let is_value =
        len >= PATH_SECRET_BYTES_MIN && !rest.starts_with('.') && has_letter_and_digit(value);
    (is_value && is_secret(key)).then(|| start..start + len)
}

/// Returns the position of the value after the separator at `at`, if a secret key precedes it.
fn value_after<'t>(
    text: &'t str,
    at: usize,
    is_secret: impl Fn(&str) -> bool,
) -> Option<ValueCandidate<'t>> {
    let bytes = text.as_bytes();
    let is_colon = bytes.get(at) == Some(&b':');
    let follows = |byte: u8| bytes.get(at + 1) == Some(&byte);
    let is_path = follows(b':') || (at > 0 && bytes.get(at - 1) == Some(&b':'));
    if is_colon && (is_path || follows(b'/')) {
        return None;
    }
    let (key, key_is_quoted) = key_before(text, at)?;
    if !is_secret(key) {
        return None;
    }
    let rest = text.get(at + 1..)?;
    let signs = rest.bytes().take_while(|b| matches!(b, b'=' | b'>' | b'~')).count();
    let after = rest.get(signs..)?;
    let blanks = after.bytes().take(BLANKS_MAX).take_while(|b| *b == b' ' || *b == b'\t').count();
    Some(ValueCandidate {
        text,
        at: at + 1 + signs + blanks,
        is_assigned: !is_colon && blanks == 0,
        key,
        key_is_quoted,
    })
}

/// Returns the key that ends before this position, and whether it is quoted.
fn key_before(text: &str, at: usize) -> Option<(&str, bool)> {
    // The limit keeps the cost linear for a string of nothing but separators.
    let window = at.saturating_sub(KEY_BYTES_MAX)..at;
    let from = window.clone().find(|from| text.is_char_boundary(*from)).unwrap_or(at);
    let before = text.get(from..at)?;
    let before = before.trim_end_matches(['!', ':', '=', ' ', '\t']);
    let bare = before.trim_end_matches(['"', '\'', '`']).trim_end_matches('\\');
    let is_key = |b: &u8| b.is_ascii_alphanumeric() || b"_-.[]%$@".contains(b);
    let len = bare.bytes().rev().take_while(is_key).count();
    let key = bare.get(bare.len() - len..)?;
    (!key.is_empty()).then_some((key, bare.len() < before.len()))
}

impl ValueCandidate<'_> {
    /// Returns the range of the secret part of the value.
    fn range(&self) -> Option<Range<usize>> {
        let value = self.text.get(self.at..)?;
        // Skip the prefix of a Python string, or a constructor around the value.
        let name = value.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_.&".contains(b));
        let name = name.count();
        let wrapped = value.get(name..)?;
        let inner = wrapped.strip_prefix('(').unwrap_or(wrapped);
        let is_call = inner.len() < wrapped.len();
        let quote_at = if is_call || name <= 2 { value.len() - inner.len() } else { 0 };
        if let Some(range) = quoted(self.text, self.at + quote_at) {
            return range;
        }
        if value.starts_with(['[', '{', '(']) {
            let is_done = value.starts_with(FILTERED);
            return (!is_done && self.is_any_value_secret())
                .then(|| self.at..self.at + bracketed(value));
        }
        self.bare(value)
    }

    /// Returns whether the syntax shows that it is the value of the key, so that any value is
    /// secret.
    fn is_any_value_secret(&self) -> bool {
        self.is_assigned || self.key_is_quoted
    }

    /// Returns the range of an unquoted value, up to its delimiter.
    fn bare(&self, value: &str) -> Option<Range<usize>> {
        let ends = |c: char| c.is_whitespace() || ",;&)]}<>\"'`|".contains(c);
        let word = value.split(ends).next()?.trim_end_matches(['.', ':', '!', '?', '\\']);
        if word.is_empty() || is_empty_literal(word) {
            return None;
        }
        let key = self.key.to_ascii_lowercase();
        let rest = value.get(word.len()..)?;
        let next = rest.bytes().find(|byte| !b".:!?".contains(byte));
        let ends_line = matches!(next, None | Some(b'\n' | b'\r'));
        let is_whole_line = (key.ends_with("cookie") && word.contains('='))
            || (key.contains("authorization") && is_scheme(word) && !ends_line);
        if is_whole_line {
            let ends = |c: char| matches!(c, '"' | '\'' | '`' | '\n' | '\r');
            return Some(self.at..self.at + value.find(ends).unwrap_or(value.len()));
        }
        let is_password = ["password", "passwd", "pwd", "passphrase", "secret"]
            .iter()
            .any(|name| key.ends_with(name));
        let is_secret =
            self.is_any_value_secret() || looks_random(word) || (is_password && ends_line);
        is_secret.then(|| self.at..self.at + word.len())
    }
}

/// Returns the range within the quotes that begin here, up to the end of the string if they are not
/// closed. The inner `None` means that the quotes contain nothing secret.
#[expect(clippy::option_option, reason = "not quoted, and quoted with nothing secret")]
fn quoted(text: &str, at: usize) -> Option<Option<Range<usize>>> {
    let value = text.get(at..)?;
    let slashes = value.bytes().take_while(|b| *b == b'\\').count();
    let quote = value.get(slashes..)?.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let start = slashes + 1;
    let inner = value.get(start..)?;
    let mut escapes = 0;
    for (end, byte) in inner.bytes().enumerate() {
        match byte {
            b'\\' => escapes += 1,
            _ if byte == quote as u8 && escapes <= slashes => {
                let end = end - escapes;
                let content = inner.get(..end).unwrap_or_default();
                let is_none =
                    content.is_empty() || content == FILTERED || is_empty_literal(content);
                return Some((!is_none).then(|| at + start..at + start + end));
            }
            _ => escapes = 0,
        }
    }
    Some((!inner.is_empty()).then(|| at + start..text.len()))
}

/// Returns the length of a value in brackets, up to the end of the string if they are not closed.
fn bracketed(value: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in value.bytes().enumerate() {
        match byte {
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' if depth <= 1 => return at + 1,
            b']' | b'}' | b')' => depth -= 1,
            _ => {}
        }
    }
    value.len()
}

fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token", "digest", "negotiate", "apikey"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Returns whether the value is a literal for "no value", or a boolean.
fn is_empty_literal(word: &str) -> bool {
    ["none", "null", "nil", "undefined", "true", "false", "nan"]
        .iter()
        .any(|literal| word.eq_ignore_ascii_case(literal))
}

/// Returns whether a word looks random: it contains letters and digits, capitals inside, special
/// characters, or is very long.
pub(super) fn looks_random(word: &str) -> bool {
    let has_case_change = word
        .as_bytes()
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let has_signs = word.bytes().any(|b| b"!@#$^*+=~%".contains(&b));
    let len = word.len();
    (len >= 4 && has_letter_and_digit(word))
        || (len >= 6 && (has_case_change || has_signs))
        || len >= 24
}

fn has_letter_and_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().any(|b| b.is_ascii_alphabetic())
}
