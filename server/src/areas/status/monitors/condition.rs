//! The condition of a monitor over time: its state, and how long it was in each.
//!
//! A monitor is down when `retries` checks after the first failed one fail too; then it was down
//! since the first. Until that is known, the time since then is not counted. Time is counted by
//! state, not by number of checks, so that changes of the interval do not distort the uptime. Time
//! of planned maintenance does not count, nor does time in which nothing was checked: because the
//! monitor was paused, the server did not run, or checks could not be made for another reason.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::lane::Prospect;
use super::model::MonitorState;

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckResult {
    pub(super) at: TimestampMs,
    pub(super) verdict: Verdict,
    /// How long the response took, if there was one.
    pub(super) response_ms: Option<u32>,
    /// When the certificate of the server ends, if it has one.
    pub(super) certificate_ends_at: Option<TimestampMs>,
    /// Whether the target took so long that the check gave up. Not stored.
    pub(super) timed_out: bool,
    /// How long the check took, also if it failed. Not stored.
    pub(super) took_ms: u32,
}

/// Whether a check was as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Up,
    /// It was, but for the reason given it may not stay so.
    Degraded(String),
    /// It was not, for the reason given.
    Failed(String),
}

/// The condition of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MonitorCondition {
    pub(super) state: MonitorState,
    /// Since when it is in this state.
    pub(super) since: TimestampMs,
    /// Why it is, for people; `None` if there is nothing to say.
    pub(super) reason: Option<String>,
    /// The last check.
    pub(super) last: Option<CheckResult>,
    /// Failed checks in a row that are not known to mean that it is down.
    pub(super) failures: u32,
    /// The first of these.
    pub(super) first_failure: Option<TimestampMs>,
    /// What is known about the next check beside the last one. Not stored.
    pub(super) prospect: Prospect,
    /// Whether the time counts as planned maintenance, whatever the state.
    pub(super) is_in_maintenance: bool,
    /// Since when checks are made: the start of the server, or the end of a pause.
    pub(super) observed_since: TimestampMs,
    /// For how long a check says something about the state. Later time was not observed.
    pub(super) covered_ms: i64,
    /// Up to when the time was counted.
    pub(super) counted_until: TimestampMs,
    /// The time in each state, by day since 1970, in UTC.
    pub(super) days: BTreeMap<i64, DayTimes>,
}

/// How long a monitor was in each state on a day, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::status) struct DayTimes {
    pub(in crate::areas::status) up_ms: u32,
    pub(in crate::areas::status) degraded_ms: u32,
    pub(in crate::areas::status) down_ms: u32,
    /// Planned maintenance, whatever the state was.
    pub(in crate::areas::status) maintenance_ms: u32,
}

/// A change of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StateChange {
    pub(super) at: TimestampMs,
    pub(super) state: MonitorState,
    pub(super) reason: Option<String>,
}

impl MonitorCondition {
    /// Returns the condition of a new monitor.
    pub(super) fn new(now: TimestampMs) -> Self {
        Self {
            state: MonitorState::Pending,
            since: now,
            reason: None,
            last: None,
            failures: 0,
            first_failure: None,
            prospect: Prospect::LikeLast,
            is_in_maintenance: false,
            observed_since: now,
            covered_ms: i64::MAX,
            counted_until: now,
            days: BTreeMap::new(),
        }
    }

    /// Takes notice of a check. Returns the change of the state, if there is one.
    pub(super) fn observe(&mut self, result: CheckResult, retries: u32) -> Option<StateChange> {
        let at = result.at;
        self.prospect = Prospect::LikeLast;
        if self.last.as_ref().is_some_and(|last| last.at > at) {
            // Another check began later and ended sooner.
            return None;
        }
        let (state, reason, since) = match &result.verdict {
            Verdict::Up => (MonitorState::Up, None, at),
            Verdict::Degraded(reason) => (MonitorState::Degraded, Some(reason.clone()), at),
            Verdict::Failed(reason) => {
                let first = *self.first_failure.get_or_insert(at);
                self.failures = self.failures.saturating_add(1);
                if self.failures <= retries && self.state != MonitorState::Down {
                    self.count(first);
                    self.last = Some(result);
                    return None;
                }
                let since = if self.state == MonitorState::Down { at } else { first };
                (MonitorState::Down, Some(reason.clone()), since)
            }
        };
        if state != MonitorState::Down {
            (self.failures, self.first_failure) = (0, None);
        }
        self.count(since);
        self.last = Some(result);
        self.turn(state, since, reason)
    }

