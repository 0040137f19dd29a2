//! Rules for the tests of other modules.

use telltale_engine::TimestampMs;

use super::condition::{Condition, Operator};
use super::model::{Rule, RuleQuery, RuleSettings};
use crate::areas::alerting::notice::Severity;
use crate::areas::alerting::period::Period;
use crate::areas::saved_queries::SavedQuery;

/// Returns a rule that waits for `hold` and notifies these channels and this policy.
pub(in crate::areas::alerting) fn rule(hold: &str, channels: &[&str], policy: &str) -> Rule {
    let query = SavedQuery { metric: Some("cpu".to_owned()), ..SavedQuery::default() };
    Rule {
        id: "rule_1".to_owned().into(),
        settings: RuleSettings {
            name: "CPU high".to_owned(),
            description: None,
            query: RuleQuery::Saved(query),
            group_by: Some("tags.host".to_owned()),
            condition: Condition::Compares { operator: Operator::Gt, threshold: 90.0 },
            window: Period::parse("5m").unwrap(),
            hold: Period::parse(hold).unwrap(),
            severity: Severity::Critical,
            channel_ids: channels.iter().map(|id| (*id).to_owned().into()).collect(),
            escalation_policy_id: Some(policy.to_owned().into()),
            on_call_schedule_id: None,
            services: Vec::new(),
            enabled: true,
        },
        created_by: "test".to_owned(),
        created_at: TimestampMs(0),
    }
}
