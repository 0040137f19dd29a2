//! Alert rules.

use std::collections::{BTreeMap, HashSet};

use telltale_engine::TimestampMs;
/// A document with its revision.
pub(super) use telltale_engine::Versioned;

use super::condition::Condition;
use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::ids::{ChannelId, PolicyId, RuleId, ScheduleId};
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::{Severity, number};
use crate::areas::alerting::period::Period;
use crate::areas::saved_queries::{InvalidQuery, QueryPlan, SavedQuery};
use crate::limits::WIDGET_TEXT_CHARS_MAX;
use crate::platform::telemetry::query_params;

/// What is expected of a query with none or several of its sources.
pub(super) const ONE_SOURCE: &str = "must have exactly one of metric, event and alert";

/// The window of a rule that states none.
const DEFAULT_WINDOW: Period = Period::minutes(5);
const WINDOW_EXPECTED: &str = "must be a length of time from 10s to 7d, such as 5m";
const HOLD_EXPECTED: &str = "must be a length of time from 0m to 1d, such as 5m";
const _: () = assert!(
    limits::RULE_WINDOW_MS_MIN == 10_000
        && limits::RULE_WINDOW_MS_MAX == 7 * 86_400_000
        && limits::RULE_HOLD_MS_MAX == 86_400_000,
    "the messages name the limits"
);

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

/// Why a rule cannot be evaluated, wholly or in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct RuleFailure {
    /// For people; safe to show.
    pub(in crate::areas::alerting) reason: String,
    /// When it began.
    pub(in crate::areas::alerting) since: TimestampMs,
}

/// A change of a rule; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RuleChange {
    pub(super) name: Option<String>,
    pub(super) description: Option<Option<String>>,
    pub(super) query: Option<RuleQuery>,
    pub(super) group_by: Option<Option<String>>,
    pub(super) condition: Option<Option<Condition>>,
    pub(super) window: Option<Period>,
    pub(super) hold: Option<Period>,
    pub(super) severity: Option<Severity>,
    pub(super) channel_ids: Option<Vec<ChannelId>>,
    pub(super) escalation_policy_id: Option<Option<PolicyId>>,
    pub(super) on_call_schedule_id: Option<Option<ScheduleId>>,
    pub(super) services: Option<Vec<String>>,
    pub(super) enabled: Option<bool>,
}

impl RuleSettings {
    /// Applies a change, and validates the result.
    pub(super) fn change(&mut self, change: RuleChange) -> Result<(), Invalid> {
        set(&mut self.query, change.query);
        self.condition = match change.condition {
            Some(condition) => self.query.condition(condition)?,
            None => self.query.condition(Some(self.condition))?,
        };
        set(&mut self.name, change.name);
        set(&mut self.description, change.description);
        set(&mut self.group_by, change.group_by);
        set(&mut self.window, change.window);
        set(&mut self.hold, change.hold);
        set(&mut self.severity, change.severity);
        set(&mut self.channel_ids, change.channel_ids);
        set(&mut self.escalation_policy_id, change.escalation_policy_id);
        set(&mut self.on_call_schedule_id, change.on_call_schedule_id);
        set(&mut self.services, change.services);
        set(&mut self.enabled, change.enabled);
        self.check()
    }

    /// Validates what depends on several fields, which are valid one by one.
    pub(in crate::areas::alerting) fn check(&self) -> Result<(), Invalid> {
        self.check_grouping()?;
        self.check_size()
    }

    fn check_grouping(&self) -> Result<(), Invalid> {
        let Some(group_by) = &self.group_by else { return Ok(()) };
        let invalid = |expected: &str| Err(Invalid::field("group_by", expected));
        match &self.query {
            RuleQuery::Received(_) => {
                return invalid("must not be given for received alerts, which are never grouped");
            }
            RuleQuery::Saved(SavedQuery { group_by: Some(other), .. }) if other != group_by => {
                return invalid("must be the same as query.group_by, if both are given");
            }
            RuleQuery::Saved(_) => {}
        }
        let grouped = self.saved_query();
        let checked = grouped.iter().try_for_each(|query| {
            query.check()?;
            QueryPlan::new(query, None).map(drop)
        });
        // The query without this grouping is valid.
        checked.or_else(|error| invalid(&error.expected))
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::alerting) fn bytes(&self) -> usize {
        let (_, text) = self.text_bytes();
        size_of::<Rule>() + 300 + text + self.channel_ids.len() * 60 + self.services.len() * 40
    }