    /// Notes that a check that began at `began` was given up because the target was slower than
    /// usual. If the next one fails, the target fails since then.
    pub(super) fn give_up(&mut self, began: TimestampMs) {
        self.prospect = Prospect::Slower;
        if self.state != MonitorState::Down {
            self.first_failure.get_or_insert(began);
        }
    }

    /// Begins or ends a pause. Returns the change of the state, if it does.
    pub(super) fn pause(&mut self, is_paused: bool, now: TimestampMs) -> Option<StateChange> {
        if (self.state == MonitorState::Paused) == is_paused {
            return None;
        }
        self.forget_failures(now);
        self.observed_since = now;
        let state = if is_paused { MonitorState::Paused } else { MonitorState::Pending };
        self.turn(state, now, None)
    }

    /// Forgets failed checks that are not confirmed, because something else is checked from now on,
    /// or nothing. The time since the first of them does not count.
    pub(super) fn forget_failures(&mut self, now: TimestampMs) {
        self.count_until(now);
        self.counted_until = self.counted_until.max(now);
        (self.failures, self.first_failure) = (0, None);
    }

    /// Returns whether it is not known yet if failed checks mean that the monitor is down.
    pub(super) fn is_failing(&self) -> bool {
        self.failures > 0 && self.state != MonitorState::Down
    }

    /// Begins or ends planned maintenance. Returns whether it did.
    pub(super) fn set_maintenance(&mut self, is_in_maintenance: bool, at: TimestampMs) -> bool {
        if self.is_in_maintenance == is_in_maintenance {
            return false;
        }
        self.count_until(at);
        self.counted_until = self.counted_until.max(at);
        self.is_in_maintenance = is_in_maintenance;
        true
    }

    /// Counts the time until `from` and leaves out that from there until now: nothing was checked,
    /// or the clock was changed.
    pub(super) fn leave_out(&mut self, from: TimestampMs, now: TimestampMs) {
        self.count_until(from.min(now));
        (self.failures, self.first_failure) = (0, None);
        (self.counted_until, self.observed_since) = (now, now);
        // Nothing happened in the future.
        self.since = self.since.min(now);
        if let Some(last) = &mut self.last {
            last.at = last.at.min(now);
        }
    }

    /// Counts the time until now in the state, unless it is about to change.
    pub(super) fn count_until(&mut self, now: TimestampMs) {
        let first_failure = self.first_failure.filter(|_| self.is_failing());
        self.count(first_failure.unwrap_or(now).min(now));
    }

    /// Returns the state as it is known at `now`: pending if no check was made for too long.
    pub(super) fn state_at(&self, now: TimestampMs) -> MonitorState {
        match self.state {
            MonitorState::Paused => MonitorState::Paused,
            state if self.is_observed(now) => state,
            _ => MonitorState::Pending,
        }
    }

    /// Returns whether it is known now whether it is up.
    pub(super) fn is_observed(&self, now: TimestampMs) -> bool {
        now <= self.observed_until()
    }

    /// Forgets the times of the days before `day`. Returns whether there were any.
    pub(super) fn forget_days_before(&mut self, day: i64) -> bool {
        let kept = self.days.split_off(&day);
        let forgotten = std::mem::replace(&mut self.days, kept);
        !forgotten.is_empty()
    }

