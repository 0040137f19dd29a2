//! Replaces the matches of several patterns in one pass: the leftmost match, and of those at the
//! same position that of the earlier pattern.

use std::borrow::Cow;

use regex_automata::meta::Regex;

/// Returns the string with each match replaced by what `write` appends. `write` gets the index of
/// the pattern, the match and the output.
pub(super) fn replaced<'t>(
    text: &'t str,
    patterns: &Regex,
    mut write: impl FnMut(usize, &str, &mut String),
) -> Cow<'t, str> {
    let (mut out, mut done) = (String::new(), 0);
    for found in patterns.find_iter(text) {
        out.push_str(text.get(done..found.start()).unwrap_or_default());
        let matched = text.get(found.range()).unwrap_or_default();
        write(found.pattern().as_usize(), matched, &mut out);
        done = found.end();
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}
