//! Cuts strings to the limits of receivers, and marks where something is missing.
//!
//! Lengths are UTF-16 code units. Receivers document "characters" without saying which: some count
//! code points (Discord: <https://github.com/discord/discord-api-docs/issues/1315>), others UTF-16.
//! A string never has fewer UTF-16 code units than code points, so it is within the limit for both.

/// The mark of a cut.
const ELLIPSIS: char = '…';
/// Joins the emoji before and after it into one; useless at the end.
const ZERO_WIDTH_JOINER: char = '\u{200d}';

/// Returns the escape sequence of a character, or `None` if it stands for itself.
pub(super) type Escape = fn(char) -> Option<&'static str>;

/// Returns the length of a string in UTF-16 code units.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns `text`, or its beginning and an ellipsis, in at most `units_max` code units.
pub(super) fn plain(text: &str, units_max: usize) -> String {
    escaped(text, units_max, |_| None)
}

/// Escapes each character of `text`, and returns the result, or as many whole characters and escape
/// sequences as fit and an ellipsis, in at most `units_max` code units.
pub(super) fn escaped(text: &str, units_max: usize, escape: Escape) -> String {
    let mut out = String::new();
    let mut used = 0;
    // The end of the longest part of `out` that an ellipsis may follow.
    let mut end = 0;
    for character in text.chars() {
        match escape(character) {
            Some(sequence) => {
                out.push_str(sequence);
                used += units(sequence);
            }
            None => {
                out.push(character);
                used += character.len_utf16();
            }
        }
        if used > units_max {
            out.truncate(end);
            return marked(out, units_max);
        }
        if used + ELLIPSIS.len_utf16() <= units_max {
            end = out.len();
        }
    }
    out
}

fn marked(mut out: String, units_max: usize) -> String {
    while out.ends_with(ZERO_WIDTH_JOINER) {
        out.pop();
    }
    if units_max > 0 {
        out.push(ELLIPSIS);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(character: char) -> Option<&'static str> {
        match character {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            _ => None,
        }
    }

    #[test]
    fn strings_are_cut_between_characters_and_sequences() {
        for (text, max, expected) in [
            ("", 0, ""),
            ("a", 0, ""),
            ("a", 1, "a"),
            ("ab", 1, "…"),
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("😀😀", 4, "😀😀"),
            ("😀😀", 3, "😀…"),
            ("😀😀", 2, "…"),
            ("a😀b", 3, "a…"),
            ("a&", 6, "a&amp;"),
            ("a&", 5, "a…"),
            ("&b<c", 7, "&amp;b…"),
            ("&&&&", 11, "&amp;&amp;…"),
            ("&&&&", 10, "&amp;…"),
            ("漢字漢字", 3, "漢字…"),
            ("👩\u{200d}👩\u{200d}👧", 8, "👩\u{200d}👩\u{200d}👧"),
            ("👩\u{200d}👩\u{200d}👧", 7, "👩\u{200d}👩…"),
            ("👩\u{200d}👩\u{200d}👧", 4, "👩…"),
        ] {
            let cut = escaped(text, max, html);
            assert_eq!(cut, expected, "{text} {max}");
            assert!(units(&cut) <= max);
        }
    }

    #[test]
    fn every_limit_is_used_and_kept() {
        let text = "a&😀<é".repeat(20);
        let whole = escaped(&text, usize::MAX, html);
        for max in 0..=units(&whole) + 1 {
            let cut = escaped(&text, max, html);
            let is_whole = max >= units(&whole);
            assert_eq!(cut == whole, is_whole);
            if !is_whole {
                // The longest token has five units.
                assert!(units(&cut) <= max && units(&cut) + 5 > max, "{cut} {max}");
                assert!(whole.starts_with(cut.trim_end_matches('…')));
            }
        }
    }
}
