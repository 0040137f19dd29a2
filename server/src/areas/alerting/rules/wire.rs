//! The JSON of alert rules.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::condition::Condition;
use super::model::{self, ReceivedQuery, Rule, RuleChange, RuleFailure, RuleQuery, RuleSettings};
use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::fields::{self, Services};
use crate::areas::alerting::ids::ChannelId;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::Severity;
use crate::areas::alerting::wire::one_severity;
use crate::areas::saved_queries::{InvalidQuery, SavedQuery, read_query};
use crate::limits::{QUERY_FILTERS_MAX, WIDGET_TEXT_CHARS_MAX};
use crate::platform::bounded::{AtMost, FirstMembers};
use crate::platform::json::{Plain, nullable, read_typed};
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// A length of time such as `30s`, `5m`, `1h` or `2d`.
const PERIOD: &str = "^[0-9]+[smhd]$";

type ChannelIds = AtMost<String, { limits::RULE_CHANNELS_MAX }>;

/// A new alert rule.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AlertRuleInput")]
pub(in crate::areas::alerting) struct RuleInput {
    #[schemars(required, length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    #[schemars(length(max = limits::ALERTING_DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
    #[schemars(with = "QueryBody")]
    query: Option<Box<RawValue>>,
    /// `tags.<key>`, as in a query of a widget: there is one alert for each group. May be in
    /// `query` instead. Not for received alerts.
    #[schemars(length(max = WIDGET_TEXT_CHARS_MAX))]
    group_by: Option<String>,
    /// Required unless the query is of received alerts, whose condition is `gt` 0.
    condition: Option<ConditionBody>,
    /// The length of time before each evaluation that the query covers, from 10s to 7d. Defaults to
    /// `5m`.
    #[schemars(regex(pattern = PERIOD))]
    window: Option<String>,
    /// How long the condition has to be met before an alert fires, at most 1d. Defaults to `0m`.
    #[serde(rename = "for")]
    #[schemars(regex(pattern = PERIOD))]
    hold: Option<String>,
    /// Defaults to `warning`.
    #[schemars(with = "Option<SeveritySchema>")]
    severity: Option<String>,
    /// The channels that are notified at once.
    #[schemars(length(max = limits::RULE_CHANNELS_MAX))]
    channel_ids: Option<ChannelIds>,
    escalation_policy_id: Option<String>,
    /// Whoever is on call by this schedule is notified by email.
    on_call_schedule_id: Option<String>,
    /// Names of affected services, for the reader.
    #[schemars(length(max = limits::SERVICES_MAX), inner(length(min = 1, max = limits::SERVICE_CHARS_MAX)))]
    services: Option<Services>,
    /// Whether the rule is evaluated. Defaults to true.
    enabled: Option<bool>,
}

/// A change of an alert rule; absent fields are unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AlertRulePatch")]
pub(super) struct RulePatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::ALERTING_DESCRIPTION_CHARS_MAX))]
    description: Option<Option<String>>,
    /// Replaces the query as a whole.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "QueryBody")]
    query: Option<Option<Box<RawValue>>>,
    /// `null` removes it; the rule is still grouped if its query is.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = WIDGET_TEXT_CHARS_MAX))]
    group_by: Option<Option<String>>,
    /// Replaces the condition as a whole. `null` is the condition of received alerts.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<ConditionBody>")]
    condition: Option<Option<ConditionBody>>,
    /// `null` is the default, `5m`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", regex(pattern = PERIOD))]
    window: Option<Option<String>>,
    /// `null` is the default, `0m`.
    #[serde(default, rename = "for", deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", regex(pattern = PERIOD))]
    hold: Option<Option<String>>,
    /// `null` is the default, `warning`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<SeveritySchema>")]
    severity: Option<Option<String>>,
    /// Replaces all channels; `null` removes them.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(max = limits::RULE_CHANNELS_MAX))]
    channel_ids: Option<Option<ChannelIds>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    escalation_policy_id: Option<Option<String>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    on_call_schedule_id: Option<Option<String>>,
    /// Replaces all services; `null` removes them.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(max = limits::SERVICES_MAX), inner(length(min = 1, max = limits::SERVICE_CHARS_MAX)))]
    services: Option<Option<Services>>,
    /// `null` is the default, true.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    enabled: Option<Option<bool>>,
}

/// What a rule observes: a metric or events, or alerts that Prometheus delivers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "AlertRuleQuery")]
enum QueryBody {
    Saved(SavedQuery),
    Received(ReceivedBody),
}

/// A query of alerts that Prometheus delivers. The value is 1 for each alert that fires.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReceivedAlertsQuery")]
struct ReceivedBody {
    /// The name of the alerts, or a prefix of it followed by `*`.
    #[schemars(length(min = 1, max = WIDGET_TEXT_CHARS_MAX))]
    alert: String,
    /// Filters by label: `v` (equal), `a,b` (one of), `!v` (not equal), `v*` (prefix).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tags")]
    tags: Option<BTreeMap<String, String>>,
}

