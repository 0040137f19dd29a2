//! How the rounds of the ledger follow each other, and what each does that nobody asked for.

use std::time::Duration;

use super::state::Now;
use crate::limits;

/// How long the ledger sleeps when nothing is due: callers who left while they waited are forgotten then.
const IDLE_MS: i64 = 1_000;

/// When rounds began, on the steady clock.
#[derive(Debug)]
pub(super) struct Pace {
    began_ms: i64,
    /// Whether the round before took nothing from anybody.
    was_lenient: bool,
    /// Commands that may have been sent while nobody listened, and were not taken yet.
    unheard: usize,
    /// A write failed: what fails of itself is not tried before.
    rests_until_ms: i64,
}

/// What a round does before it takes commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// All that is due.
    All,
    /// Nobody was listened to for long: who seems silent may have spoken, so workers lose nothing before all was heard that was
    /// said meanwhile.
    AllButLosses {
        /// For how long nobody was listened to; 0 in the rounds that hear the rest.
        stalled_ms: i64,
    },
    /// Nothing, as the last write failed just now.
    Nothing,
}

impl Pace {
    /// The pace of a ledger that begins now.
    pub(super) fn new(now: Now) -> Self {
        Self { began_ms: now.steady_ms, was_lenient: false, unheard: 0, rests_until_ms: i64::MIN }
    }

    /// A round begins. After one that took nothing from anybody none is late, so that nothing is put off for ever.
    pub(super) fn begin(&mut self, now: Now) -> Due {
        let gap_ms = now.steady_ms.saturating_sub(self.began_ms);
        let is_late = gap_ms > 2 * IDLE_MS && !self.was_lenient;
        if is_late {
            self.unheard = limits::LEDGER_QUEUE_MAX;
        }
        self.was_lenient = self.unheard > 0;
        self.began_ms = now.steady_ms;
        if now.steady_ms < self.rests_until_ms {
            Due::Nothing
        } else if self.was_lenient {
            Due::AllButLosses { stalled_ms: if is_late { gap_ms } else { 0 } }
        } else {
            Due::All
        }
    }

    /// The round took so many commands, and none is left if those were `all`.
    pub(super) fn heard(&mut self, commands: usize, all: bool) {
        self.unheard = if all { 0 } else { self.unheard.saturating_sub(commands) };
    }

    /// The write of the round failed, and that was known at this time.
    pub(super) fn rest(&mut self, now: Now) {
        self.rests_until_ms = now.steady_ms.saturating_add(IDLE_MS);
    }

    /// How long to sleep when the next thing is due in so many milliseconds from the beginning of the round.
    pub(super) fn sleep(&self, due_in_ms: Option<i64>) -> Duration {
        let rest_ms = self.rests_until_ms.saturating_sub(self.began_ms);
        let ms = due_in_ms.unwrap_or(IDLE_MS).max(rest_ms).clamp(0, IDLE_MS);
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
    fn a_round_that_comes_late_takes_nothing_from_anybody_and_the_next_one_does() {
        let mut pace = Pace::new(at(0));
        for (steady_ms, due) in [
            (1_000, Due::All),
            (3_000, Due::All),
            (48_000, Due::AllButLosses { stalled_ms: 45_000 }),
            (48_001, Due::All),
            (50_002, Due::AllButLosses { stalled_ms: 2_001 }),
            (60_000, Due::All),
            (70_000, Due::AllButLosses { stalled_ms: 10_000 }),
        ] {
            assert_eq!(pace.begin(at(steady_ms)), due, "at {steady_ms}");
            pace.heard(1, true);
        }
        assert_eq!(ms(&pace, Some(-10)), 0, "what is left for the next round comes at once");
        assert_eq!(
            (ms(&pace, Some(300)), ms(&pace, Some(9_000)), ms(&pace, None)),
            (300, 1_000, 1_000)
        );
    }

    #[test]
    fn all_that_was_said_while_nobody_listened_is_heard_first() {
        let mut pace = Pace::new(at(0));
        assert_eq!(pace.begin(at(50_000)), Due::AllButLosses { stalled_ms: 50_000 });
        pace.heard(limits::LEDGER_QUEUE_MAX / 2, false);
        // However long that takes.
        assert_eq!(pace.begin(at(60_000)), Due::AllButLosses { stalled_ms: 0 });
        pace.heard(limits::LEDGER_QUEUE_MAX / 2, false);
        assert_eq!(pace.begin(at(70_000)), Due::All, "more cannot have waited");
        pace.heard(limits::LEDGER_QUEUE_MAX / 2, false);
        assert_eq!(pace.begin(at(80_000)), Due::AllButLosses { stalled_ms: 10_000 });
        pace.heard(1, true);
        assert_eq!(pace.begin(at(80_001)), Due::All);
    }

    #[test]
    fn nothing_is_begun_for_a_while_after_a_write_that_failed() {
        let mut pace = Pace::new(at(0));
        assert_eq!(pace.begin(at(100)), Due::All);
        pace.rest(at(150));
        assert_eq!(ms(&pace, Some(0)), 1_000);
        assert_eq!(pace.begin(at(950)), Due::Nothing);
        assert_eq!(ms(&pace, Some(0)), 200, "the rest of the rest");
        assert_eq!(pace.begin(at(1_150)), Due::All);
        assert_eq!(ms(&pace, Some(0)), 0);
    }
}
