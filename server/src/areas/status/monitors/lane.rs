//! Which checks share what they wait for: targets that hang, or are slow, must not hold up the
//! checks of others.

use super::condition::{CheckResult, MonitorCondition, Verdict};
use super::model::MonitorState;
use crate::areas::status::limits;
use crate::platform::outbound::Lane;

/// Milliseconds that the response of a usual target takes at most.
const QUICK_CHECK_MS: u32 = limits::QUICK_CHECK_SECONDS * 1_000;

/// What is known about the next check of a monitor beside the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prospect {
    /// Nothing.
    LikeLast,
    /// It is of another target.
    OtherTarget,
    /// A check was given up because the target was slower than usual.
    Slower,
}

impl MonitorCondition {
    /// Returns which of the client's requests the next check takes. Targets that are known to hang
    /// or to be slow delay only each other. Those that may be have a lane of their own.
    pub(super) fn lane(&self) -> Lane {
        let last = match (self.prospect, &self.last) {
            (Prospect::OtherTarget, _) | (_, None) => return Lane::Trial,
            (_, Some(last)) => last,
        };
        let may_recover = self.state != MonitorState::Down;
        match (self.prospect, last.was_slow(), &last.verdict) {
            (Prospect::Slower, ..) | (_, true, Verdict::Failed(_)) if may_recover => Lane::Trial,
            (Prospect::Slower, ..) | (_, true, _) => Lane::Slow,
            _ => Lane::Usual,
        }
    }
}

impl CheckResult {
    /// Returns whether the check took longer than those of usual targets.
    fn was_slow(&self) -> bool {
        let is_slow = |ms: u32| ms >= QUICK_CHECK_MS;
        self.timed_out || is_slow(self.took_ms) || self.response_ms.is_some_and(is_slow)
    }
}

/// How many more checks may be handed out. Usual ones are done soon. Of the others only as many
/// wait for a worker as keep all of them busy, so that their jobs do not fill the queues.
#[derive(Debug, Default)]
pub(super) struct HandOutSpace {
    trial: usize,
    slow: usize,
}

impl HandOutSpace {
    /// Counts a check. Returns whether there was space for it.
    pub(super) fn take(&mut self, lane: Lane) -> bool {
        let (taken, at_once) = match lane {
            Lane::Usual => return true,
            Lane::Trial => (&mut self.trial, limits::TRIAL_CHECKS_AT_ONCE),
            Lane::Slow => (&mut self.slow, limits::SLOW_CHECKS_AT_ONCE),
        };
        *taken += 1;
        *taken <= at_once as usize + limits::CHECKS_WAITING_MAX
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::TimestampMs;

    use super::*;

    fn result(at: i64, verdict: Verdict) -> CheckResult {
        CheckResult {
            at: TimestampMs(at),
            verdict,
            response_ms: None,
            certificate_ends_at: None,
            timed_out: false,
            took_ms: 0,
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
        monitor.prospect = Prospect::Slower;
        assert_eq!(monitor.lane(), Lane::Trial, "it was slower than usual");
        monitor.observe(CheckResult { timed_out: true, ..failed(20) }, 1);
        assert_eq!(monitor.lane(), Lane::Trial, "it is yet to be confirmed");
        monitor.observe(CheckResult { timed_out: true, ..failed(30) }, 1);
        assert_eq!((monitor.state, monitor.lane()), (MonitorState::Down, Lane::Slow));
        monitor.observe(CheckResult { response_ms: Some(5_000), ..up(40) }, 1);
        assert_eq!(monitor.lane(), Lane::Slow, "its responses are slow");
        monitor.observe(CheckResult { response_ms: Some(4_999), ..up(50) }, 1);
        assert_eq!(monitor.lane(), Lane::Usual);
        let closed_late = CheckResult { took_ms: 8_000, ..failed(51) };
        monitor.observe(closed_late.clone(), 1);
        assert_eq!(monitor.lane(), Lane::Trial);
        monitor.observe(CheckResult { at: TimestampMs(52), ..closed_late }, 1);
        assert_eq!(monitor.lane(), Lane::Slow, "it fails, and takes long for it");
        monitor.observe(up(53), 1);
        monitor.observe(failed(60), 0);
        assert_eq!((monitor.state, monitor.lane()), (MonitorState::Down, Lane::Usual));
        monitor.prospect = Prospect::Slower;
        assert_eq!(monitor.lane(), Lane::Slow, "it is known to be down");
        monitor.prospect = Prospect::OtherTarget;
        assert_eq!(monitor.lane(), Lane::Trial);
    }
}
