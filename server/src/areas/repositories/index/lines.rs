//! Where the lines of a text are. Only line feeds end lines; the last line may have none.

use std::ops::Range;

use super::super::source::LineRange;

/// Returns the number of lines of a text.
pub(super) fn line_count(text: &str) -> u32 {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let has_open_line = !text.is_empty() && !text.ends_with('\n');
    u32::try_from(ends + usize::from(has_open_line)).unwrap_or(u32::MAX)
}

/// Where each line of a text begins.
#[derive(Debug)]
pub(super) struct LineStarts {
    /// One more than there are lines: the last is the end of the text.
    starts: Vec<usize>,
}

impl LineStarts {
    pub(super) fn of(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { starts }
    }

    /// Returns the number of lines.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.starts.len() - 1).unwrap_or(u32::MAX)
    }

    /// Returns the bytes of lines, with the end of the last one.
    pub(super) fn bytes(&self, lines: LineRange) -> Option<Range<usize>> {
        let start = *self.starts.get(lines.start() as usize - 1)?;
        Some(start..*self.starts.get(lines.end() as usize)?)
    }
}

/// Returns lines of a text without the line end of the last one.
pub(super) fn lines_of(text: &str, lines: LineRange) -> Option<&str> {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
    let start = match lines.start() {
        1 => 0,
        line => ends.nth(line as usize - 2)?,
    };
    if start == text.len() {
        return None;
    }
    let more = (lines.end() - lines.start()) as usize;
    let end = match more.checked_sub(1) {
        None => ends.next().unwrap_or(text.len()),
        Some(before_last) => {
            if ends.nth(before_last)? == text.len() {
                return None;
            }
            ends.next().unwrap_or(text.len())
        }
    };
    let snippet = text.get(start..end)?;
    let without = snippet.strip_suffix('\n');
    Some(without.map_or(snippet, |line| line.strip_suffix('\r').unwrap_or(line)))
}
