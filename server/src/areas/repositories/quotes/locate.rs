//! On which lines of a file a quoted sentence is: a quote is true only if it can be found again.

use crate::areas::repositories::source::LineRange;

/// Bytes in which a sentence is looked for: those of a long documentation with its markers.
const READ_BYTES_MAX: usize = 64 << 10;

/// Returns the lines of a text that contain the words of a sentence in their order, ignoring the
/// markers of comments; `None` if they do not. `first` is the number of the first line.
pub fn locate(text: &str, first: u32, sentence: &str) -> Option<LineRange> {
    let wanted: Vec<&str> = words(sentence).collect();
    let mut found: Vec<(u32, &str)> = Vec::new();
    let mut bytes = 0;
    for (number, line) in (first..).zip(text.lines()) {
        bytes += line.len();
        if bytes > READ_BYTES_MAX || wanted.is_empty() {
            return None;
        }
        for word in words(line) {
            found.push((number, word));
            let window = found.get(found.len().wrapping_sub(wanted.len())..).unwrap_or_default();
            let is_found = window.len() == wanted.len()
                && window.iter().zip(&wanted).all(|((_, word), wanted)| word == wanted);
            if is_found {
                return LineRange::new(window.first()?.0, number);
            }
        }
    }
    None
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
        let lines = LineRange::new(3, 4);
        assert_eq!(locate(text, 1, "Opens the store in a `folder`."), lines);
        assert_eq!(locate(text, 1, "More."), LineRange::new(4, 4));
        assert_eq!(locate(text, 1, "Opens a store."), None);
        let end = "/// in a `folder`. More.\nfn open() {}\n";
        assert_eq!(locate(end, 4, "Opens the store"), None);
        assert_eq!(locate(end, 4, "More."), LineRange::new(4, 4));
        assert_eq!(locate(text, 1, "…"), None);
        let python = "def f():\n    \"\"\"Hashes it.\"\"\"\n";
        assert_eq!(locate(python, 1, "Hashes it."), LineRange::new(2, 2));
    }
}
