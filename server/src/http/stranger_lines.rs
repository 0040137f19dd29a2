//! Lines of the log about refused requests of clients that are not known: without a key, with one that anybody may see, or with
//! what is not HTTP. There are so many a second, and then one with how many were left out.
//!
//! Anybody can be refused as often as they like; a line for each would fill the disk and hide all others.

use std::time::Duration;

use parking_lot::Mutex;

use crate::limits;

const SECOND: Duration = Duration::from_secs(1);

/// The lines that were written, and those that were not.
#[derive(Debug, Default)]
pub(super) struct StrangerLines(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    /// When the second began that is counted.
    since: Duration,
    written: u64,
    left_out: u64,
}

impl StrangerLines {
    /// Returns whether there may be another line.
    pub(super) fn admits(&self, now: Duration) -> bool {
        let mut lines = self.0.lock();
        lines.renew(now);
        if lines.written < limits::STRANGER_LINES_PER_SECOND {
            lines.written += 1;
            return true;
        }
        lines.left_out += 1;
        false
    }

    /// Logs how many lines were left out, once the second of the first of them is over.
    pub(super) fn report_left_out(&self, now: Duration) {
        if let Some(lines) = self.left_out(now) {
            tracing::info!(
                lines,
                "more lines about refused requests without a key, or with a public one, were left out"
            );
        }
    }

    fn left_out(&self, now: Duration) -> Option<u64> {
        let mut lines = self.0.lock();
        if lines.left_out == 0 || now.saturating_sub(lines.since) < SECOND {
            return None;
        }
        lines.renew(now);
        Some(std::mem::take(&mut lines.left_out))
    }
}

impl Lines {
    fn renew(&mut self, now: Duration) {
        if now.saturating_sub(self.since) >= SECOND {
            (self.since, self.written) = (now, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_lines_a_second_and_then_one_about_the_rest() {
        let lines = StrangerLines::default();
        let at = Duration::from_millis;
        let most = limits::STRANGER_LINES_PER_SECOND;
        let written = |ms| (0..most + 5).filter(|_| lines.admits(at(ms))).count() as u64;
        assert_eq!(lines.left_out(at(2_000)), None);
        assert_eq!(written(2_000), most);
        assert_eq!(lines.left_out(at(2_999)), None);
        assert_eq!(lines.left_out(at(3_000)), Some(5));
        assert_eq!(lines.left_out(at(9_000)), None, "it is told once");
        assert_eq!(written(9_000), most);
        assert_eq!(lines.left_out(at(60_000)), Some(5));
    }
}
