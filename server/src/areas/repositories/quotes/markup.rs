//! Plain text that quotes repositories, made harmless for a program that shows it as Markdown.
//!
//! Answers are plain text with code between backticks. Only what would become a link, an image or
//! an HTML tag is changed, by a backslash, so that the text stays readable as it is. A page of the
//! wiki, which is Markdown, escapes everything.

use super::is_visible;

/// Returns a text whose code between backticks stays code, and in which nothing else is a link, an
/// image or a tag, without characters that cannot be seen.
pub fn without_markup(text: &str) -> String {
    text.split('\n').map(line_without_markup).collect::<Vec<_>>().join("\n")
}

fn line_without_markup(line: &str) -> String {
    let spaced = line.chars().map(|char| if char == '\t' { ' ' } else { char });
    let line: String = spaced.filter(|char| is_visible(*char)).collect();
    let mut written = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(char) = rest.chars().next() {
        if char == '`' {
            let (span, after) = code_span(rest);
            match span {
                Some(span) => written.push_str(span),
                // Without its end it could make code of what follows in another place.
                None => written.extend(
                    rest.chars().take_while(|char| *char == '`').flat_map(|tick| ['\\', tick]),
                ),
            }
            rest = after;
            continue;
        }
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
        let next = rest.chars().next();
        let is_escaped = match char {
            '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(next)),
            '(' => written.ends_with(']'),
            // The target of links, if a line begins so.
            ':' => written.ends_with(']') && written.trim_start().starts_with('['),
            // It would take the backslash that is added before a mark.
            '\\' => next.is_some_and(|next| next.is_ascii_punctuation()),
            _ => false,
        };
        if is_escaped {
            written.push('\\');
        }
        written.push(char);
    }
    written
}

/// Returns the code that a text begins with, with its backticks, and what follows. Without an end
/// there is no code, and what follows are the characters after the backticks.
fn code_span(text: &str) -> (Option<&str>, &str) {
    let after_fence = text.trim_start_matches('`');
    let fence = text.len() - after_fence.len();
    let mut rest = after_fence;
    while let Some(at) = rest.find('`') {
        let ticks = rest.get(at..).unwrap_or_default();
        let after = ticks.trim_start_matches('`');
        if ticks.len() - after.len() == fence {
            return (text.strip_suffix(after), after);
        }
        rest = after;
    }
    (None, after_fence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_images_and_tags_are_changed() {
        for (text, expected) in [
            ("`open` is a function in src/a.rs:3 [1].", "`open` is a function in src/a.rs:3 [1]."),
            ("“![img](http://evil.example/4)” [1]", "“![img]\\(http://evil.example/4)” [1]"),
            ("and <script>alert(4)</script>", "and \\<script>alert(4)\\</script>"),
            ("a < b and x<3 > y", "a < b and x<3 > y"),
            ("`Vec<String>` and `` a`[x](y) ``", "`Vec<String>` and `` a`[x](y) ``"),
            ("one ` tick, then `<b>` [x](y)", "one ` tick, then `\\<b>\\` [x]\\(y)"),
            ("a \\<b> c\\d", "a \\\\\\<b> c\\d"),
            ("`open` [1]: “Opens.”", "`open` [1]: “Opens.”"),
            ("[x]: http://evil.example", "[x]\\: http://evil.example"),
            ("evil/\u{202e}txt.py\u{0}", "evil/txt.py"),
            ("one `\n[x](y) ` two", "one \\`\n[x]\\(y) \\` two"),
            ("`code", "\\`code"),
        ] {
            assert_eq!(without_markup(text), expected, "{text}");
        }
    }
}
