//! Limits the log lines about refused requests of unauthenticated clients: those without a key,
//! with a public key, or that are not valid HTTP. After a number of lines per second, one line
//! reports how many were suppressed.
//!
//! Anyone can cause such refusals at any rate; logging each would fill the disk and hide other
//! lines.

use std::time::Duration;

use parking_lot::Mutex;

use crate::limits;

const SECOND: Duration = Duration::from_secs(1);

/// Counts of written and suppressed lines.
#[derive(Debug, Default)]
pub(super) struct RefusalLogLimit(Mutex<LineCounts>);

#[derive(Debug, Default)]
struct LineCounts {
    /// The start of the second being counted.
    since: Duration,
    written: u64,
    suppressed: u64,
}

impl RefusalLogLimit {
    /// Returns whether another line may be written.
    pub(super) fn admits(&self, now: Duration) -> bool {
        let mut lines = self.0.lock();
        lines.renew(now);
        if lines.written < limits::REFUSAL_LOG_LINES_PER_SECOND {
            lines.written += 1;
            return true;
        }
        lines.suppressed += 1;
        false
    }

    /// Logs the number of suppressed lines, once the second in which the first was suppressed is
    /// over.
    pub(super) fn report_suppressed(&self, now: Duration) {
        if let Some(lines) = self.suppressed(now) {
            tracing::info!(
                lines,
                "log lines about refused requests without a key or with a public key were suppressed"
            );
        }
    }

    fn suppressed(&self, now: Duration) -> Option<u64> {
        let mut lines = self.0.lock();
        if lines.suppressed == 0 || now.saturating_sub(lines.since) < SECOND {
            return None;
        }
        lines.renew(now);
        Some(std::mem::take(&mut lines.suppressed))
    }
}

impl LineCounts {
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
    fn lines_are_limited_per_second_and_suppressed_ones_are_counted() {
        let lines = RefusalLogLimit::default();
        let at = Duration::from_millis;
        let most = limits::REFUSAL_LOG_LINES_PER_SECOND;
        let written = |ms| (0..most + 5).filter(|_| lines.admits(at(ms))).count() as u64;
        assert_eq!(lines.suppressed(at(2_000)), None);
        assert_eq!(written(2_000), most);
        assert_eq!(lines.suppressed(at(2_999)), None);
        assert_eq!(lines.suppressed(at(3_000)), Some(5));
        assert_eq!(lines.suppressed(at(9_000)), None, "it is reported once");
        assert_eq!(written(9_000), most);
        assert_eq!(lines.suppressed(at(60_000)), Some(5));
    }
}
