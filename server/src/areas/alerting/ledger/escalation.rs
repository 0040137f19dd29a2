//! The timers of an escalation: which steps of a policy are due.
//!
//! Delays count from the start of a cycle. Steps are remembered by delay, not by position, so that
//! a policy can be changed while alerts fire: the next step is the first one with a greater delay
//! than the last. A policy that repeats begins its next cycle some minutes after its last step; if
//! that moment has passed long ago, because the server did not run, the cycle begins now, so that
//! missed cycles do not follow each other at once.

use telltale_engine::TimestampMs;

use crate::areas::alerting::policies::Policy;

/// Milliseconds of a minute.
const MINUTE_MS: i64 = 60_000;
/// A cycle that begins later than this after its time counts from when it begins.
const LATE_MS: i64 = 60_000;

/// How far the notifications of an alert have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Escalation {
    /// How often the policy has started over.
    pub(in crate::areas::alerting) cycle: u32,
    /// The start of the cycle.
    pub(in crate::areas::alerting) started_at: TimestampMs,
    /// Whether those were notified who are notified at the start of a cycle.
    pub(in crate::areas::alerting) is_begun: bool,
    /// The delay of the last steps that were due in the cycle, in minutes.
    pub(in crate::areas::alerting) last_delay: Option<u32>,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A cycle begins.
    Cycle(u32),
    /// The steps of the policy with this delay are due.
    Steps {
        /// The cycle.
        cycle: u32,
        /// Minutes since its start.
        delay: u32,
    },
}

impl Escalation {
    /// Returns an escalation that begins now, from the first step.
    pub(super) fn begin(now: TimestampMs) -> Self {
        Self { cycle: 0, started_at: now, is_begun: false, last_delay: None }
    }

    /// Returns what is due, in order, and remembers that it was.
    pub(super) fn advance(&mut self, policy: Option<&Policy>, now: TimestampMs) -> Vec<Due> {
        let mut due = Vec::new();
        loop {
            if !self.is_begun {
                self.is_begun = true;
                due.push(Due::Cycle(self.cycle));
            }
            let Some(policy) = policy.filter(|policy| policy.enabled) else { return due };
            match self.next(policy) {
                Some(Next::Steps { delay, at }) if at <= now => {
                    self.last_delay = Some(delay);
                    due.push(Due::Steps { cycle: self.cycle, delay });
                }
                Some(Next::Cycle { at }) if at <= now => {
                    let is_late = now.0.saturating_sub(at.0) > LATE_MS;
                    self.started_at = if is_late { now } else { at };
                    self.cycle = self.cycle.saturating_add(1);
                    self.is_begun = false;
                    self.last_delay = None;
                }
                _ => return due,
            }
        }
    }

    /// Returns when something is due next.
    pub(super) fn next_at(&self, policy: &Policy) -> Option<TimestampMs> {
        if !policy.enabled {
            return None;
        }
        match self.next(policy)? {
            Next::Steps { at, .. } | Next::Cycle { at } => Some(at),
        }
    }

    /// Moves the timers, after a change of the clock or a pause.
    pub(super) fn shift(&mut self, ms: i64) {
        self.started_at = TimestampMs(self.started_at.0.saturating_add(ms));
    }

    /// Makes it begin now if it would begin later.
    pub(super) fn begin_by(&mut self, now: TimestampMs) {
        self.started_at = self.started_at.min(now);
    }

    fn next(&self, policy: &Policy) -> Option<Next> {
        let at = |minutes: u32| {
            TimestampMs(self.started_at.0.saturating_add(i64::from(minutes) * MINUTE_MS))
        };
        let mut delays = policy.steps.as_slice().iter().map(|step| step.delay_minutes);
        if let Some(delay) = delays.find(|delay| self.last_delay.is_none_or(|last| *delay > last)) {
            return Some(Next::Steps { delay, at: at(delay) });
        }
        let repeat = policy.repeat;
        let max = repeat.max.unwrap_or(crate::areas::alerting::limits::POLICY_REPEATS_DEFAULT);
        let after = repeat.after_minutes.filter(|_| repeat.enabled && self.cycle < max)?;
        Some(Next::Cycle { at: at(self.last_delay?.saturating_add(after)) })
    }
}

