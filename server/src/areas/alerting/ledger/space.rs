//! The space for more alerts and groups, which a change may not exceed.

use std::collections::HashMap;

use super::alert_ledger::LedgerState;
use super::model::RuleRef;
use crate::areas::alerting::limits;

/// How much more a change may add, and what it could not.
#[derive(Debug)]
pub(in crate::areas::alerting) struct SpaceLeft {
    alerts: usize,
    /// Groups without an open alert.
    groups: usize,
    bytes: usize,
    /// How many groups of each rule are not calm; counted when first needed.
    busy_groups: HashMap<RuleRef, usize>,
    refused: usize,
    beyond: HashMap<RuleRef, usize>,
}

impl SpaceLeft {
    pub(super) fn of(state: &LedgerState) -> Self {
        let without_alert = state.group_count().saturating_sub(state.open_count());
        Self {
            alerts: limits::ALERTS_OPEN_MAX.saturating_sub(state.open_count()),
            groups: limits::ALERT_GROUPS_MAX.saturating_sub(without_alert),
            bytes: limits::ALERT_BYTES_MAX.saturating_sub(state.bytes()),
            busy_groups: HashMap::new(),
            refused: 0,
            beyond: HashMap::new(),
        }
    }

    /// Returns how many groups meet their condition, but could not be taken notice of because there
    /// are too many of all rules.
    pub(in crate::areas::alerting) fn refused(&self) -> usize {
        self.refused
    }

    /// Returns how many groups of rules meet their condition, but could not be taken notice of
    /// because their rule has too many.
    pub(in crate::areas::alerting) fn beyond(&self) -> HashMap<RuleRef, usize> {
        self.beyond.clone()
    }

    /// Returns whether a rule may have one more group whose condition is met, and counts it.
    pub(super) fn may_begin(&mut self, rule: &RuleRef, state: &LedgerState) -> bool {
        let busy = self.busy_groups.entry(rule.clone()).or_insert_with(|| {
            let of_rule = state.groups_of(rule).filter_map(|key| state.group(key));
            of_rule.filter(|group| !group.is_calm()).count()
        });
        if *busy >= limits::RULE_ALERTS_MAX {
            *self.beyond.entry(rule.clone()).or_default() += 1;
            return false;
        }
        *busy += 1;
        true
    }

    /// Takes the space of an alert of `bytes`. Returns whether there was enough.
    pub(super) fn take_alert(&mut self, bytes: usize) -> bool {
        let fits = take(&mut self.alerts, &mut self.bytes, bytes);
        self.refused += usize::from(!fits);
        fits
    }

    /// Takes the space of a group of `bytes` without an alert. Returns whether there was enough. If
    /// not, of a calm group only its last changes are forgotten.
    pub(super) fn take_group(&mut self, bytes: usize, is_waiting: bool) -> bool {
        let fits = take(&mut self.groups, &mut self.bytes, bytes);
        self.refused += usize::from(!fits && is_waiting);
        fits
    }
}

fn take(count: &mut usize, left: &mut usize, bytes: usize) -> bool {
    match (count.checked_sub(1), left.checked_sub(bytes)) {
        (Some(fewer), Some(less)) => {
            (*count, *left) = (fewer, less);
            true
        }
        _ => false,
    }
}
