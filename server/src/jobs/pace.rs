//! The timing of the ledger's cycles, and what each may do without a command.

use std::time::Duration;

use super::state::Now;
use crate::limits;

/// The longest sleep of the ledger: waiting fetches whose callers have disconnected are pruned
/// after it.
const IDLE_MS: i64 = 1_000;

/// The timing of cycles, on the monotonic clock.
#[derive(Debug)]
pub(super) struct Pace {
    started_ms: i64,
    /// Whether the previous cycle skipped expiry.
    skipped_expiry: bool,
    /// Commands that may have been sent during a stall and were not received yet.
    unread: usize,
    /// After a failed write, timers do not fire before this time.
    backoff_until_ms: i64,
}

/// What a cycle does before it applies commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Everything that is due.
    All,
    /// Everything but the expiry of workers and leases. The ledger was stalled: heartbeats may be
    /// queued, so nothing expires before all commands sent meanwhile are applied.
    AllButExpiry {
        /// The duration of the stall; 0 in the cycles that apply the rest.
        stalled_ms: i64,
    },
    /// Nothing, because the last write failed just now.
    Nothing,
}

impl Pace {
    /// Returns the pace of a ledger that starts now.
    pub(super) fn new(now: Now) -> Self {
        Self {
            started_ms: now.steady_ms,
            skipped_expiry: false,
            unread: 0,
            backoff_until_ms: i64::MIN,
        }
    }

    /// Starts a cycle. The cycle after one that skipped expiry does not count as late, so that
    /// expiry is not postponed forever.
    pub(super) fn begin(&mut self, now: Now) -> Due {
        let gap_ms = now.steady_ms.saturating_sub(self.started_ms);
        let is_late = gap_ms > 2 * IDLE_MS && !self.skipped_expiry;
        if is_late {
            self.unread = limits::LEDGER_QUEUE_MAX;
        }
        self.skipped_expiry = self.unread > 0;
        self.started_ms = now.steady_ms;
        if now.steady_ms < self.backoff_until_ms {
            Due::Nothing
        } else if self.skipped_expiry {
            Due::AllButExpiry { stalled_ms: if is_late { gap_ms } else { 0 } }
        } else {
            Due::All
        }
    }

    /// Records how many commands the cycle took, and whether the queue is empty.
    pub(super) fn took_commands(&mut self, commands: usize, all: bool) {
        self.unread = if all { 0 } else { self.unread.saturating_sub(commands) };
    }

    /// Records that a write failed, as known at this time.
    pub(super) fn back_off(&mut self, now: Now) {
        self.backoff_until_ms = now.steady_ms.saturating_add(IDLE_MS);
    }

    /// Returns how long to sleep if the next timer is due this many milliseconds after the start of
    /// the cycle.
    pub(super) fn sleep(&self, due_in_ms: Option<i64>) -> Duration {
        let backoff_ms = self.backoff_until_ms.saturating_sub(self.started_ms);
        let ms = due_in_ms.unwrap_or(IDLE_MS).max(backoff_ms).clamp(0, IDLE_MS);
        Duration::from_millis(ms.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::TimestampMs;

    use super::*;

    fn at(steady_ms: i64) -> Now {
        Now { wall: TimestampMs(0), believed: TimestampMs(0), steady_ms }
    }

    fn ms(pace: &Pace, due_in_ms: Option<i64>) -> u128 {
        pace.sleep(due_in_ms).as_millis()
    }

    #[test]
    fn a_late_cycle_skips_expiry_and_the_next_one_does_not() {
        let mut pace = Pace::new(at(0));
        for (steady_ms, due) in [
            (1_000, Due::All),
            (3_000, Due::All),
            (48_000, Due::AllButExpiry { stalled_ms: 45_000 }),
            (48_001, Due::All),
            (50_002, Due::AllButExpiry { stalled_ms: 2_001 }),
            (60_000, Due::All),
            (70_000, Due::AllButExpiry { stalled_ms: 10_000 }),
        ] {
            assert_eq!(pace.begin(at(steady_ms)), due, "at {steady_ms}");
            pace.took_commands(1, true);
        }
        assert_eq!(ms(&pace, Some(-10)), 0, "work left over is done at once");
        assert_eq!(
            (ms(&pace, Some(300)), ms(&pace, Some(9_000)), ms(&pace, None)),
            (300, 1_000, 1_000)
        );
    }

    #[test]
    fn all_commands_sent_during_a_stall_are_applied_before_anything_expires() {
        let mut pace = Pace::new(at(0));
        assert_eq!(pace.begin(at(50_000)), Due::AllButExpiry { stalled_ms: 50_000 });
        pace.took_commands(limits::LEDGER_QUEUE_MAX / 2, false);
        // However long that takes.
        assert_eq!(pace.begin(at(60_000)), Due::AllButExpiry { stalled_ms: 0 });
        pace.took_commands(limits::LEDGER_QUEUE_MAX / 2, false);
        assert_eq!(pace.begin(at(70_000)), Due::All, "more commands cannot have been queued");
        pace.took_commands(limits::LEDGER_QUEUE_MAX / 2, false);
        assert_eq!(pace.begin(at(80_000)), Due::AllButExpiry { stalled_ms: 10_000 });
        pace.took_commands(1, true);
        assert_eq!(pace.begin(at(80_001)), Due::All);
    }

    #[test]
    fn no_timer_fires_for_a_while_after_a_failed_write() {
        let mut pace = Pace::new(at(0));
        assert_eq!(pace.begin(at(100)), Due::All);
        pace.back_off(at(150));
        assert_eq!(ms(&pace, Some(0)), 1_000);
        assert_eq!(pace.begin(at(950)), Due::Nothing);
        assert_eq!(ms(&pace, Some(0)), 200, "the remaining backoff");
        assert_eq!(pace.begin(at(1_150)), Due::All);
        assert_eq!(ms(&pace, Some(0)), 0);
    }
}
