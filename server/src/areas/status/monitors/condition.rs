//! The condition of a monitor over time: its state, and how long it was in each.
//!
//! A monitor is down when `retries` checks after the first failed one fail too; then it was down
//! since the first. Until that is known, the time since then is not counted. Time is counted by
//! state, not by number of checks, so that changes of the interval do not distort the uptime. Time
//! of planned maintenance does not count, nor does time in which nothing was checked because the
//! monitor was paused or the server did not run.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::model::MonitorState;
use crate::areas::status::limits;

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
    failures: u32,
    /// The first of these.
    first_failure: Option<TimestampMs>,
    /// Whether the time counts as planned maintenance, whatever the state.
    is_in_maintenance: bool,
    /// Since when checks are made: the start of the server, or the end of a pause.
    pub(super) observed_since: TimestampMs,
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
            is_in_maintenance: false,
            observed_since: now,
            counted_until: now,
            days: BTreeMap::new(),
        }
    }

    /// Returns a condition as it was stored. Whether it was about to be down is forgotten.
    pub(super) fn stored(
        state: MonitorState,
        since: TimestampMs,
        reason: Option<String>,
        counted_until: TimestampMs,
    ) -> Self {
        Self { state, since, reason, counted_until, ..Self::new(since) }
    }

    /// Takes notice of a check. Returns the change of the state, if there is one.
    pub(super) fn observe(&mut self, result: CheckResult, retries: u32) -> Option<StateChange> {
        let at = result.at;
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

    /// Begins or ends a pause.
    pub(super) fn pause(&mut self, is_paused: bool, now: TimestampMs) -> Option<StateChange> {
        self.count(now);
        (self.failures, self.first_failure) = (0, None);
        let state = if is_paused { MonitorState::Paused } else { MonitorState::Pending };
        let is_other = (self.state == MonitorState::Paused) != is_paused;
        if !is_other {
            return None;
        }
        self.observed_since = now;
        self.turn(state, now, None)
    }

    /// Returns whether it is not known yet if failed checks mean that the monitor is down.
    pub(super) fn is_failing(&self) -> bool {
        self.failures > 0 && self.state != MonitorState::Down
    }

    /// Begins or ends planned maintenance.
    pub(super) fn set_maintenance(&mut self, is_in_maintenance: bool, at: TimestampMs) {
        if self.is_in_maintenance != is_in_maintenance {
            self.count_until(at);
            self.counted_until = self.counted_until.max(at);
            self.is_in_maintenance = is_in_maintenance;
        }
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

    /// Returns the share of the counted time of the last days in which it was up, in percent with
    /// three decimals, rounded down; `None` if none was counted.
    pub(super) fn uptime(&self, days: i64, now: TimestampMs) -> Option<f64> {
        let mut counted = self.clone();
        counted.count_until(now);
        let first = day_of(now) - (days - 1);
        let times = counted.days.range(first..).map(|(_, times)| *times);
        uptime_of(times)
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

    /// Adds the time that was not counted yet to the state, day by day.
    fn count(&mut self, until: TimestampMs) {
        let mut from = self.counted_until;
        while from < until {
            let day = day_of(from);
            let end = TimestampMs(((day + 1) * DAY_MS).min(until.0));
            let ms = u32::try_from(end.0 - from.0).unwrap_or(u32::MAX);
            let times = self.days.entry(day).or_default();
            match self.state {
                MonitorState::Pending | MonitorState::Paused => {}
                _ if self.is_in_maintenance => add(&mut times.maintenance_ms, ms),
                MonitorState::Up => add(&mut times.up_ms, ms),
                MonitorState::Degraded => add(&mut times.degraded_ms, ms),
                MonitorState::Down => add(&mut times.down_ms, ms),
            }
            from = end;
        }
        self.counted_until = self.counted_until.max(until);
        let oldest = day_of(self.counted_until) - limits::UPTIME_DAYS;
        self.days.retain(|day, times| *day > oldest && *times != DayTimes::default());
    }
}

impl DayTimes {
    /// Returns the share of the counted time in which it was up; `None` if none was counted.
    pub(super) fn uptime(self) -> Option<f64> {
        uptime_of([self].into_iter())
    }
}

fn add(sum: &mut u32, ms: u32) {
    *sum = sum.saturating_add(ms);
}

/// Returns the day of a time, since 1970 in UTC.
pub(super) fn day_of(at: TimestampMs) -> i64 {
    at.0.div_euclid(DAY_MS)
}

fn uptime_of(times: impl Iterator<Item = DayTimes>) -> Option<f64> {
    let (mut up, mut all) = (0_u64, 0_u64);
    for DayTimes { up_ms, degraded_ms, down_ms, .. } in times {
        let is_up = u64::from(up_ms) + u64::from(degraded_ms);
        up += is_up;
        all += is_up + u64::from(down_ms);
    }
    // In thousandths of a percent, rounded down: 100 only if it was never down.
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
        CheckResult { at: at(second), verdict, response_ms: None, certificate_ends_at: None }
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
        assert_eq!(monitor.uptime(90, at(251)), Some(48.0));
    }

    #[test]
    fn a_failed_check_that_is_not_confirmed_counts_as_up() {
        let mut monitor = MonitorCondition::new(at(0));
        monitor.observe(up(0), 1);
        assert_eq!(monitor.observe(failed(60), 1), None);
        assert_eq!(monitor.uptime(1, at(65)), Some(100.0), "it is not known yet");
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
        assert_eq!(MonitorCondition::new(at(0)).uptime(90, at(9)), None);
    }

    #[test]
    fn maintenance_does_not_count_whatever_the_state() {
        let mut monitor = MonitorCondition::new(at(0));
        monitor.observe(up(0), 0);
        monitor.set_maintenance(true, at(100));
        monitor.observe(failed(150), 0);
        assert_eq!(monitor.uptime(1, at(180)), Some(100.0));
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
        assert_eq!(monitor.days.len(), 90);
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
            prop_assert_eq!(monitor.uptime(90, end), expected.uptime());
        }
    }
}
