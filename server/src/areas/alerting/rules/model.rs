//! Alert rules.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::condition::Condition;
use crate::areas::alerting::ids::{ChannelId, PolicyId, RuleId, ScheduleId};
use crate::areas::alerting::notice::{Severity, number};
use crate::areas::alerting::period::Period;
use crate::areas::saved_queries::SavedQuery;

/// An alert rule.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct Rule {
    pub(in crate::areas::alerting) id: RuleId,
    pub(in crate::areas::alerting) settings: RuleSettings,
    /// The user that created it.
    pub(in crate::areas::alerting) created_by: String,
    pub(in crate::areas::alerting) created_at: TimestampMs,
}

/// What the user states about a rule.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct RuleSettings {
    pub(in crate::areas::alerting) name: String,
    pub(in crate::areas::alerting) description: Option<String>,
    pub(in crate::areas::alerting) query: RuleQuery,
    /// The grouping keys as in a saved query, if the rule states them itself. There is one alert
    /// for each group.
    pub(in crate::areas::alerting) group_by: Option<String>,
    pub(in crate::areas::alerting) condition: Condition,
    /// The length of time before each evaluation that the query covers.
    pub(in crate::areas::alerting) window: Period,
    /// How long the condition has to be met before an alert fires.
    pub(in crate::areas::alerting) hold: Period,
    pub(in crate::areas::alerting) severity: Severity,
    /// Notified at once when an alert fires.
    pub(in crate::areas::alerting) channel_ids: Vec<ChannelId>,
    pub(in crate::areas::alerting) escalation_policy_id: Option<PolicyId>,
    /// Whoever is on call by this schedule is notified by email.
    pub(in crate::areas::alerting) on_call_schedule_id: Option<ScheduleId>,
    /// Names of affected services, which only document.
    pub(in crate::areas::alerting) services: Vec<String>,
    pub(in crate::areas::alerting) enabled: bool,
}

/// What a rule observes.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) enum RuleQuery {
    /// A metric or events.
    Saved(SavedQuery),
    /// Alerts that Prometheus or another sender delivers through the API of Alertmanager. The value
    /// is 1 for each alert that fires.
    Received(ReceivedQuery),
}

/// A choice of received alerts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct ReceivedQuery {
    /// The label `alertname`, or a prefix of it followed by `*`.
    pub(in crate::areas::alerting) alert: String,
    /// Filters by label, as the tags of a saved query.
    pub(in crate::areas::alerting) tags: BTreeMap<String, String>,
}

impl RuleSettings {
    /// Returns the query of a metric or of events, with the grouping of the rule.
    pub(in crate::areas::alerting) fn saved_query(&self) -> Option<SavedQuery> {
        match &self.query {
            RuleQuery::Saved(query) => {
                let group_by = self.group_by.as_ref().or(query.group_by.as_ref()).cloned();
                Some(SavedQuery { group_by, ..query.clone() })
            }
            RuleQuery::Received(_) => None,
        }
    }

    /// Returns the grouping keys, as in a saved query.
    pub(in crate::areas::alerting) fn grouping(&self) -> Option<&str> {
        match &self.query {
            RuleQuery::Saved(query) => self.group_by.as_deref().or(query.group_by.as_deref()),
            RuleQuery::Received(_) => None,
        }
    }

    /// Returns the condition in words: `avg of cpu.usage > 90 over 5m`.
    pub(in crate::areas::alerting) fn condition_text(&self) -> String {
        let subject = match &self.query {
            RuleQuery::Saved(query) => {
                let source = query.metric.as_ref().or(query.event.as_ref());
                let source = source.map(String::as_str).unwrap_or_default();
                match (&query.aggregation, &query.event) {
                    (Some(aggregation), _) => format!("{aggregation} of {source}"),
                    (None, Some(_)) => format!("count of {source}"),
                    (None, None) => source.to_owned(),
                }
            }
            RuleQuery::Received(query) => return format!("{} fires", query.alert),
        };
        match self.condition {
            Condition::Compares { operator, threshold } => {
                let (sign, threshold) = (operator.sign(), number(threshold));
                format!("{subject} {sign} {threshold} over {}", self.window)
            }
            Condition::Absent => format!("no data of {subject} for {}", self.window),
        }
    }
}
