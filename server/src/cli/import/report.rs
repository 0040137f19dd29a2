//! The report of an import: how many rows were stored, and how many were rejected for which reason,
//! with some examples.

use std::collections::BTreeMap;
use std::path::Path;

use super::rows::Reject;
use crate::cli::table::visible;
use crate::platform::plural::count;

/// Rejected rows that are shown per reason.
const EXAMPLES_MAX: usize = 3;

/// The totals over all files.
#[derive(Debug, Default)]
pub(super) struct Report {
    accepted: u64,
    rejected: u64,
    reasons: BTreeMap<String, Reason>,
    files: u64,
    files_done_before: u64,
    too_old: u64,
    failures: Vec<String>,
}

#[derive(Debug, Default)]
struct Reason {
    rows: u64,
    examples: Vec<String>,
}

impl Report {
    /// Counts stored rows.
    pub(super) fn accept(&mut self, rows: u64) {
        self.accepted += rows;
    }

    /// Counts a rejected row.
    pub(super) fn reject(&mut self, file: &Path, line: u64, reject: &Reject) {
        self.rejected += 1;
        let reason = self.reasons.entry(reject.code.clone()).or_default();
        reason.rows += 1;
        if reason.examples.len() < EXAMPLES_MAX {
            reason.examples.push(format!("{}:{line}: {}", file.display(), reject.message));
        }
    }

    /// Counts rejected rows that the server did not list individually.
    pub(super) fn reject_unlisted(&mut self, rows: u64) {
        if rows > 0 {
            self.rejected += rows;
            self.reasons.entry("not listed".to_owned()).or_default().rows += rows;
        }
    }

    /// Counts a row that is older than its retention.
    pub(super) fn count_too_old(&mut self) {
        self.too_old += 1;
    }

    /// Counts a file that was read to its end. `had_news` is false if an earlier import had stored
    /// all of it.
    pub(super) fn finish_file(&mut self, had_news: bool) {
        self.files += 1;
        self.files_done_before += u64::from(!had_news);
    }

    /// Records a file that could not be read.
    pub(super) fn fail_file(&mut self, file: &Path, cause: &str) {
        self.failures.push(format!("{}: {cause}", file.display()));
    }

    /// Returns the number of rows stored and rejected.
    pub(super) fn sums(&self) -> (u64, u64) {
        (self.accepted, self.rejected)
    }

    /// Returns the number of files that could not be read.
    pub(super) fn failed_files(&self) -> usize {
        self.failures.len()
    }

    /// Returns the report as lines of text.
    pub(super) fn render(&self) -> String {
        let mut text = format!(
            "imported {} from {}{}\n",
            count(self.accepted, "sample"),
            count(self.files, "file"),
            if self.rejected > 0 {
                format!("; {} rejected", count(self.rejected, "row"))
            } else {
                String::new()
            }
        );
        for (code, reason) in &self.reasons {
            text.push_str(&format!("  {code}: {}\n", count(reason.rows, "row")));
            reason
                .examples
                .iter()
                .for_each(|example| text.push_str(&format!("    {}\n", visible(example))));
            let more = reason.rows - reason.examples.len() as u64;
            if more > 0 && !reason.examples.is_empty() {
                text.push_str(&format!("    and {more} more\n"));
            }
        }
        if self.files_done_before > 0 {
            let files = count(self.files_done_before, "file");
            text.push_str(&format!(
                "{files} had nothing new since an earlier import (--restart imports again)\n"
            ));
        }
        if self.too_old > 0 {
            let samples = count(self.too_old, "sample");
            text.push_str(&format!(
                "older than the retention, to be deleted soon (see [storage.retention]): {samples}\n"
            ));
        }
        self.failures
            .iter()
            .for_each(|failure| text.push_str(&format!("cannot read {}\n", visible(failure))));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_are_reported_by_reason_with_examples() {
        let mut report = Report::default();
        report.accept(4_032);
        let reject =
            |code: &str| Reject { code: code.to_owned(), message: format!("about {code}") };
        for line in 2..7 {
            report.reject(Path::new("x.csv"), line, &reject("invalid_value"));
        }
        report.reject(Path::new("x.csv"), 9, &reject("invalid_timestamp"));
        report.reject_unlisted(2);
        report.count_too_old();
        report.finish_file(true);
        report.finish_file(false);
        report.fail_file(Path::new("y.csv"), "no such column");
        assert_eq!(
            report.render(),
            "imported 4032 samples from 2 files; 8 rows rejected\n\
             \x20 invalid_timestamp: 1 row\n    x.csv:9: about invalid_timestamp\n\
             \x20 invalid_value: 5 rows\n    x.csv:2: about invalid_value\n    x.csv:3: about invalid_value\n    \
             x.csv:4: about invalid_value\n    and 2 more\n\
             \x20 not listed: 2 rows\n\
             1 file had nothing new since an earlier import (--restart imports again)\n\
             older than the retention, to be deleted soon (see [storage.retention]): 1 sample\n\
             cannot read y.csv: no such column\n"
        );
    }
}
