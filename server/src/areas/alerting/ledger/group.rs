//! The condition of a rule over time, for one group: pending, firing, flapping.
//!
//! A group begins to fire when its condition was met for as long as the rule says, and ends when it
//! is not met. A group that begins and ends more than [`FLAPPING_CHANGES`] times within an hour is
//! flapping: its alert stays open whatever its condition does, until there were at most
//! [`SETTLED_CHANGES`] changes in an hour.

use telltale_engine::TimestampMs;

use super::model::{AlertId, Labels, labels_bytes};
use super::weighed::Weigh;

/// More changes within an hour than this are flapping.
pub(super) const FLAPPING_CHANGES: usize = 6;
/// Up to this many changes within an hour, a flapping group settles.
pub(super) const SETTLED_CHANGES: usize = 3;
/// The time in which changes are counted, in milliseconds.
const CHANGES_MS: i64 = 3_600_000;
/// Changes that are remembered: more than decide anything.
const CHANGES_KEPT: usize = 16;

/// A group that is not simply calm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Group {
    pub(in crate::areas::alerting) labels: Labels,
    pub(in crate::areas::alerting) condition: ConditionState,
    /// The alert that is open.
    pub(in crate::areas::alerting) alert: Option<AlertId>,
    pub(in crate::areas::alerting) is_flapping: bool,
    /// When the group began or ended to fire, in the last hour.
    pub(in crate::areas::alerting) changes: Vec<TimestampMs>,
}

/// The state of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) enum ConditionState {
    /// It is not met.
    Calm,
    /// It is met, but not yet for as long as the rule says.
    Pending {
        /// Since when.
        since: TimestampMs,
    },
    /// It is met for long enough.
    Firing {
        /// Since when it is met.
        since: TimestampMs,
    },
    /// It is met, but a person has resolved the alert: nothing happens until it was not met once.
    Held,
}

/// What an observation means for the alert of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Observed {
    /// Nothing is different.
    Same,
    /// Only the state of the group is different.
    GroupOnly,
    /// An alert begins.
    Fires,
    /// The alert ends.
    Resolves,
    /// The alert is flapping from now on. If there is none, one begins.
    Flaps,
    /// The alert is not flapping any more. It ends if the condition is not met.
    Settles,
}

impl Group {
    /// Returns a calm group.
    pub(super) fn new(labels: Labels) -> Self {
        Self {
            labels,
            condition: ConditionState::Calm,
            alert: None,
            is_flapping: false,
            changes: Vec::new(),
        }
    }

    /// Returns whether nothing has to be remembered.
    pub(super) fn is_forgettable(&self, now: TimestampMs) -> bool {
        self.condition == ConditionState::Calm
            && self.alert.is_none()
            && self.changes.iter().all(|change| !is_recent(*change, now))
    }

    /// Returns whether its condition is not met.
    pub(in crate::areas::alerting) fn is_calm(&self) -> bool {
        self.condition == ConditionState::Calm
    }

    /// Takes notice of whether the condition is met. The caller keeps `alert` up to date.
    pub(super) fn observe(&mut self, is_met: bool, hold_ms: i64, now: TimestampMs) -> Observed {
        self.changes.retain(|change| is_recent(*change, now));
        let before = self.condition;
        self.condition = before.after(is_met, hold_ms, now);
        let has_turned = before.is_firing() != self.condition.is_firing();
        if has_turned {
            if self.changes.len() >= CHANGES_KEPT {
                self.changes.remove(0);
            }
            self.changes.push(now);
        }
        if self.is_flapping {
            if self.changes.len() > SETTLED_CHANGES {
                return if before == self.condition { Observed::Same } else { Observed::GroupOnly };
            }
            self.is_flapping = false;
            return Observed::Settles;
        }
        let is_open = self.alert.is_some() || self.condition.is_firing();
        if has_turned && is_open && self.changes.len() > FLAPPING_CHANGES {
            self.is_flapping = true;
            return Observed::Flaps;
        }
        match (has_turned, self.condition.is_firing()) {
            (true, true) => Observed::Fires,
            (true, false) if self.alert.is_some() => Observed::Resolves,
            _ if before != self.condition => Observed::GroupOnly,
            _ => Observed::Same,
        }
    }

    /// Ends the alert on behalf of a person.
    pub(super) fn resolve(&mut self) {
        self.condition = if self.condition == ConditionState::Calm {
            ConditionState::Calm
        } else {
            ConditionState::Held
        };
        self.alert = None;
        self.is_flapping = false;
    }

    /// Takes over an open alert whose group is not known.
    pub(super) fn adopt(&mut self, alert: AlertId, since: TimestampMs, is_flapping: bool) {
        self.alert = Some(alert);
        self.condition = ConditionState::Firing { since };
        self.is_flapping = is_flapping;
    }

    /// Moves all times, after a change of the clock.
    pub(super) fn shift(&mut self, ms: i64) {
        self.move_times(|at| TimestampMs(at.0.saturating_add(ms)));
    }

    /// Makes nothing begin later than now.
    pub(super) fn begin_by(&mut self, now: TimestampMs) {
        self.move_times(|at| at.min(now));
    }

    fn move_times(&mut self, moved: impl Fn(TimestampMs) -> TimestampMs) {
        self.condition = match self.condition {
            ConditionState::Pending { since } => ConditionState::Pending { since: moved(since) },
            ConditionState::Firing { since } => ConditionState::Firing { since: moved(since) },
            other => other,
        };
        self.changes.iter_mut().for_each(|at| *at = moved(*at));
    }
}

