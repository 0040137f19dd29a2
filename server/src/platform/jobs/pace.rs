//! How the rounds of the ledger follow each other, and what each does that nobody asked for.

use std::time::Duration;

use super::state::Now;

/// How long the ledger sleeps when nothing is due: callers who left while they waited are forgotten then.
const IDLE_MS: i64 = 1_000;

/// When rounds began, on the steady clock.
#[derive(Debug)]
pub(super) struct Pace {
    began_ms: i64,
    was_late: bool,
    /// A write failed: what fails of itself is not tried before.
    rests_until_ms: i64,
}

/// What a round does before it takes commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// All that is due.
    All,
    /// Nobody was listened to for long: who seems silent may have spoken. The next round takes from workers what is due.
    AllButLosses,
    /// Nothing, as the last write failed just now.
    Nothing,
}

impl Pace {
    /// The pace of a ledger that begins now.
    pub(super) fn new(now: Now) -> Self {
        Self { began_ms: now.steady_ms, was_late: false, rests_until_ms: i64::MIN }
    }

    /// A round begins. Of two that follow each other one is late at most, so that nothing is put off for ever.
    pub(super) fn begin(&mut self, now: Now) -> Due {
        let gap_ms = now.steady_ms.saturating_sub(self.began_ms);
        self.was_late = gap_ms > 2 * IDLE_MS && !self.was_late;
        self.began_ms = now.steady_ms;
        match (now.steady_ms < self.rests_until_ms, self.was_late) {
            (true, _) => Due::Nothing,
            (false, true) => Due::AllButLosses,
            (false, false) => Due::All,
        }
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
        Now { wall: TimestampMs(0), steady_ms }
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
            (48_000, Due::AllButLosses),
            (48_001, Due::All),
            (50_002, Due::AllButLosses),
            (60_000, Due::All),
            (70_000, Due::AllButLosses),
        ] {
            assert_eq!(pace.begin(at(steady_ms)), due, "at {steady_ms}");
        }
        assert_eq!(ms(&pace, Some(-10)), 0, "what is left for the next round comes at once");
        assert_eq!(
            (ms(&pace, Some(300)), ms(&pace, Some(9_000)), ms(&pace, None)),
            (300, 1_000, 1_000)
        );
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
