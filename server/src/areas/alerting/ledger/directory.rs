//! The configuration as alerts need it: rules, and who is notified.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use telltale_engine::{TimestampMs, Versioned};

use super::active_windows::{ActiveWindows, WindowStates};
use super::model::{Destination, RuleRef};
use crate::app::App;
use crate::areas::alerting::channels::{self, ChannelFacts};
use crate::areas::alerting::documents::{self, StoredResource};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::{ChannelId, PolicyId, RuleId, ScheduleId, WindowId};
use crate::areas::alerting::policies::Policy;
use crate::areas::alerting::rules::Rule;
use crate::areas::alerting::schedules::Schedule;
use crate::areas::alerting::windows::Window;
use crate::platform::ids;

/// The resources of alerting, by id.
#[derive(Debug, Default)]
pub(in crate::areas::alerting) struct Directory {
    pub(in crate::areas::alerting) rules: HashMap<RuleId, Arc<Rule>>,
    pub(in crate::areas::alerting) policies: HashMap<PolicyId, Arc<Policy>>,
    /// Only those that rules name: a schedule with all its overrides is large.
    pub(in crate::areas::alerting) schedules: HashMap<ScheduleId, Arc<Schedule>>,
    pub(in crate::areas::alerting) channels: HashMap<ChannelId, ChannelFacts>,
    pub(in crate::areas::alerting) windows: HashMap<WindowId, Arc<Window>>,
    revisions: Revisions,
    window_states: WindowStates,
}

/// The revisions of rules, policies, schedules and windows, by the ULID of their ids, no two of
/// which have the same.
#[derive(Debug, Default)]
struct Revisions(HashMap<u128, u64>);

impl Revisions {
    fn get(&self, id: &str) -> Option<u64> {
        self.0.get(&Self::ulid(id)?).copied()
    }

    /// A resource whose id is not one of ours is read again each time.
    fn insert(&mut self, id: &str, revision: u64) {
        if let Some(ulid) = Self::ulid(id) {
            self.0.insert(ulid, revision);
        }
    }

    fn ulid(id: &str) -> Option<u128> {
        id.rsplit_once('_').and_then(|(_, ulid)| ids::parse_ulid(ulid))
    }
}

impl Directory {
    /// Reads the resources as they are now. Those that are the same as in `before` are shared with
    /// it. Blocks.
    pub(in crate::areas::alerting) fn load(
        app: &App,
        before: &Self,
    ) -> Result<Self, AlertingError> {
        let mut loading = Loading { app, before, revisions: Revisions::default() };
        let rules = loading.all(&before.rules)?;
        let schedules = loading.schedules(&rules)?;
        let windows = loading.all(&before.windows)?;
        let is_same = |id: &WindowId| {
            let (was, is) = (before.windows.get(id), windows.get(id));
            was.zip(is).is_some_and(|(was, is)| Arc::ptr_eq(was, is))
        };
        Ok(Self {
            policies: loading.all(&before.policies)?,
            schedules,
            channels: channels::facts(app)?,
            window_states: before.window_states.keep(is_same),
            windows,
            rules,
            revisions: loading.revisions,
        })
    }

    /// Replaces all windows.
    #[cfg(test)]
    pub(super) fn set_windows(&mut self, windows: impl IntoIterator<Item = Window>) {
        let all = windows.into_iter().map(|window| (window.id().clone(), Arc::new(window)));
        self.windows = all.collect();
        self.window_states = WindowStates::default();
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::alerting) fn memory_bytes(&self) -> u64 {
        let rules: usize = self.rules.values().map(|rule| rule.settings.bytes()).sum();
        let schedules: usize = self.schedules.values().map(|schedule| schedule.bytes()).sum();
        let others = self.policies.len() + self.channels.len() + self.windows.len();
        (rules + schedules + others * 1_000) as u64
    }

    /// Returns the revision of a rule.
    pub(in crate::areas::alerting) fn revision(&self, rule: &RuleId) -> Option<u64> {
        self.revisions.get(rule.as_str())
    }

    /// Returns a rule.
    pub(super) fn rule(&self, id: &RuleRef) -> Option<&Rule> {
        self.rules.get(id.as_ref()?).map(Arc::as_ref)
    }

    /// Returns the escalation policy of a rule.
    pub(super) fn policy(&self, rule: &RuleRef) -> Option<&Policy> {
        let id = self.rule(rule)?.settings.escalation_policy_id.as_ref()?;
        self.policies.get(id).map(Arc::as_ref)
    }

    /// Returns the windows that are active now.
    pub(in crate::areas::alerting) fn active_windows(&self, now: TimestampMs) -> ActiveWindows<'_> {
        self.window_states.active(&self.windows, now)
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

/// A directory that is being read.
struct Loading<'a> {
    app: &'a App,
    before: &'a Directory,
    revisions: Revisions,
}

impl Loading<'_> {
    /// Returns all readable resources of a kind.
    fn all<Id, D>(
        &mut self,
        known: &HashMap<Id, Arc<D>>,
    ) -> Result<HashMap<Id, Arc<D>>, AlertingError>
    where
        Id: From<String> + Eq + Hash,
        D: StoredResource<Error = AlertingError>,
    {
        let revisions = &self.before.revisions;
        let unchanged = |id: &str, revision| {
            let is_same = revisions.get(id) == Some(revision);
            known.get(&Id::from(id.to_owned())).filter(|_| is_same).cloned()
        };
        let found = documents::shared::<D>(self.app.engine(), unchanged)?;
        let mut all = HashMap::with_capacity(found.len());
        for Versioned { value, revision } in found {
            self.revisions.insert(&value.id(), revision);
            all.insert(value.id().into_owned().into(), value);
        }
        Ok(all)
    }

    /// Returns the schedules that these rules name.
    fn schedules(
        &mut self,
        rules: &HashMap<RuleId, Arc<Rule>>,
    ) -> Result<HashMap<ScheduleId, Arc<Schedule>>, AlertingError> {
        let named = rules.values().filter_map(|rule| rule.settings.on_call_schedule_id.as_ref());
        let named: HashSet<&ScheduleId> = named.collect();
        let mut schedules = HashMap::with_capacity(named.len());
        for id in named {
            let known = self.before.schedules.get(id);
            let known = known.zip(self.before.revisions.get(id.as_str()));
            let found = documents::shared_one::<Schedule>(self.app.engine(), id.as_str(), known)?;
            if let Some(Versioned { value, revision }) = found {
                self.revisions.insert(id.as_str(), revision);
                schedules.insert(id.clone(), value);
            }
        }
        Ok(schedules)
    }
}
