//! On which lines of a file a quoted sentence is: a quote is true only if it can be found again.

use crate::areas::repositories::source::LineRange;

/// Returns the lines, of those in `within`, that contain the words of a sentence in their order,
/// ignoring the markers of comments; `None` if they do not.
pub fn locate(text: &str, within: LineRange, sentence: &str) -> Option<LineRange> {
    let wanted: Vec<&str> = words(sentence).collect();
    let mut found: Vec<(u32, &str)> = Vec::new();
    if wanted.is_empty() {
        return None;
    }
    let skipped = usize::try_from(within.start() - 1).unwrap_or(usize::MAX);
    for (number, line) in (within.start()..=within.end()).zip(text.lines().skip(skipped)) {
        found.extend(words(line).map(|word| (number, word)));
    }
    let place = found
        .windows(wanted.len())
        .find(|window| window.iter().zip(&wanted).all(|((_, word), wanted)| word == wanted))?;
    LineRange::new(place.first()?.0, place.last()?.0)
}

/// Returns the words of a line without the marks around them, of which comments have some.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace()
        .map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_again() {
        let text = "use x;\n\n/// Opens the store\n/// in a `folder`. More.\nfn open() {}\n";
        let all = LineRange::new(1, 5).unwrap();
        let lines = LineRange::new(3, 4);
        assert_eq!(locate(text, all, "Opens the store in a `folder`."), lines);
        assert_eq!(locate(text, all, "More."), LineRange::new(4, 4));
        assert_eq!(locate(text, all, "Opens a store."), None);
        assert_eq!(locate(text, LineRange::new(4, 5).unwrap(), "Opens the store"), None);
        assert_eq!(locate(text, all, "…"), None);
        let python = "def f():\n    \"\"\"Hashes it.\"\"\"\n";
        assert_eq!(locate(python, all, "Hashes it."), LineRange::new(2, 2));
    }
}