/// What comes next in an escalation.
#[derive(Clone, Copy, Debug)]
enum Next {
    Steps { delay: u32, at: TimestampMs },
    Cycle { at: TimestampMs },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::alerting::policies::examples::policy;

    const START: TimestampMs = TimestampMs(1_767_323_045_678);

    fn minutes(count: i64) -> TimestampMs {
        TimestampMs(START.0 + count * MINUTE_MS)
    }

    fn steps(cycle: u32, delay: u32) -> Due {
        Due::Steps { cycle, delay }
    }

    #[test]
    fn each_step_is_due_once_at_its_time() {
        let policy = policy(&[0, 5, 5, 10], Some((30, 2)));
        let mut escalation = Escalation::begin(START);
        let mut seen = Vec::new();
        for minute in 0..200 {
            let due = escalation.advance(Some(&policy), minutes(minute));
            seen.extend(due.into_iter().map(|due| (minute, due)));
        }
        let mut expected = Vec::new();
        for (cycle, start) in [(0, 0), (1, 40), (2, 80)] {
            expected.push((start, Due::Cycle(cycle)));
            for delay in [0, 5, 10] {
                expected.push((start + i64::from(delay), steps(cycle, delay)));
            }
        }
        assert_eq!(seen, expected);
        assert_eq!(escalation.next_at(&policy), None);
    }

    #[test]
    fn missed_steps_are_due_at_once_and_missed_cycles_one_by_one() {
        let policy = policy(&[0, 5], Some((10, 3)));
        let mut escalation = Escalation::begin(START);
        // The first cycle, and the start of the second one, which would have ended long ago.
        let due = escalation.advance(Some(&policy), minutes(300));
        let expected = [Due::Cycle(0), steps(0, 0), steps(0, 5), Due::Cycle(1), steps(1, 0)];
        assert_eq!(due, expected);
        assert_eq!(escalation.next_at(&policy), Some(minutes(305)));
    }

    #[test]
    fn a_cycle_that_begins_a_moment_late_counts_from_its_time() {
        let policy = policy(&[0], Some((10, 3)));
        let mut escalation = Escalation::begin(START);
        escalation.advance(Some(&policy), START);
        let late = TimestampMs(minutes(10).0 + LATE_MS);
        assert_eq!(escalation.advance(Some(&policy), late), [Due::Cycle(1), steps(1, 0)]);
        assert_eq!(escalation.started_at, minutes(10));
    }

    #[test]
    fn without_a_policy_only_the_first_cycle_begins() {
        let mut escalation = Escalation::begin(START);
        assert_eq!(escalation.advance(None, START), [Due::Cycle(0)]);
        assert_eq!(escalation.advance(None, minutes(1_000)), []);
    }

    #[test]
    fn a_policy_can_change_between_steps() {
        let mut escalation = Escalation::begin(START);
        let due = escalation.advance(Some(&policy(&[0, 5, 10], None)), minutes(5));
        assert_eq!(due, [Due::Cycle(0), steps(0, 0), steps(0, 5)]);
        // Neither the step that was moved before the last one, nor those that were there.
        let changed = policy(&[1, 5, 7], None);
        assert_eq!(escalation.advance(Some(&changed), minutes(20)), [steps(0, 7)]);
        let mut disabled = policy(&[30], None);
        disabled.enabled = false;
        assert_eq!(escalation.advance(Some(&disabled), minutes(40)), []);
        assert_eq!(
            escalation.advance(Some(&policy(&[], Some((5, 1)))), minutes(60)),
            [Due::Cycle(1)]
        );
    }

    #[test]
    fn a_policy_without_steps_does_not_repeat() {
        let mut escalation = Escalation::begin(START);
        let empty = policy(&[], Some((5, 3)));
        assert_eq!(escalation.advance(Some(&empty), minutes(60)), [Due::Cycle(0)]);
    }
}
