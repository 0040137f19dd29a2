//! The JSON of escalation policies.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::model::{Policy, PolicyChange, PolicyDraft, Repeat, Step, Steps};
use super::ops::NamedPolicy;
use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::fields;
use crate::areas::alerting::limits;
use crate::platform::bounded::AtMost;
use crate::platform::json::{integer_or_null, nullable};
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// A new escalation policy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EscalationPolicyInput")]
pub(super) struct PolicyInput {
    #[schemars(required, length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    #[schemars(length(max = limits::ALERTING_DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
    /// Defaults to true.
    enabled: Option<bool>,
    #[schemars(required, length(min = 1, max = limits::POLICY_STEPS_MAX))]
    steps: Option<AtMost<StepInput, { limits::POLICY_STEPS_MAX }>>,
    /// Whether the cycle of steps is repeated. Defaults to false.
    repeat: Option<bool>,
    /// Minutes from the last step of a cycle to the start of the next one. Required if `repeat`.
    #[serde(default, deserialize_with = "integer_or_null")]
    #[schemars(range(min = 1, max = limits::POLICY_DELAY_MINUTES_MAX))]
    repeat_after_minutes: Option<u32>,
    /// Maximum number of cycles after the first. Defaults to 3 if `repeat`.
    #[serde(default, deserialize_with = "integer_or_null")]
    #[schemars(range(max = limits::POLICY_REPEATS_MAX))]
    max_repeats: Option<u32>,
}

/// A change of an escalation policy; absent fields are unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EscalationPolicyPatch")]
pub(super) struct PolicyPatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::ALERTING_DESCRIPTION_CHARS_MAX))]
    description: Option<Option<String>>,
    /// `null` is the default, true.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    enabled: Option<Option<bool>>,
    /// Replaces all steps.
    #[schemars(length(min = 1, max = limits::POLICY_STEPS_MAX))]
    steps: Option<AtMost<StepInput, { limits::POLICY_STEPS_MAX }>>,
    /// `null` is the default, false.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    repeat: Option<Option<bool>>,
    #[serde(default, deserialize_with = "nullable_integer")]
    #[schemars(with = "Option<u32>", range(min = 1, max = limits::POLICY_DELAY_MINUTES_MAX))]
    repeat_after_minutes: Option<Option<u32>>,
    #[serde(default, deserialize_with = "nullable_integer")]
    #[schemars(with = "Option<u32>", range(max = limits::POLICY_REPEATS_MAX))]
    max_repeats: Option<Option<u32>>,
}

/// A step of an escalation policy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EscalationStepInput")]
struct StepInput {
    #[schemars(required)]
    channel_id: Option<String>,
    /// Minutes since the start of the cycle. Defaults to 0.
    #[serde(default, deserialize_with = "integer_or_null")]
    #[schemars(range(max = limits::POLICY_DELAY_MINUTES_MAX))]
    delay_minutes: Option<u32>,
    /// Ignored, so that a policy can be sent back as it was returned.
    #[serde(rename = "channel_name")]
    _channel_name: Option<String>,
}

/// An escalation policy in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EscalationPolicySummary")]
pub(super) struct PolicySummaryView {
    id: String,
    name: String,
    enabled: bool,
    steps_count: usize,
    repeat: bool,
    repeat_after_minutes: Option<u32>,
    created_at: IsoTime,
}

/// An escalation policy.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EscalationPolicy")]
pub(super) struct PolicyView {
    id: String,
    name: String,
    description: Option<String>,
    enabled: bool,
    /// Sorted by delay.
    steps: Vec<StepView>,
    steps_count: usize,
    repeat: bool,
    repeat_after_minutes: Option<u32>,
    max_repeats: Option<u32>,
    created_at: IsoTime,
}

/// A step of an escalation policy.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EscalationStep")]
struct StepView {
    channel_id: String,
    channel_name: Option<String>,
    delay_minutes: u32,
}

fn nullable_integer<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<u32>>, D::Error> {
    integer_or_null(deserializer).map(Some)
}

impl PolicyInput {
    pub(super) fn into_draft(self) -> Result<PolicyDraft, Invalid> {
        let name = fields::name(self.name)?;
        let steps = self.steps.ok_or_else(|| Invalid::missing("steps"))?;
        Ok(PolicyDraft {
            name,
            description: fields::description(self.description)?,
            enabled: self.enabled.unwrap_or(true),
            steps: read_steps(steps)?,
            repeat: Repeat::new(
                self.repeat.unwrap_or(false),
                self.repeat_after_minutes,
                self.max_repeats,
            )?,
        })
    }
}

impl PolicyPatch {
    pub(super) fn into_change(self) -> Result<PolicyChange, Invalid> {
        Ok(PolicyChange {
            name: self.name.map(fields::name).transpose()?,
            description: self.description.map(fields::description).transpose()?,
            enabled: self.enabled.map(|sent| sent.unwrap_or(true)),
            steps: self.steps.map(read_steps).transpose()?,
            repeat: self.repeat.map(|sent| sent.unwrap_or(false)),
            repeat_after_minutes: self.repeat_after_minutes,
            max_repeats: self.max_repeats,
        })
    }
}

fn read_steps(sent: AtMost<StepInput, { limits::POLICY_STEPS_MAX }>) -> Result<Steps, Invalid> {
    let max = limits::POLICY_STEPS_MAX;
    let sent = sent.all();
    let sent = sent.map_err(|_| Invalid::field("steps", format!("must have 1 to {max} steps")))?;
    let mut steps = Vec::with_capacity(sent.len());
    for (i, step) in sent.into_iter().enumerate() {
        let channel_id = step.channel_id.filter(|id| !id.is_empty());
        let missing = || Invalid::missing(format!("steps[{i}].channel_id"));
        steps.push(Step {
            channel_id: channel_id.ok_or_else(missing)?.into(),
            delay_minutes: step.delay_minutes.unwrap_or(0),
        });
    }
    Steps::new(steps)
}

impl From<&Policy> for PolicySummaryView {
    fn from(policy: &Policy) -> Self {
        Self {
            id: policy.id.as_str().to_owned(),
            name: policy.name.clone(),
            enabled: policy.enabled,
            steps_count: policy.steps.as_slice().len(),
            repeat: policy.repeat.enabled,
            repeat_after_minutes: policy.repeat.after_minutes,
            created_at: IsoTime(policy.created_at),
        }
    }
}

impl From<&NamedPolicy> for PolicyView {
    fn from(named: &NamedPolicy) -> Self {
        let policy = &named.policy.value;
        let step = |step: &Step| StepView {
            channel_id: step.channel_id.as_str().to_owned(),
            channel_name: named.channel_names.get(&step.channel_id).cloned(),
            delay_minutes: step.delay_minutes,
        };
        let steps: Vec<StepView> = policy.steps.as_slice().iter().map(step).collect();
        Self {
            id: policy.id.as_str().to_owned(),
            name: policy.name.clone(),
            description: policy.description.clone(),
            enabled: policy.enabled,
            steps_count: steps.len(),
            steps,
            repeat: policy.repeat.enabled,
            repeat_after_minutes: policy.repeat.after_minutes,
            max_repeats: policy.repeat.max,
            created_at: IsoTime(policy.created_at),
        }
    }
}
