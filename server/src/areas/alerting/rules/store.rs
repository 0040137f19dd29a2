//! The stored documents of alert rules.
//!
//! The collection is `alert_rules`, the key a rule's id.
//!
//! ```text
//! {"name", "description"?, "query", "group_by"?, "condition": {"op", "threshold"?}, "window",
//!  "for", "severity", "channel_ids", "escalation_policy_id"?, "on_call_schedule_id"?, "services",
//!  "enabled", "created_by", "created_at_ms"}
//! ```
//!
//! `query` is a saved query as in requests, or `{"alert", "tags"}` for received alerts. `window`
//! and `for` are lengths of time as in requests. A document with an unknown operator, severity or
//! unit of time cannot be read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::condition::Condition;
use super::model::{ReceivedQuery, Rule, RuleQuery, RuleSettings};
use crate::areas::alerting::documents::StoredResource;
use crate::areas::alerting::error::{AlertingError, Kind};
use crate::areas::alerting::ids::ChannelId;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::Severity;
use crate::areas::alerting::period::Period;
use crate::areas::saved_queries::SavedQuery;

/// A stored rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "RuleDocument", into = "RuleDocument")]
pub(in crate::areas::alerting) struct StoredRule {
    settings: RuleSettings,
    created_by: String,
    created_at: TimestampMs,
}

/// The JSON of a stored rule.
#[derive(Debug, Serialize, Deserialize)]
struct RuleDocument {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    query: StoredQuery,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group_by: Option<String>,
    condition: StoredCondition,
    window: String,
    #[serde(rename = "for")]
    hold: String,
    severity: String,
    channel_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    escalation_policy_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_call_schedule_id: Option<String>,
    services: Vec<String>,
    enabled: bool,
    created_by: String,
    created_at_ms: i64,
}

/// A stored query.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredQuery {
    Received { alert: String, tags: BTreeMap<String, String> },
    Saved(SavedQuery),
}

/// A stored condition.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCondition {
    op: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

impl TryFrom<RuleDocument> for StoredRule {
    type Error = String;

    fn try_from(document: RuleDocument) -> Result<Self, String> {
        let StoredCondition { op, threshold } = document.condition;
        let condition = Condition::new(&op, threshold).map_err(|invalid| invalid.to_string())?;
        let period = |text: &str| {
            Period::parse(text).ok_or_else(|| format!("{text:?} is not a length of time"))
        };
        let severity = Severity::parse(&document.severity);
        let settings = RuleSettings {
            name: document.name,
            description: document.description,
            query: document.query.into(),
            group_by: document.group_by,
            condition,
            window: period(&document.window)?,
            hold: period(&document.hold)?,
            severity: severity
                .ok_or_else(|| format!("unknown severity {:?}", document.severity))?,
            channel_ids: document.channel_ids.into_iter().map(ChannelId::from).collect(),
            escalation_policy_id: document.escalation_policy_id.map(Into::into),
            on_call_schedule_id: document.on_call_schedule_id.map(Into::into),
            services: document.services,
            enabled: document.enabled,
        };
        let created_at = TimestampMs(document.created_at_ms);
        Ok(Self { settings, created_by: document.created_by, created_at })
    }
}

impl From<StoredRule> for RuleDocument {
    fn from(stored: StoredRule) -> Self {
        let settings = stored.settings;
        Self {
            name: settings.name,
            description: settings.description,
            query: settings.query.into(),
            group_by: settings.group_by,
            condition: StoredCondition {
                op: settings.condition.operator_name().to_owned(),
                threshold: settings.condition.threshold(),
            },
            window: settings.window.to_string(),
            hold: settings.hold.to_string(),
            severity: settings.severity.as_str().to_owned(),
            channel_ids: settings.channel_ids.into_iter().map(String::from).collect(),
            escalation_policy_id: settings.escalation_policy_id.map(String::from),
            on_call_schedule_id: settings.on_call_schedule_id.map(String::from),
            services: settings.services,
            enabled: settings.enabled,
            created_by: stored.created_by,
            created_at_ms: stored.created_at.0,
        }
    }
}

impl From<StoredQuery> for RuleQuery {
    fn from(stored: StoredQuery) -> Self {
        match stored {
            StoredQuery::Received { alert, tags } => Self::Received(ReceivedQuery { alert, tags }),
            StoredQuery::Saved(query) => Self::Saved(query),
        }
    }
}

impl From<RuleQuery> for StoredQuery {
    fn from(query: RuleQuery) -> Self {
        match query {
            RuleQuery::Received(ReceivedQuery { alert, tags }) => Self::Received { alert, tags },
            RuleQuery::Saved(query) => Self::Saved(query),
        }
    }
}

impl StoredResource for Rule {
    type Kind = Kind;
    type Error = AlertingError;
    type Stored = StoredRule;
    const COLLECTION: Collection = Collection("alert_rules");
    const KIND: Kind = Kind::Rule;
    const COUNT_MAX: usize = limits::RULES_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.as_str().into()
    }

    fn to_stored(&self) -> StoredRule {
        StoredRule {
            settings: self.settings.clone(),
            created_by: self.created_by.clone(),
            created_at: self.created_at,
        }
    }

    fn from_stored(id: String, stored: StoredRule) -> Self {
        let StoredRule { settings, created_by, created_at } = stored;
        Self { id: id.into(), settings, created_by, created_at }
    }
}
