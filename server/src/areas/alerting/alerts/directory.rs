//! The configuration as alerts need it: rules, and who is notified.

use std::collections::HashMap;
use std::sync::Arc;

use telltale_engine::TimestampMs;

use super::model::{Destination, RuleRef};
use crate::areas::alerting::ids::{ChannelId, PolicyId, RuleId, ScheduleId};
use crate::areas::alerting::policies::Policy;
use crate::areas::alerting::rules::Rule;
use crate::areas::alerting::schedules::Schedule;
use crate::areas::alerting::windows::Window;

/// The resources of alerting, by id.
#[derive(Debug, Default)]
pub(in crate::areas::alerting) struct Directory {
    pub(in crate::areas::alerting) rules: HashMap<RuleId, Arc<Rule>>,
    pub(in crate::areas::alerting) policies: HashMap<PolicyId, Policy>,
    pub(in crate::areas::alerting) schedules: HashMap<ScheduleId, Schedule>,
    pub(in crate::areas::alerting) channels: HashMap<ChannelId, ChannelFacts>,
    pub(in crate::areas::alerting) windows: Vec<Window>,
}

/// What alerts need to know of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct ChannelFacts {
    pub(in crate::areas::alerting) is_enabled: bool,
    /// Whether it takes one event for each alert.
    pub(in crate::areas::alerting) is_paging: bool,
}

impl Directory {
    /// Returns a rule.
    pub(super) fn rule(&self, id: &RuleRef) -> Option<&Rule> {
        self.rules.get(id.as_ref()?).map(|rule| &**rule)
    }

    /// Returns the escalation policy of a rule.
    pub(super) fn policy(&self, rule: &RuleRef) -> Option<&Policy> {
        self.policies.get(self.rule(rule)?.settings.escalation_policy_id.as_ref()?)
    }

    /// Returns the windows that are active now.
    pub(super) fn active_windows(&self, now: TimestampMs) -> Vec<&Window> {
        self.windows.iter().filter(|window| window.is_active_at(now)).collect()
    }

    /// Returns who is on call for a rule now: `None` if its rule has no schedule, an address, or
    /// why there is none.
    pub(super) fn on_call(
        &self,
        rule: &RuleRef,
        now: TimestampMs,
    ) -> Option<Result<Destination, &'static str>> {
        let schedule = self.rule(rule)?.settings.on_call_schedule_id.as_ref()?;
        let Some(schedule) = self.schedules.get(schedule) else {
            return Some(Err("the on-call schedule cannot be read"));
        };
        let person = schedule.on_call_at(now).map(Destination::Person);
        Some(person.ok_or("nobody is on call"))
    }

    /// Returns whether a destination takes one event for each alert.
    pub(super) fn is_paging(&self, destination: &Destination) -> bool {
        match destination {
            Destination::Channel(id) => self.channels.get(id).is_some_and(|facts| facts.is_paging),
            Destination::Person(_) => false,
        }
    }

    /// Returns why nothing can be sent to a destination, if so.
    pub(super) fn obstacle(&self, destination: &Destination) -> Option<&'static str> {
        match destination {
            Destination::Person(_) => None,
            Destination::Channel(id) => match self.channels.get(id) {
                None => Some("the channel does not exist"),
                Some(facts) if !facts.is_enabled => Some("the channel is disabled"),
                Some(_) => None,
            },
        }
    }
}