/// Which of the fields that say what a query is about are present.
#[derive(Deserialize)]
struct QuerySources {
    metric: Option<IgnoredAny>,
    event: Option<IgnoredAny>,
    alert: Option<IgnoredAny>,
}

/// When a rule fires: the value of a group compares in this way with the threshold, or there is no
/// data in the window.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AlertConditionInput")]
struct ConditionBody {
    #[schemars(with = "OperatorSchema")]
    op: Option<String>,
    /// Required unless `op` is `absent`.
    threshold: Option<f64>,
}

/// How a value is compared with a threshold; `absent` if there is no data.
#[derive(JsonSchema)]
#[schemars(rename = "AlertOperator", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used: an unknown name has an error of its own")]
enum OperatorSchema {
    Gt,
    Gte,
    Lt,
    Lte,
    Eq,
    Ne,
    Absent,
}

/// How urgent an alert is.
#[derive(JsonSchema)]
#[schemars(rename = "AlertSeverity", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used: an unknown name has an error of its own")]
enum SeveritySchema {
    Info,
    Warning,
    Critical,
}

/// An alert rule in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertRuleSummary")]
pub(super) struct RuleSummaryView {
    id: String,
    name: String,
    #[schemars(with = "SeveritySchema")]
    severity: &'static str,
    enabled: bool,
    /// The condition in words: `avg of cpu.usage > 90 over 5m`.
    condition_text: String,
    group_by: Option<String>,
    created_at: IsoTime,
}

/// An alert rule.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertRule")]
pub(super) struct RuleView {
    id: String,
    name: String,
    description: Option<String>,
    query: QueryBody,
    /// The grouping of the rule, or else that of its query.
    group_by: Option<String>,
    condition: ConditionView,
    window: String,
    #[serde(rename = "for")]
    hold: String,
    #[schemars(with = "SeveritySchema")]
    severity: &'static str,
    channel_ids: Vec<String>,
    escalation_policy_id: Option<String>,
    on_call_schedule_id: Option<String>,
    services: Vec<String>,
    enabled: bool,
    evaluation: EvaluationView,
    created_by: String,
    created_at: IsoTime,
}

/// What became of the last evaluation of an alert rule.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertRuleEvaluation")]
struct EvaluationView {
    /// Why the rule could not be evaluated, wholly or in part; its alerts stay as they are.
    error: Option<String>,
    /// Since when.
    error_since: Option<IsoTime>,
}

/// The condition of an alert rule.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertCondition")]
struct ConditionView {
    #[schemars(with = "OperatorSchema")]
    op: &'static str,
    /// Null if `op` is `absent`.
    threshold: Option<Plain>,
}

/// Reads tags, but no more than one beyond the limit, which is enough to reject them.
fn tags<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    type Tags = FirstMembers<String, { QUERY_FILTERS_MAX + 1 }>;
    Ok(Option::<Tags>::deserialize(deserializer)?.map(|FirstMembers(tags)| tags))
}

impl RuleInput {
    /// Validates the fields one by one; [`RuleSettings::check`] the rest.
    pub(in crate::areas::alerting) fn into_settings(self) -> Result<RuleSettings, Invalid> {
        let name = fields::name(self.name)?;
        let query = read_rule_query(self.query)?;
        let condition = self.condition.map(ConditionBody::into_condition).transpose()?;
        Ok(RuleSettings {
            name,
            description: fields::description(self.description)?,
            condition: query.condition(condition)?,
            query,
            group_by: self.group_by,
            window: model::window(self.window.as_deref())?,
            hold: model::hold(self.hold.as_deref())?,
            severity: read_severity(self.severity)?,
            channel_ids: read_channel_ids(self.channel_ids)?,
            escalation_policy_id: self.escalation_policy_id.map(Into::into),
            on_call_schedule_id: self.on_call_schedule_id.map(Into::into),
            services: fields::services(self.services)?,
            enabled: self.enabled.unwrap_or(true),
        })
    }
}

impl RulePatch {
    pub(super) fn into_change(self) -> Result<RuleChange, Invalid> {
        let condition =
            |sent: Option<ConditionBody>| sent.map(ConditionBody::into_condition).transpose();
        Ok(RuleChange {
            name: self.name.map(fields::name).transpose()?,
            description: self.description.map(fields::description).transpose()?,
            query: self.query.map(read_rule_query).transpose()?,
            group_by: self.group_by,
            condition: self.condition.map(condition).transpose()?,
            window: self.window.map(|sent| model::window(sent.as_deref())).transpose()?,
            hold: self.hold.map(|sent| model::hold(sent.as_deref())).transpose()?,
            severity: self.severity.map(read_severity).transpose()?,
            channel_ids: self.channel_ids.map(read_channel_ids).transpose()?,
            escalation_policy_id: self.escalation_policy_id.map(|sent| sent.map(Into::into)),
            on_call_schedule_id: self.on_call_schedule_id.map(|sent| sent.map(Into::into)),
            services: self.services.map(fields::services).transpose()?,
            enabled: self.enabled.map(|sent| sent.unwrap_or(true)),
        })
    }
}

