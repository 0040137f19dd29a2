//! Tables for a terminal: headers, left- and right-aligned cells, separated by two spaces.

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Rows of cells below headers.
#[derive(Debug)]
pub(super) struct Table {
    headers: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table without rows.
    pub(super) fn new(headers: Vec<(String, Align)>) -> Self {
        Self { headers, rows: Vec::new() }
    }

    /// Appends a row with one cell per header.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Renders the table as lines of text.
    pub(super) fn render(&self) -> String {
        let widths: Vec<usize> = self
            .headers
            .iter()
            .enumerate()
            .map(|(i, (header, _))| {
                let cells = self.rows.iter().filter_map(|row| row.get(i));
                cells.chain([header]).map(|cell| visible(cell).chars().count()).max().unwrap_or(0)
            })
            .collect();
        let headers: Vec<String> = self.headers.iter().map(|(header, _)| header.clone()).collect();
        let mut text = String::new();
        for row in [&headers].into_iter().chain(&self.rows) {
            text.push_str(self.line(row, &widths).trim_end());
            text.push('\n');
        }
        text
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .zip(&self.headers)
            .map(|((cell, width), (_, align))| {
                let cell = visible(cell);
                match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                }
            })
            .collect();
        cells.join("  ")
    }
}

/// Replaces control characters, which names and tags may contain, so that they do not reach the
/// terminal.
pub(super) fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_control_characters_are_shown_as_such() {
        let mut table = Table::new(vec![("name".into(), Align::Left), ("n".into(), Align::Right)]);
        table.row(vec!["a".into(), "10000".into()]);
        table.row(vec!["\u{1b}[31mred".into(), "7".into()]);
        assert_eq!(table.render(), "name          n\na         10000\n\u{fffd}[31mred      7\n");
    }
}
