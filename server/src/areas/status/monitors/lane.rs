//! Which checks share what they wait for: targets that hang, or are slow, must not hold up the
//! checks of others.

use super::condition::MonitorCondition;
use super::model::MonitorState;
use crate::areas::status::limits;
use crate::platform::outbound::Lane;

/// Milliseconds that the response of a usual target takes at most.
const QUICK_CHECK_MS: u32 = limits::QUICK_CHECK_SECONDS * 1_000;

impl MonitorCondition {
    /// Returns which of the client's requests the next check takes: targets that are known to hang
    /// or to be slow delay only each other, and not those of which that is yet to be found out.
    pub(super) fn lane(&self) -> Lane {
        let Some(last) = &self.last else { return Lane::Trial };
        let is_down = self.state == MonitorState::Down;
        let was_slow = last.response_ms.is_some_and(|ms| ms >= QUICK_CHECK_MS);
        match (last.timed_out, is_down) {
            (true, true) => Lane::Slow,
            (true, false) => Lane::Trial,
            (false, _) if was_slow => Lane::Slow,
            (false, _) if self.is_on_trial => Lane::Trial,
            (false, _) => Lane::Usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::TimestampMs;

    use super::*;
    use crate::areas::status::monitors::condition::{CheckResult, Verdict};

    fn result(at: i64, verdict: Verdict) -> CheckResult {
        CheckResult {
            at: TimestampMs(at),
            verdict,
            response_ms: None,
            certificate_ends_at: None,
            timed_out: false,
        }
    }

    fn up(at: i64) -> CheckResult {
        result(at, Verdict::Up)
    }

    fn failed(at: i64) -> CheckResult {
        result(at, Verdict::Failed("as planned".to_owned()))
    }

    #[test]
    fn targets_that_hang_and_new_ones_are_checked_apart() {
        let mut monitor = MonitorCondition::new(TimestampMs(0));
        assert_eq!(monitor.lane(), Lane::Trial);
        monitor.observe(up(0), 1);
        assert_eq!(monitor.lane(), Lane::Usual);
        monitor.observe(failed(10), 1);
        assert_eq!(monitor.lane(), Lane::Usual, "it was refused at once");
        monitor.observe(up(15), 1);
        monitor.is_on_trial = true;
        assert_eq!(monitor.lane(), Lane::Trial, "it was slower than usual");
        monitor.observe(CheckResult { timed_out: true, ..failed(20) }, 1);
        assert_eq!(monitor.lane(), Lane::Trial, "it is yet to be confirmed");
        monitor.observe(CheckResult { timed_out: true, ..failed(30) }, 1);
        assert_eq!((monitor.state, monitor.lane()), (MonitorState::Down, Lane::Slow));
        monitor.observe(CheckResult { response_ms: Some(5_000), ..up(40) }, 1);
        assert_eq!(monitor.lane(), Lane::Slow, "it answers, and is slow");
        monitor.observe(CheckResult { response_ms: Some(4_999), ..up(50) }, 1);
        assert_eq!(monitor.lane(), Lane::Usual);
    }
}
