//! The stored documents of escalation policies.
//!
//! The collection is `escalation_policies`, the key a policy's id.
//!
//! ```text
//! {"name", "description"?, "enabled", "steps": [{"channel_id", "delay_minutes"}], "repeat",
//!  "repeat_after_minutes"?, "max_repeats"?, "created_at_ms"}
//! ```

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{Policy, Repeat, Step, Steps};
use crate::areas::alerting::documents::StoredResource;
use crate::areas::alerting::error::{AlertingError, Kind};
use crate::areas::alerting::limits;

/// A stored policy.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::areas::alerting) struct StoredPolicy {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    enabled: bool,
    steps: Vec<StoredStep>,
    repeat: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeat_after_minutes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_repeats: Option<u32>,
    created_at_ms: i64,
}

/// A stored step.
#[derive(Debug, Serialize, Deserialize)]
struct StoredStep {
    channel_id: String,
    delay_minutes: u32,
}

impl StoredResource for Policy {
    type Kind = Kind;
    type Error = AlertingError;
    type Stored = StoredPolicy;
    const COLLECTION: Collection = Collection("escalation_policies");
    const KIND: Kind = Kind::Policy;
    const COUNT_MAX: usize = limits::POLICIES_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.as_str().into()
    }

    fn to_stored(&self) -> StoredPolicy {
        let step = |step: &Step| StoredStep {
            channel_id: step.channel_id.as_str().to_owned(),
            delay_minutes: step.delay_minutes,
        };
        StoredPolicy {
            name: self.name.clone(),
            description: self.description.clone(),
            enabled: self.enabled,
            steps: self.steps.as_slice().iter().map(step).collect(),
            repeat: self.repeat.enabled,
            repeat_after_minutes: self.repeat.after_minutes,
            max_repeats: self.repeat.max,
            created_at_ms: self.created_at.0,
        }
    }

    fn from_stored(id: String, stored: StoredPolicy) -> Self {
        let step = |step: StoredStep| Step {
            channel_id: step.channel_id.into(),
            delay_minutes: step.delay_minutes,
        };
        Self {
            id: id.into(),
            name: stored.name,
            description: stored.description,
            enabled: stored.enabled,
            steps: Steps::stored(stored.steps.into_iter().map(step).collect()),
            repeat: Repeat {
                enabled: stored.repeat,
                after_minutes: stored.repeat_after_minutes,
                max: stored.max_repeats,
            },
            created_at: TimestampMs(stored.created_at_ms),
        }
    }
}