impl ConditionBody {
    fn into_condition(self) -> Result<Condition, Invalid> {
        let op = self.op.ok_or_else(|| Invalid::missing("condition.op"))?;
        Condition::new(&op, self.threshold)
    }
}

/// Validates a query; any error in its form is an invalid query.
fn read_rule_query(sent: Option<Box<RawValue>>) -> Result<RuleQuery, Invalid> {
    let sent = sent.ok_or_else(|| Invalid::missing("query"))?;
    let query = parse_rule_query(&sent)?;
    query.check()?;
    Ok(query)
}

fn parse_rule_query(sent: &RawValue) -> Result<RuleQuery, InvalidQuery> {
    let is_object = sent.get().starts_with('{');
    let sources = serde_json::from_str::<QuerySources>(sent.get()).ok().filter(|_| is_object);
    match sources {
        Some(QuerySources { metric: None, event: None, alert: Some(_) }) => {
            let read = read_typed::<ReceivedBody>(sent.get().as_bytes());
            let ReceivedBody { alert, tags } =
                read.map_err(|misfit| InvalidQuery::new(&misfit.field, misfit.rule_message()))?;
            Ok(RuleQuery::Received(ReceivedQuery { alert, tags: tags.unwrap_or_default() }))
        }
        Some(QuerySources { alert: Some(_), .. }) => Err(InvalidQuery::new("", model::ONE_SOURCE)),
        _ => Ok(RuleQuery::Saved(read_query(sent)?)),
    }
}

fn read_severity(sent: Option<String>) -> Result<Severity, Invalid> {
    let Some(text) = sent else { return Ok(Severity::Warning) };
    Severity::parse(&text).ok_or_else(|| Invalid::field("severity", one_severity()))
}

fn read_channel_ids(sent: Option<ChannelIds>) -> Result<Vec<ChannelId>, Invalid> {
    let max = limits::RULE_CHANNELS_MAX;
    let Some(sent) = sent else { return Ok(Vec::new()) };
    let too_many = |_| Invalid::field("channel_ids", format!("must have at most {max} ids"));
    let ids = sent.all().map_err(too_many)?.into_iter().map(ChannelId::from).collect::<Vec<_>>();
    model::check_channel_ids(&ids)?;
    Ok(ids)
}

impl From<RuleQuery> for QueryBody {
    fn from(query: RuleQuery) -> Self {
        match query {
            RuleQuery::Saved(query) => Self::Saved(query),
            RuleQuery::Received(ReceivedQuery { alert, tags }) => {
                Self::Received(ReceivedBody { alert, tags: Some(tags).filter(|t| !t.is_empty()) })
            }
        }
    }
}

impl From<&Rule> for RuleSummaryView {
    fn from(rule: &Rule) -> Self {
        Self {
            id: rule.id.as_str().to_owned(),
            name: rule.settings.name.clone(),
            severity: rule.settings.severity.as_str(),
            enabled: rule.settings.enabled,
            condition_text: rule.settings.condition_text(),
            group_by: rule.settings.grouping().map(ToOwned::to_owned),
            created_at: IsoTime(rule.created_at),
        }
    }
}

impl RuleView {
    pub(super) fn new(rule: Rule, failure: Option<RuleFailure>) -> Self {
        let group_by = rule.settings.grouping().map(ToOwned::to_owned);
        let settings = rule.settings;
        Self {
            id: rule.id.into(),
            name: settings.name,
            description: settings.description,
            query: settings.query.into(),
            group_by,
            condition: ConditionView {
                op: settings.condition.operator_name(),
                threshold: settings.condition.threshold().map(Plain),
            },
            window: settings.window.to_string(),
            hold: settings.hold.to_string(),
            severity: settings.severity.as_str(),
            channel_ids: settings.channel_ids.into_iter().map(String::from).collect(),
            escalation_policy_id: settings.escalation_policy_id.map(String::from),
            on_call_schedule_id: settings.on_call_schedule_id.map(String::from),
            services: settings.services,
            enabled: settings.enabled,
            evaluation: EvaluationView {
                error: failure.as_ref().map(|failure| failure.reason.clone()),
                error_since: failure.map(|failure| IsoTime(failure.since)),
            },
            created_by: rule.created_by,
            created_at: IsoTime(rule.created_at),
        }
    }
}
