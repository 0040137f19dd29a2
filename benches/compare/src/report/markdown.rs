//! Markdown tables, and formatting of numbers.

/// A table under construction.
pub(crate) struct Table {
    text: String,
    rows: usize,
}

impl Table {
    pub(crate) fn new(heads: &[&str]) -> Self {
        let mut table = Self { text: String::new(), rows: 0 };
        table.put(heads.iter().map(|head| (*head).to_owned()));
        table.put(heads.iter().map(|_| "---".to_owned()));
        table.rows = 0;
        table
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.put(cells);
    }

    /// Returns the table; empty if it has no rows.
    pub(crate) fn finish(self) -> String {
        if self.rows == 0 { String::new() } else { format!("{}\n", self.text) }
    }

    fn put(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
        self.rows += 1;
    }
}

/// Formats a number with three significant digits.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{:.2} M", value / 1e6),
        v if v >= 1e5 => format!("{:.0} k", value / 1e3),
        v if v >= 1e4 => format!("{:.1} k", value / 1e3),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Formats a number, or a dash if there is none.
pub(crate) fn maybe(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), number)
}

/// Formats the ratio to the best peer, or a dash if there is none.
pub(crate) fn ratio(value: Option<f64>, best: Option<f64>) -> String {
    match (value, best) {
        (Some(value), Some(best)) if best > 0.0 => format!("{:.2}×", value / best),
        _ => "–".to_owned(),
    }
}
