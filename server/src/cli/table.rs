//! Text in columns, for a terminal: headers, left- and right-aligned cells, two spaces between.

/// How the cells of a column line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Rows of cells under headers.
#[derive(Debug)]
pub(super) struct Table {
    headers: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(headers: Vec<(String, Align)>) -> Self {
        Self { headers, rows: Vec::new() }
    }

    /// Adds a row, which has a cell per header.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as lines of text.
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

/// Control characters of names and tags do not reach the terminal, where they could do things.
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