    /// Returns the times of the last days, oldest first, today included.
    pub(super) fn last_days(&self, days: i64, now: TimestampMs) -> Vec<(i64, DayTimes)> {
        let mut counted = self.clone();
        counted.count_until(now);
        let today = day_of(now);
        let of = |day: i64| (day, counted.days.get(&day).copied().unwrap_or_default());
        (today - (days - 1)..=today).map(of).collect()
    }

    fn turn(
        &mut self,
        state: MonitorState,
        since: TimestampMs,
        reason: Option<String>,
    ) -> Option<StateChange> {
        let has_changed = self.state != state;
        self.reason.clone_from(&reason);
        if !has_changed {
            return None;
        }
        (self.state, self.since) = (state, since);
        Some(StateChange { at: since, state, reason })
    }

    /// Adds the time that was not counted yet to the state, day by day, as far as it was observed.
    fn count(&mut self, until: TimestampMs) {
        let (mut from, observed) = (self.counted_until, until.min(self.observed_until()));
        while from < observed {
            let day = day_of(from);
            let end = TimestampMs(((day + 1) * DAY_MS).min(observed.0));
            let ms = u32::try_from(end.0 - from.0).unwrap_or(u32::MAX);
            if let Some(sum) = self.sum() {
                let sum = sum(self.days.entry(day).or_default());
                *sum = sum.saturating_add(ms);
            }
            from = end;
        }
        self.counted_until = self.counted_until.max(until);
    }

    /// Returns the sum to which time counts now; `None` if it does not count.
    fn sum(&self) -> Option<fn(&mut DayTimes) -> &mut u32> {
        match self.state {
            MonitorState::Pending | MonitorState::Paused => None,
            _ if self.is_in_maintenance => Some(|times| &mut times.maintenance_ms),
            MonitorState::Up => Some(|times| &mut times.up_ms),
            MonitorState::Degraded => Some(|times| &mut times.degraded_ms),
            MonitorState::Down => Some(|times| &mut times.down_ms),
        }
    }

    /// Returns until when the last check says something about the state.
    pub(super) fn observed_until(&self) -> TimestampMs {
        let last = self.last.as_ref().map_or(self.observed_since, |last| last.at);
        TimestampMs(last.max(self.observed_since).0.saturating_add(self.covered_ms))
    }
}

impl DayTimes {
    /// Returns the share of the counted time in which it was up; `None` if none was counted.
    pub(super) fn uptime(self) -> Option<f64> {
        uptime_of(&[(0, self)])
    }
}

/// Returns the day of a time, since 1970 in UTC.
pub(super) fn day_of(at: TimestampMs) -> i64 {
    at.0.div_euclid(DAY_MS)
}