    /// Returns the bytes of the strings that can be long, by field, and of all strings.
    fn text_bytes(&self) -> ([(&'static str, usize); 3], usize) {
        let bytes = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let parts = [
            ("description", bytes(&self.description)),
            ("query", self.query.text_bytes()),
            ("services", self.services.iter().map(String::len).sum()),
        ];
        let total = parts.iter().map(|(_, bytes)| bytes).sum::<usize>()
            + self.name.len()
            + bytes(&self.group_by);
        (parts, total)
    }

    fn check_size(&self) -> Result<(), Invalid> {
        let (parts, total) = self.text_bytes();
        let max = limits::RULE_TEXT_BYTES_MAX;
        match parts.into_iter().max_by_key(|(_, bytes)| *bytes) {
            Some((field, _)) if total > max => {
                let expected = format!("is too long: the rule has more than {max} bytes of text");
                Err(Invalid::field(field, expected))
            }
            _ => Ok(()),
        }
    }

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

    /// Returns the sign between a value and the threshold, and the threshold, if values of this
    /// rule say anything.
    pub(in crate::areas::alerting) fn comparison(&self) -> Option<(&'static str, f64)> {
        match (&self.query, self.condition) {
            (RuleQuery::Saved(_), Condition::Compares { operator, threshold }) => {
                Some((operator.sign(), threshold))
            }
            _ => None,
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

impl RuleQuery {
    /// Validates the condition of a rule with this query.
    pub(super) fn condition(&self, sent: Option<Condition>) -> Result<Condition, Invalid> {
        match (self, sent) {
            (Self::Saved(_), Some(condition)) => Ok(condition),
            (Self::Saved(_), None) => Err(Invalid::missing("condition")),
            (Self::Received(_), None | Some(Condition::RECEIVED)) => Ok(Condition::RECEIVED),
            (Self::Received(_), Some(_)) => {
                let expected = "must be op gt and threshold 0, or absent, for received alerts";
                Err(Invalid::field("condition", expected))
            }
        }
    }

    /// Validates the query by itself.
    pub(super) fn check(&self) -> Result<(), InvalidQuery> {
        match self {
            Self::Saved(query) if query.metric.is_some() == query.event.is_some() => {
                Err(InvalidQuery::new("", ONE_SOURCE))
            }
            Self::Saved(query) => {
                query.check()?;
                // The metric may be recreated with another type, so its type decides nothing.
                QueryPlan::new(query, None).map(drop)
            }
            Self::Received(query) => query.check(),
        }
    }

    fn text_bytes(&self) -> usize {
        let (texts, tags) = match self {
            Self::Saved(query) => {
                let texts = [
                    &query.metric,
                    &query.event,
                    &query.aggregation,
                    &query.field,
                    &query.interval,
                    &query.group_by,
                ];
                (texts.into_iter().flatten().map(String::len).sum(), query.tags.as_ref())
            }
            Self::Received(query) => (query.alert.len(), Some(&query.tags)),
        };
        let tags = tags.into_iter().flatten();
        texts + tags.map(|(key, value)| key.len() + value.len()).sum::<usize>()
    }
}

impl ReceivedQuery {
    fn check(&self) -> Result<(), InvalidQuery> {
        let max = WIDGET_TEXT_CHARS_MAX;
        let name = self.alert.strip_suffix('*').unwrap_or(&self.alert);
        if !(1..=max).contains(&self.alert.chars().count()) || name.contains('*') {
            let expected =
                format!("must have 1 to {max} characters, and may have * only at the end");
            return Err(InvalidQuery::new("alert", expected));
        }
        // The rules of tags are the same.
        SavedQuery { tags: Some(self.tags.clone()), ..SavedQuery::default() }.check()?;
        for (label, filter) in &self.tags {
            let field = || format!("tags.{label}");
            query_params::tag_condition(filter)
                .ok_or_else(|| InvalidQuery::new(&field(), query_params::STAR_RULE))?;
        }
        Ok(())
    }
}

/// Validates the window of a rule.
pub(super) fn window(text: Option<&str>) -> Result<Period, Invalid> {
    let range = limits::RULE_WINDOW_MS_MIN..=limits::RULE_WINDOW_MS_MAX;
    let Some(text) = text else { return Ok(DEFAULT_WINDOW) };
    let window = Period::parse(text).filter(|window| range.contains(&window.ms()));
    window.ok_or_else(|| Invalid::field("window", WINDOW_EXPECTED))
}

/// Validates how long a condition has to be met.
pub(super) fn hold(text: Option<&str>) -> Result<Period, Invalid> {
    let Some(text) = text else { return Ok(Period::ZERO) };
    let hold = Period::parse(text).filter(|hold| hold.ms() <= limits::RULE_HOLD_MS_MAX);
    hold.ok_or_else(|| Invalid::field("for", HOLD_EXPECTED))
}

/// Validates the ids of channels, which may be unknown.
pub(super) fn check_channel_ids(channel_ids: &[ChannelId]) -> Result<(), Invalid> {
    let mut seen = HashSet::new();
    match channel_ids.iter().position(|id| !seen.insert(id)) {
        Some(i) => Err(Invalid::field(format!("channel_ids[{i}]"), "must be unique")),
        None => Ok(()),
    }
}

fn set<T>(field: &mut T, sent: Option<T>) {
    if let Some(sent) = sent {
        *field = sent;
    }
}
