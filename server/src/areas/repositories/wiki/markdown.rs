//! Text in Markdown. Names and documentation come from repositories that anyone may have written:
//! they are shown as they are, and none of their characters is markup.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::areas::repositories::quotes::is_visible;
use crate::areas::repositories::source::LineRange;

/// The characters that a path in a link keeps.
const LINK: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// Returns a text in which no character is markup, in one line.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for char in visible(text).chars() {
        match char {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '!' | '|'
            | '~' | '$' => {
                escaped.push('\\');
                escaped.push(char);
            }
            // Renderers make links of what looks like an address, and of names after `@`.
            ':' if escaped.ends_with("http") || escaped.ends_with("https") => {
                escaped.push_str("&#58;")
            }
            '@' => escaped.push_str("&#64;"),
            _ => escaped.push(char),
        }
    }
    not_a_block(escaped)
}

/// Returns a text whose code between backticks stays code, and which is escaped otherwise.
pub(super) fn prose(text: &str) -> String {
    let spans: Vec<&str> = text.split('`').collect();
    // Without its end a backtick is an ordinary character.
    if spans.len().is_multiple_of(2) || text.contains("``") {
        return escaped(text);
    }
    let written = spans
        .iter()
        .enumerate()
        .map(|(position, span)| match position % 2 {
            0 => spaced(span, &escaped(span)),
            _ => code(span),
        })
        .collect::<String>();
    not_a_block(written)
}

/// Returns an escaped text with the spaces around the original, which separate it from code.
fn spaced(original: &str, escaped: &str) -> String {
    let before = if original.starts_with(char::is_whitespace) { " " } else { "" };
    let after =
        if original.ends_with(char::is_whitespace) && !escaped.is_empty() { " " } else { "" };
    format!("{before}{}{after}", escaped.trim())
}

/// Returns a text as code in a line: the fence is longer than any run of backticks in it.
pub(super) fn code(text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad =
        if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Returns a link to lines of a file, from the root of the repository.
pub(super) fn link_to_lines(path: &str, lines: LineRange) -> String {
    let end = if lines.count() > 1 { format!("-L{}", lines.end()) } else { String::new() };
    let target = utf8_percent_encode(path, LINK);
    format!("[{}:{}]({target}#L{}{end})", escaped(path), lines.start(), lines.start())
}

/// Returns a link to a page of the wiki.
pub(super) fn link_to_page(title: &str, slug: &str) -> String {
    format!("[{}]({slug})", escaped(title))
}

/// Returns a text in one line, without characters that cannot be seen or that turn the direction of
/// the text after them.
fn visible(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().filter(|char| is_visible(*char)).collect()
}

/// Escapes the beginning of a text where it would begin a list or a line across the page.
fn not_a_block(text: String) -> String {
    let digits = text.trim_start_matches(|char: char| char.is_ascii_digit());
    if text.starts_with(['-', '=']) {
        format!("\\{text}")
    } else if digits.len() < text.len() && digits.starts_with('.') {
        let (number, rest) = text.split_at_checked(text.len() - digits.len()).unwrap_or_default();
        format!("{number}\\{rest}")
    } else {
        text
    }
}

/// Returns a page of at most some bytes, cut after a line, which says so then.
pub(super) fn bounded(markdown: String, bytes_max: usize) -> String {
    const CUT: &str = "\n\n(This page is cut here.)\n";
    if markdown.len() <= bytes_max {
        return markdown;
    }
    let end = markdown.floor_char_boundary(bytes_max.saturating_sub(CUT.len()));
    let kept: Cow<'_, str> = markdown.get(..end).unwrap_or_default().into();
    let kept = kept.rsplit_once('\n').map_or(kept.as_ref(), |(lines, _)| lines);
    format!("{kept}{CUT}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        for (text, expected) in [
            ("a_b*c", "a\\_b\\*c"),
            ("<img onerror=x>", "&lt;img onerror=x&gt;"),
            ("[x](javascript:alert(1))", "\\[x\\]\\(javascript:alert\\(1\\)\\)"),
            ("- item", "\\- item"),
            ("1. item", "1\\. item"),
            ("a\n# b", "a \\# b"),
            ("see https://evil.example", "see https&#58;//evil.example"),
            ("\u{202e}x", "x"),
        ] {
            assert_eq!(escaped(text), expected);
        }
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(prose("Reads `a_b` of <b>."), "Reads `a_b` of &lt;b&gt;.");
        assert_eq!(prose("one ` tick"), "one \\` tick");
    }

    #[test]
    fn links_have_encoded_targets() {
        let link = link_to_lines("a b/(x)].md", LineRange::new(3, 5).unwrap());
        assert_eq!(link, "[a b/\\(x\\)\\].md:3](a%20b/%28x%29%5D.md#L3-L5)");
    }

    #[test]
    fn a_page_is_cut_after_a_line() {
        let page = bounded("é line\n".repeat(1_000), 500);
        assert!(page.len() <= 500);
        assert!(page.ends_with("é line\n\n(This page is cut here.)\n"));
    }
}
