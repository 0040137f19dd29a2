//! Lines of files as responses show them: exactly as in the commit, unless they are so long that
//! no person reads them. A repository, and who sends errors, choose how long the lines are.

use super::limits::{SHOWN_BYTES_MAX, SHOWN_LINE_BYTES_MAX};

/// What a line that was cut ends with.
const CUT_MARK: &str = "…";

/// Lines of a file as a response shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas) struct ShownLines {
    pub(in crate::areas) text: String,
    /// Whether a line is not whole.
    pub(in crate::areas) is_cut: bool,
}

/// What one response may show yet of the lines of files.
#[derive(Debug)]
pub(super) struct ShownBytes {
    left: usize,
}

impl ShownBytes {
    /// Returns what a response may show.
    pub(super) fn of_response() -> Self {
        Self { left: SHOWN_BYTES_MAX }
    }

    /// Returns lines as they are shown: as many lines as there are, of which the long ones are cut.
    pub(super) fn show(&mut self, lines: &str) -> ShownLines {
        let mut text = String::with_capacity(lines.len().min(self.left));
        let mut is_cut = false;
        for (number, line) in lines.split('\n').enumerate() {
            if number > 0 {
                text.push('\n');
            }
            let end = line.floor_char_boundary(SHOWN_LINE_BYTES_MAX.min(self.left));
            let kept = line.get(..end).unwrap_or_default();
            self.left -= kept.len();
            text.push_str(kept);
            if kept.len() < line.len() {
                text.push_str(CUT_MARK);
                is_cut = true;
            }
        }
        ShownLines { text, is_cut }
    }

    /// Returns lines that were cut already as they are shown together with others.
    pub(super) fn show_again(&mut self, shown: &ShownLines) -> ShownLines {
        let again = self.show(&shown.text);
        ShownLines { is_cut: shown.is_cut || again.is_cut, ..again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: usize, lines: &str, expected: &str) {
        let shown = ShownBytes { left }.show(lines);
        assert_eq!(shown.text, expected);
        assert_eq!(shown.is_cut, lines != expected);
        assert_eq!(shown.text.split('\n').count(), lines.split('\n').count());
        assert_eq!(ShownBytes { left: SHOWN_BYTES_MAX }.show_again(&shown), shown);
    }

    #[test]
    fn only_lines_that_do_not_fit_are_cut() {
        let whole = "é".repeat(SHOWN_LINE_BYTES_MAX / 2);
        for lines in ["", "\n", "a\r\nb", "a\n\nb", &whole, &format!("{whole}\n{whole}")] {
            check(SHOWN_BYTES_MAX, lines, lines);
        }
        check(SHOWN_BYTES_MAX, &format!("a\nx{whole}\nb"), &{
            // The last character does not fit whole.
            let cut = "é".repeat(SHOWN_LINE_BYTES_MAX / 2 - 1);
            format!("a\nx{cut}…\nb")
        });
        check(3, "ab\ncd\n\ne", "ab\nc…\n\n…");
        check(0, "a\n\nb", "…\n\n…");
        check(1, "漢", "…");
    }

    #[test]
    fn a_response_has_a_limit() {
        let mut bytes = ShownBytes::of_response();
        let lines = vec!["x".repeat(1 << 20); 40].join("\n");
        let shown: usize = (0..50).map(|_| bytes.show(&lines).text.len()).sum();
        let marks = 50 * 40 * (CUT_MARK.len() + 1);
        assert!((SHOWN_BYTES_MAX..=SHOWN_BYTES_MAX + marks).contains(&shown), "{shown}");
    }
}
