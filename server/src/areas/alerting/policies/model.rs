//! Escalation policies and their rules.

use telltale_engine::TimestampMs;
/// A document with its revision.
pub(super) use telltale_engine::Versioned;

use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::ids::{ChannelId, PolicyId};
use crate::areas::alerting::limits;

/// An escalation policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Policy {
    pub(in crate::areas::alerting) id: PolicyId,
    pub(in crate::areas::alerting) name: String,
    pub(in crate::areas::alerting) description: Option<String>,
    pub(in crate::areas::alerting) enabled: bool,
    pub(in crate::areas::alerting) steps: Steps,
    pub(in crate::areas::alerting) repeat: Repeat,
    pub(in crate::areas::alerting) created_at: TimestampMs,
}

/// The steps of a policy, sorted by delay. Empty only after the last channel was deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Steps(Vec<Step>);

/// A notification of one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Step {
    pub(in crate::areas::alerting) channel_id: ChannelId,
    /// Minutes since the start of the cycle.
    pub(in crate::areas::alerting) delay_minutes: u32,
}

/// Whether and how the cycle of steps is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Repeat {
    pub(in crate::areas::alerting) enabled: bool,
    /// Minutes from the last step of a cycle to the start of the next one.
    pub(in crate::areas::alerting) after_minutes: Option<u32>,
    /// Maximum number of cycles after the first.
    pub(in crate::areas::alerting) max: Option<u32>,
}

/// A validated request for a new policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PolicyDraft {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) enabled: bool,
    pub(super) steps: Steps,
    pub(super) repeat: Repeat,
}

/// A change of a policy; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PolicyChange {
    pub(super) name: Option<String>,
    pub(super) description: Option<Option<String>>,
    pub(super) enabled: Option<bool>,
    pub(super) steps: Option<Steps>,
    pub(super) repeat: Option<bool>,
    pub(super) repeat_after_minutes: Option<Option<u32>>,
    pub(super) max_repeats: Option<Option<u32>>,
}

impl Steps {
    /// Validates steps in any order.
    pub(super) fn new(mut steps: Vec<Step>) -> Result<Self, Invalid> {
        let max = limits::POLICY_STEPS_MAX;
        if !(1..=max).contains(&steps.len()) {
            return Err(Invalid::field("steps", format!("must have 1 to {max} steps")));
        }
        for (i, step) in steps.iter().enumerate() {
            let field = |name| format!("steps[{i}].{name}");
            if step.delay_minutes > limits::POLICY_DELAY_MINUTES_MAX {
                let max = limits::POLICY_DELAY_MINUTES_MAX;
                return Err(Invalid::field(
                    field("delay_minutes"),
                    format!("must be between 0 and {max}"),
                ));
            }
            let earlier = steps.iter().take(i);
            if earlier.clone().any(|other| other == step) {
                let expected = "must not have the same channel and delay as another step";
                return Err(Invalid::field(field("channel_id"), expected));
            }
        }
        // Stable: steps with equal delays stay in the order in which they were sent.
        steps.sort_by_key(|step| step.delay_minutes);
        Ok(Self(steps))
    }

    /// Returns stored steps, which were validated before they were stored.
    pub(super) fn stored(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    /// Returns the steps, sorted by delay.
    pub(in crate::areas::alerting) fn as_slice(&self) -> &[Step] {
        &self.0
    }

    /// Removes the steps that notify a channel. Returns whether there were any.
    pub(super) fn remove(&mut self, channel: &ChannelId) -> bool {
        let before = self.0.len();
        self.0.retain(|step| step.channel_id != *channel);
        self.0.len() < before
    }
}

impl Repeat {
    /// Validates the fields of a request.
    pub(super) fn new(
        enabled: bool,
        after_minutes: Option<u32>,
        max: Option<u32>,
    ) -> Result<Self, Invalid> {
        if enabled && after_minutes.is_none() {
            return Err(Invalid::missing("repeat_after_minutes"));
        }
        let minutes = 1..=limits::POLICY_DELAY_MINUTES_MAX;
        if after_minutes.is_some_and(|after| !minutes.contains(&after)) {
            let expected = format!("must be between 1 and {}", minutes.end());
            return Err(Invalid::field("repeat_after_minutes", expected));
        }
        if max.is_some_and(|max| max > limits::POLICY_REPEATS_MAX) {
            let expected = format!("must be between 0 and {}", limits::POLICY_REPEATS_MAX);
            return Err(Invalid::field("max_repeats", expected));
        }
        let max = max.or(enabled.then_some(limits::POLICY_REPEATS_DEFAULT));
        Ok(Self { enabled, after_minutes, max })
    }
}

impl Policy {
    /// Returns the policy of a draft.
    pub(super) fn new(id: PolicyId, draft: PolicyDraft, created_at: TimestampMs) -> Self {
        let PolicyDraft { name, description, enabled, steps, repeat } = draft;
        Self { id, name, description, enabled, steps, repeat, created_at }
    }

    /// Applies a change, and validates what depends on several fields.
    pub(super) fn change(&mut self, change: PolicyChange) -> Result<(), Invalid> {
        self.repeat = Repeat::new(
            change.repeat.unwrap_or(self.repeat.enabled),
            change.repeat_after_minutes.unwrap_or(self.repeat.after_minutes),
            change.max_repeats.unwrap_or(self.repeat.max),
        )?;
        if let Some(name) = change.name {
            self.name = name;
        }
        if let Some(description) = change.description {
            self.description = description;
        }
        if let Some(enabled) = change.enabled {
            self.enabled = enabled;
        }
        if let Some(steps) = change.steps {
            self.steps = steps;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(channel: &str, delay_minutes: u32) -> Step {
        Step { channel_id: channel.to_owned().into(), delay_minutes }
    }

    #[test]
    fn steps_are_sorted_by_delay_and_equal_delays_stay_in_order() {
        let steps = Steps::new(vec![step("c", 10), step("b", 0), step("a", 10)]).unwrap();
        assert_eq!(steps.as_slice(), [step("b", 0), step("c", 10), step("a", 10)]);
    }

    #[test]
    fn steps_have_limits() {
        let most = limits::POLICY_DELAY_MINUTES_MAX;
        let many = |n: u32| (0..n).map(|i| step("c", i)).collect::<Vec<_>>();
        let max = u32::try_from(limits::POLICY_STEPS_MAX).unwrap();
        assert!(Steps::new(many(max)).is_ok() && Steps::new(vec![step("c", most)]).is_ok());
        for (steps, field) in [
            (Vec::new(), "steps"),
            (many(max + 1), "steps"),
            (vec![step("c", 0), step("c", most + 1)], "steps[1].delay_minutes"),
            (vec![step("c", 0), step("d", 0), step("c", 0)], "steps[2].channel_id"),
        ] {
            assert_eq!(Steps::new(steps).unwrap_err().field, field);
        }
    }

    #[test]
    fn a_repeating_policy_needs_an_interval() {
        assert_eq!(Repeat::new(true, None, None).unwrap_err().field, "repeat_after_minutes");
        assert_eq!(Repeat::new(false, Some(0), None).unwrap_err().field, "repeat_after_minutes");
        assert_eq!(Repeat::new(true, Some(5), Some(101)).unwrap_err().field, "max_repeats");
        let repeat = Repeat::new(true, Some(5), None).unwrap();
        assert_eq!(repeat.max, Some(limits::POLICY_REPEATS_DEFAULT));
    }
}
