//! Where a line uses a name, and through what: `Store::open`, `self.store.open`, `open`.

use super::comments::comment;
use super::resolution::UsePlace;

/// Places of one line where a name is that are read, and those that are distinguished:
/// lines with more are generated.
const READ_MAX: usize = 64;
const DISTINCT_MAX: usize = 8;
/// Bytes before a name in which the names that it is reached through are.
const QUALIFIER_BYTES_MAX: usize = 512;
/// Keywords before the name of a type that is defined.
const TYPE_KEYWORDS: [&str; 5] = ["class", "interface", "struct", "trait", "enum"];

/// A place of a line where a whole name is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Occurrence<'line> {
    /// What is before it, if it is reached through something.
    pub(super) qualifier: Option<Qualifier<'line>>,
    /// Whether it is followed by the mark of a Rust macro.
    pub(super) is_macro: bool,
    /// Whether the name is written as another one, which an import gives it.
    pub(super) is_alias: bool,
}

/// What a name is reached through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Qualifier<'line> {
    /// The names before it, in their order; none if it is the value of an expression.
    pub(super) parts: Vec<&'line str>,
    /// Whether `::` is before the name.
    pub(super) is_path: bool,
}

impl<'line> Occurrence<'line> {
    /// Returns the occurrences of a name in the line of a use, without those that are the same.
    pub(super) fn of(name: &str, place: UsePlace<'line>) -> Vec<Self> {
        let line = place.file.line(place.line);
        // `class Shape(BaseShape)` uses another `Shape` than the one that it defines.
        let uses = |name: &str| -> Vec<(&str, &str)> {
            let all = occurrences(line, name).take(READ_MAX);
            all.filter(|(before, _)| !defines_type(before)).collect()
        };
        let mut written = uses(name);
        let imported = place.file.imported(name);
        let alias = imported.and_then(|of| of.alias.as_deref()).filter(|_| written.is_empty());
        if let Some(alias) = alias {
            written = uses(alias);
        }
        let mut found: Vec<Self> = Vec::new();
        for (before, after) in written {
            let is_continued =
                before.trim().is_empty() && place.line > 1 && is_open(place, place.line - 1);
            let unknown = Qualifier { parts: Vec::new(), is_path: false };
            let occurrence = Self {
                qualifier: if is_continued { Some(unknown) } else { qualifier(before) },
                is_macro: after.starts_with('!') && !after.starts_with("!="),
                is_alias: alias.is_some(),
            };
            if found.len() < DISTINCT_MAX && !found.contains(&occurrence) {
                found.push(occurrence);
            }
        }
        found
    }
}

/// Returns whether a text ends with the keyword before the name of a type that it defines. Only
/// its end is read: it can be all of a long line.
fn defines_type(before: &str) -> bool {
    let trimmed = before.trim_end();
    trimmed.len() < before.len()
        && TYPE_KEYWORDS.iter().any(|keyword| {
            trimmed.strip_suffix(keyword).is_some_and(|rest| !rest.ends_with(is_part))
        })
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Returns whether an expression goes on after the end of a line.
fn is_open(place: UsePlace<'_>, number: u32) -> bool {
    let line = place.file.line(number);
    comment(place.file.outline.language, line).is_none()
        && [".", "::", "->"].iter().any(|end| line.trim_end().ends_with(end))
}

/// Returns what is before and after each place of a line where a whole name is.
pub(super) fn occurrences<'line>(
    line: &'line str,
    name: &str,
) -> impl Iterator<Item = (&'line str, &'line str)> {
    line.match_indices(name).filter_map(|(at, found)| {
        let before = line.get(..at)?;
        let after = line.get(at + found.len()..)?;
        (!before.ends_with(is_part) && !after.starts_with(is_part)).then_some((before, after))
    })
}

/// Returns what a name after a text is reached through.
fn qualifier(before: &str) -> Option<Qualifier<'_>> {
    let start = before.ceil_char_boundary(before.len().saturating_sub(QUALIFIER_BYTES_MAX));
    let before = before.get(start..).unwrap_or_default();
    let (mut rest, is_path) = without_separator(before)?;
    let mut parts = Vec::new();
    loop {
        // `Vec::<T>::new` and `Store<T>::open` are qualified by the name before the arguments.
        let path = match rest.strip_suffix('>') {
            Some(generic) => generic.split('<').next().unwrap_or_default().trim_end_matches("::"),
            None => rest,
        };
        let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
        let outer = path.trim_end_matches(is_part);
        let part = path.get(outer.len()..).unwrap_or_default();
        if part.is_empty() {
            // The value of a call, an index or a literal: nothing before it says what it is.
            return Some(Qualifier { parts: Vec::new(), is_path });
        }
        parts.push(part);
        match without_separator(outer) {
            Some((outer, _)) if !outer.is_empty() => rest = outer,
            _ => break,
        }
    }
    parts.reverse();
    Some(Qualifier { parts, is_path })
}

/// Returns a text without the `.`, `::` or `->` at its end, and whether that is `::`.
fn without_separator(text: &str) -> Option<(&str, bool)> {
    let text = text.trim_end();
    if let Some(path) = text.strip_suffix("::") {
        return Some((path, true));
    }
    let value = text
        .strip_suffix("?.")
        .or_else(|| text.strip_suffix("->"))
        .or_else(|| text.strip_suffix('.').filter(|path| !path.ends_with('.')))?;
    Some((value, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_are_the_names_before_a_name() {
        for (before, expected) in [
            ("let x = Store::", Some((vec!["Store"], true))),
            ("    self.", Some((vec!["self"], false))),
            ("(a.b.", Some((vec!["a", "b"], false))),
            ("crate::a::Store::<u8>::", Some((vec!["crate", "a", "Store"], true))),
            ("call().", Some((vec![], false))),
            ("call().field.", Some((vec![], false))),
            ("x ", None),
            ("0..", None),
            ("", None),
            ("é::", Some((vec!["é"], true))),
        ] {
            let expected = expected.map(|(parts, is_path)| Qualifier { parts, is_path });
            assert_eq!(qualifier(before), expected, "{before}");
        }
    }

    #[test]
    fn keywords_before_a_name_define_it() {
        for (before, expected) in [
            ("class ", true),
            ("    pub struct ", true),
            ("export class\t", true),
            ("subclass ", false),
            ("a_class ", false),
            ("class", false),
            ("(", false),
            ("", false),
        ] {
            assert_eq!(defines_type(before), expected, "{before}");
        }
    }

    #[test]
    fn whole_names_are_found() {
        let found: Vec<_> = occurrences("open reopen x.open(opened)", "open").collect();
        assert_eq!(found, [("", " reopen x.open(opened)"), ("open reopen x.", "(opened)")]);
    }
}