/// Returns the share of the counted time of some days in which it was up, in percent with three
/// decimals, rounded down: 100 only if it was never down. `None` if nothing was counted.
pub(super) fn uptime_of(days: &[(i64, DayTimes)]) -> Option<f64> {
    let (mut up, mut all) = (0_u64, 0_u64);
    for (_, DayTimes { up_ms, degraded_ms, down_ms, .. }) in days {
        let is_up = u64::from(*up_ms) + u64::from(*degraded_ms);
        up += is_up;
        all += is_up + u64::from(*down_ms);
    }
    let thousandths = (u128::from(up) * 100_000).checked_div(u128::from(all))?;
    Some(thousandths as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-01-02T00:00:00Z.
    const START: i64 = 1_767_312_000_000;

    fn at(second: i64) -> TimestampMs {
        TimestampMs(START + second * 1_000)
    }

    fn result(second: i64, verdict: Verdict) -> CheckResult {
        CheckResult {
            at: at(second),
            verdict,
            response_ms: None,
            certificate_ends_at: None,
            timed_out: false,
            took_ms: 0,
        }
    }

    fn up(second: i64) -> CheckResult {
        result(second, Verdict::Up)
    }

    fn failed(second: i64) -> CheckResult {
        result(second, Verdict::Failed("HTTP 503".to_owned()))
    }

    #[test]
    fn a_monitor_is_down_since_the_first_of_the_failed_checks() {
        let mut monitor = MonitorCondition::new(at(0));
        assert_eq!(monitor.observe(up(1), 2).unwrap().state, MonitorState::Up);
        assert_eq!(monitor.observe(failed(61), 2), None);
        assert_eq!(monitor.observe(failed(66), 2), None);
        assert!(monitor.is_failing());
        let change = monitor.observe(failed(71), 2).unwrap();
        assert_eq!((change.at, change.state), (at(61), MonitorState::Down));
        assert_eq!(monitor.observe(failed(131), 2), None);
        let change = monitor.observe(up(191), 2).unwrap();
        assert_eq!((change.at, change.state), (at(191), MonitorState::Up));
        let [(_, today)] = monitor.last_days(1, at(251))[..] else { panic!() };
        assert_eq!(today, DayTimes { up_ms: 120_000, down_ms: 130_000, ..DayTimes::default() });
        assert_eq!(uptime_of(&monitor.last_days(90, at(251))), Some(48.0));
    }

    #[test]
    fn a_failed_check_that_is_not_confirmed_counts_as_up() {
        let mut monitor = MonitorCondition::new(at(0));
        monitor.observe(up(0), 1);
        assert_eq!(monitor.observe(failed(60), 1), None);
        assert_eq!(uptime_of(&monitor.last_days(1, at(65))), Some(100.0), "it is not known yet");
        assert_eq!(monitor.observe(up(70), 1), None);
        assert_eq!(monitor.last_days(1, at(100))[0].1.up_ms, 100_000);
    }

    #[test]
    fn time_without_checks_does_not_count() {
        let mut monitor = MonitorCondition::new(at(0));
        monitor.observe(up(0), 0);
        monitor.pause(true, at(100));
        monitor.pause(false, at(500));
        monitor.observe(failed(600), 0);
        monitor.leave_out(at(700), at(5_000));
        let [(_, today)] = monitor.last_days(1, at(5_000))[..] else { panic!() };
        assert_eq!(today, DayTimes { up_ms: 100_000, down_ms: 100_000, ..DayTimes::default() });
        assert_eq!(uptime_of(&MonitorCondition::new(at(0)).last_days(90, at(9))), None);
    }

    #[test]
    fn maintenance_does_not_count_whatever_the_state() {
        let mut monitor = MonitorCondition::new(at(0));
        monitor.observe(up(0), 0);
        monitor.set_maintenance(true, at(100));
        monitor.observe(failed(150), 0);
        assert_eq!(uptime_of(&monitor.last_days(1, at(180))), Some(100.0));
        monitor.set_maintenance(false, at(200));
        let [(_, today)] = monitor.last_days(1, at(300))[..] else { panic!() };
        let (up_ms, down_ms, maintenance_ms) = (100_000, 100_000, 100_000);
        assert_eq!(today, DayTimes { up_ms, degraded_ms: 0, down_ms, maintenance_ms });
    }

    #[test]
    fn a_clock_that_was_set_back_leaves_nothing_out_later() {
        let mut monitor = MonitorCondition::new(at(0));
        monitor.observe(up(5_000), 0);
        monitor.leave_out(at(5_000), at(1_000));
        assert_eq!(monitor.last_days(1, at(1_500))[0].1.up_ms, 500_000);
    }

    #[test]
    fn what_is_not_confirmed_is_forgotten_when_something_else_is_checked() {
        let mut monitor = MonitorCondition::new(at(0));
        monitor.observe(up(0), 2);
        monitor.observe(failed(100), 2);
        assert_eq!(monitor.pause(false, at(150)), None);
        assert!(monitor.is_failing(), "nothing was paused");
        monitor.forget_failures(at(200));
        assert!(!monitor.is_failing());
        monitor.observe(up(300), 2);
        assert_eq!(monitor.last_days(1, at(300))[0].1.up_ms, 200_000);
    }

    #[test]
    fn the_uptime_is_rounded_down() {
        let times = |up_ms, down_ms| DayTimes { up_ms, down_ms, ..DayTimes::default() };
        assert_eq!(times(86_399_999, 1).uptime(), Some(99.999));
        assert_eq!(times(2, 1).uptime(), Some(66.666));
        assert_eq!(times(1, 0).uptime(), Some(100.0));
        assert_eq!(times(0, 1).uptime(), Some(0.0));
    }

    #[test]
    fn days_are_split_at_midnight_and_forgotten_after_ninety() {
        let mut monitor = MonitorCondition::new(at(-10));
        monitor.observe(up(-10), 0);
        let [(_, before), (_, today)] = monitor.last_days(2, at(5))[..] else { panic!() };
        assert_eq!((before.up_ms, today.up_ms), (10_000, 5_000));
        monitor.count_until(at(86_400 * 200 + 1));
        assert_eq!(monitor.days.len(), 202);
        let today = day_of(at(86_400 * 200));
        assert!(monitor.forget_days_before(today - 89));
        assert!(!monitor.forget_days_before(today - 89));
        assert_eq!(monitor.days.len(), 90);
    }

    #[test]
    fn time_after_a_check_counts_as_long_as_the_check_covers() {
        let mut monitor = MonitorCondition { covered_ms: 150_000, ..MonitorCondition::new(at(0)) };
        monitor.observe(up(0), 0);
        monitor.count_until(at(1_000));
        assert!(monitor.is_observed(at(150)) && !monitor.is_observed(at(151)));
        let states = [150, 151].map(|second| monitor.state_at(at(second)));
        assert_eq!(states, [MonitorState::Up, MonitorState::Pending]);
        monitor.observe(failed(2_000), 0);
        let [(_, today)] = monitor.last_days(1, at(2_010))[..] else { panic!() };
        assert_eq!(today, DayTimes { up_ms: 150_000, down_ms: 10_000, ..DayTimes::default() });
    }

    proptest! {
        /// Whatever the checks find and however far they are apart, each second counts once, in the
        /// state that a naive replay of the changes says.
        #[test]
        fn each_moment_counts_once(
            checks in prop::collection::vec((1_i64..4_000, 0_u8..3), 1..60),
            retries in 0_u32..3,
        ) {
            let mut monitor = MonitorCondition::new(at(0));
            let mut changes: Vec<(TimestampMs, MonitorState)> = vec![];
            let mut second = 0;
            for (pause, verdict) in checks {
                second += pause;
                let verdict = match verdict {
                    0 => Verdict::Up,
                    1 => Verdict::Degraded("slow".to_owned()),
                    _ => Verdict::Failed("HTTP 503".to_owned()),
                };
                let change = monitor.observe(result(second, verdict), retries);
                changes.extend(change.map(|change| (change.at, change.state)));
            }
            // The last word: nothing waits for confirmation.
            let change = monitor.observe(up(second + 1), retries);
            changes.extend(change.map(|change| (change.at, change.state)));
            let end = at(second + 10);
            let mut expected = DayTimes::default();
            for (i, (from, state)) in changes.iter().enumerate() {
                let until = changes.get(i + 1).map_or(end, |(until, _)| *until);
                let ms = u32::try_from(until.0 - from.0).unwrap();
                match state {
                    MonitorState::Up => expected.up_ms += ms,
                    MonitorState::Degraded => expected.degraded_ms += ms,
                    _ => expected.down_ms += ms,
                }
            }
            let days = monitor.last_days(90, end);
            let sum = |of: fn(&DayTimes) -> u32| days.iter().map(|(_, day)| of(day)).sum::<u32>();
            prop_assert_eq!(sum(|day| day.up_ms), expected.up_ms);
            prop_assert_eq!(sum(|day| day.degraded_ms), expected.degraded_ms);
            prop_assert_eq!(sum(|day| day.down_ms), expected.down_ms);
            prop_assert_eq!(uptime_of(&days), expected.uptime());
        }
    }
}
