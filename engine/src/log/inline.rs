//! Whether a thread writes to the log what it submits, instead of the committing thread.
//!
//! On a fast disk the two switches, to the committing thread and back, take nearly as long as the
//! write itself. There, a thread that may block writes inline, together with what others have
//! queued: at once if nobody writes, after the one that does, or as the last that is expected
//! ([`super::write_queue`], [`super::gathering`]). A disk that stalls or fails must not hold such
//! threads: then all is left to the committing thread for a while, and for longer if that recurs.

use std::time::Duration;

use super::gathering::average;

/// The longest average time of a turn, from a group to its responses, for which threads write
/// inline: five times the two switches that this saves. Beyond it these do not count, and a thread
/// is kept from other work for too long.
const TURN_TIME_MAX: Duration = Duration::from_micros(500);
/// A turn of this length is a stall.
const STALL_TIME: Duration = Duration::from_millis(20);
/// The turns of the committing thread after a stall or a failure.
const PAUSE_TURNS_MIN: u32 = 16;
/// If stalls and failures recur, twice as many as the last time, at most so many.
const PAUSE_TURNS_MAX: u32 = 1_024;
/// A stall or a failure after so many turns without one is not a recurrence.
const CALM_TURNS: u32 = 1_024;

/// What is known about the turns of writing.
#[derive(Debug, Default)]
pub(super) struct InlineRule {
    /// The average time of a turn.
    turn_time: Duration,
    /// The turns until the end of the pause after a stall or a failure.
    pause: u32,
    /// The length of the last pause, in turns.
    last_pause: u32,
    /// Turns since the end of the last pause.
    calm: u32,
}

impl InlineRule {
    /// Notes that a turn took so long.
    pub(super) fn written(&mut self, took: Duration) {
        self.turn_time = average(self.turn_time, took);
        if took >= STALL_TIME {
            self.failed();
        } else if self.pause > 0 {
            self.pause -= 1;
        } else {
            self.calm = self.calm.saturating_add(1);
        }
    }

    /// Notes that a group could not be written, or took too long.
    pub(super) fn failed(&mut self) {
        let recurs = self.calm < CALM_TURNS;
        let longer = if recurs { self.last_pause.saturating_mul(2) } else { 0 };
        self.last_pause = longer.clamp(PAUSE_TURNS_MIN, PAUSE_TURNS_MAX);
        self.pause = self.last_pause;
        self.calm = 0;
    }

    /// Returns whether threads write inline. They do not before anything is known.
    pub(super) fn allows(&self) -> bool {
        let is_known = !self.turn_time.is_zero();
        is_known && self.pause == 0 && self.turn_time <= TURN_TIME_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Duration = Duration::from_micros(300);

    #[test]
    fn threads_write_inline_while_turns_are_short() {
        let mut rule = InlineRule::default();
        assert!(!rule.allows(), "nothing is known");
        let mut allows_after = |took| {
            rule.written(took);
            rule.allows()
        };
        assert!(allows_after(TURN_TIME_MAX));
        assert!(!allows_after(2 * TURN_TIME_MAX));
        let turns = (0..).take_while(|_| !allows_after(FAST)).count();
        assert!((1..16).contains(&turns), "{turns} turns after a slow one");
    }

    #[test]
    fn recurring_stalls_and_failures_make_ever_longer_pauses() {
        for fails in [false, true] {
            let mut rule = InlineRule::default();
            let mut pause_after = |good: u32| {
                (0..good).for_each(|_| rule.written(FAST));
                if fails {
                    rule.failed()
                } else {
                    rule.written(STALL_TIME)
                }
                let mut turns = 0;
                while !rule.allows() {
                    rule.written(FAST);
                    turns += 1;
                }
                turns
            };
            // A stall in the average may take longer than the pause.
            let within = |turns: u32, least: u32| (least..least + 16).contains(&turns);
            assert!(within(pause_after(1), PAUSE_TURNS_MIN));
            assert!(within(pause_after(9), 2 * PAUSE_TURNS_MIN));
            assert!(within(pause_after(9), 4 * PAUSE_TURNS_MIN));
            assert!(within(pause_after(CALM_TURNS), PAUSE_TURNS_MIN), "it was calm");
            let recurring: Vec<u32> = (0..9).map(|_| pause_after(1)).collect();
            assert!(within(recurring[8], PAUSE_TURNS_MAX), "{recurring:?}");
        }
    }
}
