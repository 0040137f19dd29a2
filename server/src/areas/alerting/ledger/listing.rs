//! Reads alerts: lists, single ones, and their logs.

use telltale_engine::{Result, TimestampMs};

use super::alert_ledger::{AlertLedger, LedgerState};
use super::escalation::Escalation;
use super::model::{Alert, AlertId, AlertStatus, LogEntry, RuleRef};
use super::stored;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::ledger::Directory;
use crate::areas::alerting::notice::Severity;

/// Which alerts to list; `None` does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::alerting) struct AlertFilter {
    pub(in crate::areas::alerting) status: Option<AlertStatus>,
    pub(in crate::areas::alerting) severity: Option<Severity>,
    pub(in crate::areas::alerting) rule: Option<RuleId>,
}

/// What is kept in memory of an alert that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) at: TimestampMs,
    severity: Severity,
    rule: RuleRef,
}

/// An alert with everything about it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct AlertDetail {
    pub(in crate::areas::alerting) alert: Alert,
    /// Oldest first.
    pub(in crate::areas::alerting) log: Vec<LogEntry>,
    /// When the next step of its escalation is due, if one is.
    pub(in crate::areas::alerting) next_step_at: Option<TimestampMs>,
}

impl AlertLedger {
    /// Returns a page of the alerts that match, newest first, and how many match. Blocks.
    pub(in crate::areas::alerting) fn page(
        &self,
        filter: &AlertFilter,
        offset: usize,
        limit: usize,
    ) -> Result<(Vec<Alert>, usize)> {
        let (found, total) = {
            let state = self.state();
            let matching = state.matching(filter);
            let total = matching.len();
            let page = matching.into_iter().rev().skip(offset).take(limit);
            let open = |id: AlertId| (id, state.open(id).cloned());
            (page.map(open).collect::<Vec<_>>(), total)
        };
        let mut page = Vec::with_capacity(found.len());
        for (id, open) in found {
            match open {
                Some(alert) => page.push(alert),
                None => page.extend(stored::read_alert(self.engine(), id)?),
            }
        }
        Ok((page, total))
    }

    /// Returns an alert, open or not. Blocks.
    pub(in crate::areas::alerting) fn alert(&self, id: AlertId) -> Result<Option<Alert>> {
        let open = self.state().open(id).cloned();
        open.map_or_else(|| stored::read_alert(self.engine(), id), |alert| Ok(Some(alert)))
    }

    /// Returns an alert with its log. Blocks.
    pub(in crate::areas::alerting) fn detail(
        &self,
        directory: &Directory,
        id: AlertId,
    ) -> Result<Option<AlertDetail>> {
        let Some(alert) = self.alert(id)? else { return Ok(None) };
        let log = stored::read_log(self.engine(), id)?;
        let is_waiting = alert.is_escalating();
        let policy = directory.policy(&alert.rule).filter(|_| is_waiting);
        let next_step_at = policy.and_then(|policy| Escalation::next_at(&alert.escalation, policy));
        Ok(Some(AlertDetail { alert, log, next_step_at }))
    }
}

impl LedgerState {
    /// Returns the ids of the alerts that match, oldest first.
    fn matching(&self, filter: &AlertFilter) -> Vec<AlertId> {
        let fits = |severity: Severity, rule: &RuleRef| {
            filter.severity.is_none_or(|wanted| wanted == severity)
                && filter.rule.as_ref().is_none_or(|wanted| rule.as_ref() == Some(wanted))
        };
        let open = self.all_open().filter(|alert| {
            filter.status.is_none_or(|wanted| wanted == alert.status())
                && fits(alert.about.severity, &alert.rule)
        });
        let is_ended_wanted = filter.status.is_none_or(|wanted| wanted == AlertStatus::Resolved);
        let ended = self
            .all_ended()
            .filter(|(_, ended)| is_ended_wanted && fits(ended.severity, &ended.rule));
        let mut ids: Vec<AlertId> =
            open.map(|alert| alert.id).chain(ended.map(|(id, _)| *id)).collect();
        // Two sorted runs.
        ids.sort();
        ids
    }
}

impl Ended {
    /// Returns whether it was of a rule.
    pub(super) fn has_rule(&self) -> bool {
        self.rule.is_some()
    }

    /// Returns what is kept of an alert that ended at this time.
    pub(super) fn new(alert: &Alert, at: TimestampMs) -> Self {
        Self { at, severity: alert.about.severity, rule: alert.rule.clone() }
    }
}
