//! Code without its secrets, for what describes code instead of quoting it: the code stays code,
//! with the same lines.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{contains_secret, private_key_lines, secret_lines};

/// What is in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Returns a text in which the lines that seem to hold a secret are without it: with other strings
/// in place of theirs, or else without any word.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let secret: HashSet<usize> = secret_lines(text).collect();
    if secret.is_empty() {
        return Cow::Borrowed(text);
    }
    let of_keys: HashSet<usize> = private_key_lines(text).collect();
    let mut clean = String::with_capacity(text.len());
    for (position, whole) in text.split_inclusive('\n').enumerate() {
        if !secret.contains(&position) {
            clean.push_str(whole);
            continue;
        }
        let line = whole.trim_end_matches(['\n', '\r']);
        // The lines of a key say nothing without those before them.
        let clean_line = without_strings(line).filter(|clean_line| {
            !of_keys.contains(&position) && clean_line != line && !contains_secret(clean_line)
        });
        match clean_line {
            Some(line) => clean.push_str(&line),
            None => push_without_words(line, &mut clean),
        }
        clean.push_str(whole.get(line.len()..).unwrap_or_default());
    }
    Cow::Owned(clean)
}

/// Returns a line with other strings in place of its own, but for those that name a value; `None`
/// if one is open at its end.
fn without_strings(line: &str) -> Option<String> {
    let mut clean = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (before, quoted) = rest.split_at_checked(at)?;
        clean.push_str(before);
        if is_lifetime(before, quoted) {
            clean.push('\'');
            rest = quoted.get(1..)?;
            continue;
        }
        let inside = inside(quoted)?;
        let (string, after) = quoted.split_at_checked(inside.len() + 2)?;
        let is_name = after.trim_start().starts_with([':', '=', ']']);
        if inside.is_empty() || is_name {
            clean.push_str(string);
        } else {
            let quote = string.get(..1)?;
            clean.extend([quote, REDACTED, quote]);
        }
        rest = after;
    }
    clean.push_str(rest);
    Some(clean)
}

/// Returns what is in the quotes that a text begins with.
fn inside(quoted: &str) -> Option<&str> {
    let mut chars = quoted.char_indices();
    let (_, quote) = chars.next()?;
    let mut is_escaped = false;
    for (at, char) in chars {
        if char == quote && !is_escaped {
            return quoted.get(1..at);
        }
        is_escaped = char == '\\' && !is_escaped;
    }
    None
}

/// Returns whether a quote begins the name of a lifetime: `&'static`, `<'a>`.
fn is_lifetime(before: &str, quoted: &str) -> bool {
    let Some(name) = quoted.strip_prefix('\'') else { return false };
    let after = name.trim_start_matches(|char: char| char.is_alphanumeric() || char == '_');
    before.ends_with(['&', '<']) && after.len() < name.len() && !after.starts_with('\'')
}

/// Appends a line with a mark in place of all that is between its first and its last word: the
/// marks of comments and strings around them stay.
fn push_without_words(line: &str, clean: &mut String) {
    let is_mark = |char: char| !char.is_alphanumeric();
    let words = line.trim_start_matches(is_mark);
    let start = line.len() - words.len();
    let end = words.trim_end_matches(is_mark).len();
    clean.push_str(line.get(..start).unwrap_or_default());
    clean.push_str(REDACTED);
    clean.push_str(words.get(end..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_lines_with_secrets_are_changed() {
        for (text, expected) in [
            ("", ""),
            ("fn f() {}\n\n", "fn f() {}\n\n"),
            ("A = \"sk_live_51H8abcdEFGH23456\"\r\nb = \"x\"", "A = \"[redacted]\"\r\nb = \"x\""),
            (
                "const K: &'static str = \"sk_live_51H8abcdEFGH23456\";\n",
                "const K: &'static str = \"[redacted]\";\n",
            ),
            ("    f(password='hunter2\\'blue', x=\"\")", "    f(password='[redacted]', x=\"\")"),
            ("{\"password\": 'hunter2blue'}", "{\"password\": '[redacted]'}"),
            ("\"password\": Zx81kQ0pLm33vvTr9sWe", "\"[redacted]"),
            ("/// Use ghp_0123456789abcdefghijklmnop.", "/// [redacted]."),
            ("// don't: token: 9a8b7c6d", "// [redacted]"),
            ("\"\"\"With password hunter3.\"\"\"", "\"\"\"[redacted]\"\"\""),
            ("API_TOKEN=Zx81kQ0pLm33vvTr9sWe\nA=1\n", "[redacted]\nA=1\n"),
            (
                "k = \"\"\"\n-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n\"\"\"\n",
                "k = \"\"\"\n-----[redacted]-----\n[redacted]\n-----[redacted]-----\n\"\"\"\n",
            ),
        ] {
            assert_eq!(without_secrets(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_line_has_a_secret(
            text in "(password|token|=|: ?|\"|'|`|&'a |\\\\|\n|\r\n|é|ghp_0123456789abcdefghijklmn|hunter2-blue9|-----BEGIN PRIVATE KEY-----| ){0,30}",
        ) {
            let clean = without_secrets(&text);
            prop_assert!(!contains_secret(&clean), "{clean}");
            prop_assert_eq!(clean.lines().count(), text.lines().count());
        }
    }
}
