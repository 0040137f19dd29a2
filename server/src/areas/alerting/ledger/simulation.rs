//! What the groups of a rule would have done, without alerts or messages.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::group::{ConditionState, Group, Observed};
use super::model::{AlertId, Labels};
use crate::areas::alerting::limits;

/// The groups of a rule in the past.
#[derive(Debug, Default)]
pub(in crate::areas::alerting) struct Simulation {
    hold_ms: i64,
    groups: BTreeMap<Labels, Group>,
    /// The period of the alert that is open, by group.
    open: BTreeMap<Labels, FiringPeriod>,
    ended: Vec<FiringPeriod>,
}

/// A period in which a group would have fired.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct FiringPeriod {
    pub(in crate::areas::alerting) labels: Labels,
    /// The value when it began.
    pub(in crate::areas::alerting) value: Option<f64>,
    /// Since when the condition was met.
    pub(in crate::areas::alerting) since: TimestampMs,
    pub(in crate::areas::alerting) fired_at: TimestampMs,
    /// `None` if it had not ended.
    pub(in crate::areas::alerting) resolved_at: Option<TimestampMs>,
    /// Whether it would have been flapping.
    pub(in crate::areas::alerting) has_flapped: bool,
}

impl Simulation {
    /// Begins to observe the groups of a rule that waits for `hold_ms`.
    pub(in crate::areas::alerting) fn new(hold_ms: i64) -> Self {
        Self { hold_ms, ..Self::default() }
    }

    /// Takes notice of the groups with data, or of those without for a rule about their absence, at
    /// a time after all times before. The condition is not met for all others.
    pub(in crate::areas::alerting) fn observe(
        &mut self,
        met: BTreeMap<Labels, Option<f64>>,
        now: TimestampMs,
    ) {
        let mut groups = std::mem::take(&mut self.groups);
        for labels in met.keys() {
            if !groups.contains_key(labels) && groups.len() < limits::RULE_ALERTS_MAX {
                groups.insert(labels.clone(), Group::new(labels.clone()));
            }
        }
        groups.retain(|labels, group| {
            let value = met.get(labels);
            let observed = group.observe(value.is_some(), self.hold_ms, now);
            self.apply(group, observed, value.copied().flatten(), now);
            !group.is_forgettable(now)
        });
        self.groups = groups;
    }

    fn apply(
        &mut self,
        group: &mut Group,
        observed: Observed,
        value: Option<f64>,
        now: TimestampMs,
    ) {
        let has_flapped = observed == Observed::Flaps;
        match observed {
            Observed::Same | Observed::GroupOnly => {}
            Observed::Fires | Observed::Flaps => {
                // Which alert it is does not matter.
                group.alert = Some(AlertId(0));
                let since = match group.condition {
                    ConditionState::Firing { since } | ConditionState::Pending { since } => since,
                    ConditionState::Calm | ConditionState::Held => now,
                };
                let labels = group.labels.clone();
                let new = FiringPeriod {
                    labels: labels.clone(),
                    value,
                    since,
                    fired_at: now,
                    resolved_at: None,
                    has_flapped,
                };
                self.open.entry(labels).or_insert(new).has_flapped |= has_flapped;
            }
            Observed::Settles if group.condition.is_firing() => {}
            Observed::Resolves | Observed::Settles => {
                group.alert = None;
                if let Some(period) = self.open.remove(&group.labels) {
                    self.ended.push(FiringPeriod { resolved_at: Some(now), ..period });
                }
            }
        }
    }

    /// Returns how many periods there are so far.
    pub(in crate::areas::alerting) fn len(&self) -> usize {
        self.open.len() + self.ended.len()
    }

    /// Returns the periods, in the order in which they began.
    pub(in crate::areas::alerting) fn finish(mut self) -> Vec<FiringPeriod> {
        self.ended.extend(self.open.into_values());
        self.ended.sort_by(|a, b| (a.fired_at, &a.labels).cmp(&(b.fired_at, &b.labels)));
        self.ended
    }
}
