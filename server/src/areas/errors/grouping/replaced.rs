//! Replaces the matches of several patterns in one pass: the leftmost match, and of those at the
//! same position that of the earlier pattern.

use std::borrow::Cow;

use regex_automata::meta::Regex;

/// Patterns with their replacements.
#[derive(Debug)]
pub(super) struct Replacements {
    patterns: Regex,
    replacements: Vec<&'static str>,
}

impl Replacements {
    /// Compiles pairs of a pattern and its replacement.
    ///
    /// # Panics
    /// If a pattern is invalid. Patterns are constants, and tests compile all of them; messages
    /// without replacements would be grouped differently.
    pub(super) fn new(pairs: &[(&str, &'static str)]) -> Self {
        let (patterns, replacements): (Vec<&str>, Vec<&str>) = pairs.iter().copied().unzip();
        match Regex::new_many(&patterns) {
            Ok(patterns) => Self { patterns, replacements },
            Err(error) => unreachable!("the patterns are constants that compile: {error}"),
        }
    }

    /// Returns the string with each match replaced by what `write` appends. `write` gets the
    /// replacement of the pattern, the match and the output.
    pub(super) fn replace<'t>(
        &self,
        text: &'t str,
        mut write: impl FnMut(&'static str, &str, &mut String),
    ) -> Cow<'t, str> {
        let (mut out, mut done) = (String::new(), 0);
        for found in self.patterns.find_iter(text) {
            let Some(replacement) = self.replacements.get(found.pattern().as_usize()) else {
                unreachable!("every pattern has a replacement")
            };
            // Matches of text begin and end between characters.
            out.push_str(text.get(done..found.start()).unwrap_or_default());
            write(replacement, text.get(found.range()).unwrap_or_default(), &mut out);
            done = found.end();
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
    }
}