impl Weigh for Group {
    fn bytes(&self) -> usize {
        let key = 64;
        key + size_of::<Self>() + labels_bytes(&self.labels) + self.changes.len() * 8
    }
}

impl ConditionState {
    /// Returns whether an alert is justified.
    pub(super) fn is_firing(self) -> bool {
        matches!(self, Self::Firing { .. })
    }

    fn after(self, is_met: bool, hold_ms: i64, now: TimestampMs) -> Self {
        let since = match self {
            _ if !is_met => return Self::Calm,
            Self::Held | Self::Firing { .. } => return self,
            Self::Pending { since } => since,
            Self::Calm => now,
        };
        let is_due = now.0.saturating_sub(since.0) >= hold_ms;
        if is_due { Self::Firing { since } } else { Self::Pending { since } }
    }
}

fn is_recent(change: TimestampMs, now: TimestampMs) -> bool {
    (0..CHANGES_MS).contains(&now.0.saturating_sub(change.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_MS: i64 = 60_000;

    /// Observes a group each minute, as a ledger would; returns what is not the same.
    fn run(group: &mut Group, hold_ms: i64, from: i64, met: &[bool]) -> Vec<(i64, Observed)> {
        let mut seen = Vec::new();
        for (minute, is_met) in (from..).zip(met) {
            let observed = group.observe(*is_met, hold_ms, TimestampMs(minute * MINUTE_MS));
            match observed {
                Observed::Same => continue,
                Observed::Fires => group.alert = Some(AlertId(minute.unsigned_abs().into())),
                Observed::Resolves => group.alert = None,
                Observed::Flaps => {
                    group.alert.get_or_insert(AlertId(0));
                }
                Observed::Settles if !group.condition.is_firing() => group.alert = None,
                Observed::Settles | Observed::GroupOnly => {}
            }
            seen.push((minute, observed));
        }
        seen
    }

    #[test]
    fn an_alert_fires_after_the_wait_and_ends_with_the_condition() {
        let mut group = Group::new(Vec::new());
        let met = [false, true, true, true, true, false, false];
        assert_eq!(
            run(&mut group, 2 * MINUTE_MS, 0, &met),
            [(1, Observed::GroupOnly), (3, Observed::Fires), (5, Observed::Resolves),]
        );
        assert!(!group.is_forgettable(TimestampMs(6 * MINUTE_MS)));
        assert!(group.is_forgettable(TimestampMs(65 * MINUTE_MS)));
    }

    #[test]
    fn a_wait_that_is_interrupted_begins_anew() {
        let mut group = Group::new(Vec::new());
        let met = [true, false, true, true, false];
        assert_eq!(
            run(&mut group, 2 * MINUTE_MS, 0, &met),
            [
                (0, Observed::GroupOnly),
                (1, Observed::GroupOnly),
                (2, Observed::GroupOnly),
                (4, Observed::GroupOnly),
            ]
        );
        assert!(group.changes.is_empty());
    }

    #[test]
    fn the_seventh_change_in_an_hour_is_flapping_until_there_are_three() {
        let mut group = Group::new(Vec::new());
        let met: Vec<bool> = (0..12).map(|minute| minute % 2 == 0).collect();
        let seen = run(&mut group, 0, 0, &met);
        let open = |minute| (minute, Observed::GroupOnly);
        assert_eq!(
            seen,
            [
                (0, Observed::Fires),
                (1, Observed::Resolves),
                (2, Observed::Fires),
                (3, Observed::Resolves),
                (4, Observed::Fires),
                (5, Observed::Resolves),
                (6, Observed::Flaps),
                open(7),
                open(8),
                open(9),
                open(10),
                open(11),
            ]
        );
        assert!(group.alert.is_some());
        // The changes of the minutes 9, 10 and 11 are the last three.
        assert_eq!(run(&mut group, 0, 12, &[false; 60]), [(68, Observed::Settles)]);
        assert_eq!(group.alert, None);
    }

    #[test]
    fn an_alert_that_flaps_at_its_end_stays_open() {
        let mut group = Group::new(Vec::new());
        // An odd number of changes before: it fires when the seventh one ends it.
        group.changes = vec![TimestampMs(0)];
        let met: Vec<bool> = (0..6).map(|minute| minute % 2 == 0).collect();
        let seen = run(&mut group, 0, 1, &met);
        assert_eq!(seen.last(), Some(&(6, Observed::Flaps)));
        assert!(group.alert.is_some() && group.condition == ConditionState::Calm);
        // It settles while it fires.
        let seen = run(&mut group, 0, 7, &[true; 60]);
        assert_eq!(seen, [(7, Observed::GroupOnly), (64, Observed::Settles)]);
        assert!(group.alert.is_some());
    }

    #[test]
    fn a_resolved_group_waits_for_the_end_of_its_condition() {
        let mut group = Group::new(Vec::new());
        run(&mut group, 0, 0, &[true]);
        group.resolve();
        assert_eq!(
            run(&mut group, 0, 1, &[true, true, false, true]),
            [(3, Observed::GroupOnly), (4, Observed::Fires),]
        );
    }

    #[test]
    fn a_change_of_the_clock_does_not_shorten_the_wait() {
        let mut group = Group::new(Vec::new());
        run(&mut group, 5 * MINUTE_MS, 0, &[true]);
        group.shift(1_000 * MINUTE_MS);
        let seen = run(&mut group, 5 * MINUTE_MS, 1_001, &[true; 5]);
        assert_eq!(seen, [(1_005, Observed::Fires)]);
    }
}
