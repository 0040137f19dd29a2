//! A change of alerts: what follows from observations, requests and the time, with the messages it
//! causes. Nothing takes effect before all of it is stored.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use telltale_engine::{RecordBatch, TimestampMs};

use super::active_windows::ActiveWindows;
use super::alert_ledger::LedgerState;
use super::directory::Directory;
use super::escalation::{Due, Escalation};
use super::group::{ConditionState, Group, Observed};
use super::message::Message;
use super::model::{
    Acknowledgement, Alert, AlertEvent, AlertEventKind, AlertId, AlertStatus, Destination,
    GroupHash, LogEntry, Resolution, RuleRef,
};
use super::observation::{Observation, Subject};
use super::space::SpaceLeft;
use super::stored::GroupKey;
use super::weighed::Weigh;
use crate::areas::alerting::error::{AlertingError, Kind};
use crate::areas::alerting::ids::WindowId;
use crate::areas::alerting::notice::{NoticeKind, Severity};
use crate::areas::alerting::windows::Window;
use crate::platform::ids::Ids;

/// A change of any number of alerts.
pub(in crate::areas::alerting) struct Change<'a> {
    pub(super) state: &'a LedgerState,
    pub(super) directory: &'a Directory,
    pub(super) ids: &'a Ids,
    pub(super) now: TimestampMs,
    /// The windows that are active; found when first needed.
    active_windows: OnceCell<ActiveWindows<'a>>,
    /// Groups that differ from the state; `None` for those that are forgotten.
    pub(super) groups: BTreeMap<GroupKey, Option<Group>>,
    /// Alerts that differ from the state.
    pub(super) alerts: BTreeMap<AlertId, Alert>,
    pub(super) log: Vec<(AlertId, u32, LogEntry)>,
    pub(super) notices: BTreeMap<NoticeKey, Vec<AlertId>>,
    /// What was already decided to be sent: a destination is notified once, however many steps
    /// name it.
    told: BTreeSet<(AlertId, NoticeKind, Destination)>,
    /// Alerts that ended, were acknowledged or were muted.
    pub(super) silenced: BTreeSet<AlertId>,
    space: SpaceLeft,
    /// Who is on call for each rule; found when first needed.
    on_call: HashMap<RuleRef, Option<Result<Destination, &'static str>>>,
}

/// Alerts with the same key share a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NoticeKey {
    pub(super) destination: Destination,
    pub(super) rule: RuleRef,
    pub(super) kind: NoticeKind,
    pub(super) cycle: u32,
    pub(super) step_delay_minutes: Option<u32>,
    pub(super) is_first: bool,
}

/// A change that is ready to be stored.
pub(super) struct Prepared {
    pub(super) batch: RecordBatch,
    pub(super) groups: BTreeMap<GroupKey, Option<Group>>,
    pub(super) alerts: BTreeMap<AlertId, Alert>,
    pub(super) messages: Vec<(Destination, Message)>,
    /// Messages that are not sent any more.
    pub(super) removed: BTreeSet<u64>,
    /// The number of messages that were dropped because too many wait.
    pub(super) dropped: usize,
}

impl<'a> Change<'a> {
    pub(super) fn new(
        state: &'a LedgerState,
        directory: &'a Directory,
        ids: &'a Ids,
        now: TimestampMs,
    ) -> Self {
        Self {
            state,
            directory,
            ids,
            now,
            active_windows: OnceCell::new(),
            groups: BTreeMap::new(),
            alerts: BTreeMap::new(),
            log: Vec::new(),
            notices: BTreeMap::new(),
            told: BTreeSet::new(),
            silenced: BTreeSet::new(),
            space: SpaceLeft::of(state),
            on_call: HashMap::new(),
        }
    }

    /// Takes notice of a group of a rule.
    pub(in crate::areas::alerting) fn observe(
        &mut self,
        subject: Subject<'_>,
        observation: Observation,
    ) {
        let key = subject.key(&observation.labels);
        let mut group = match self.group(&key).cloned() {
            Some(group) => group,
            None if !observation.is_met => return,
            None if !self.space.may_begin(&key.0, self.state) => return,
            None => Group::new(observation.labels.clone()),
        };
        let observed = group.observe(observation.is_met, subject.hold_ms(), self.now);
        match observed {
            Observed::Same if group.is_forgettable(self.now) => {}
            Observed::Same => return,
            Observed::GroupOnly => {}
            Observed::Fires | Observed::Flaps if group.alert.is_none() => {
                let summary = observation.summary.as_ref().map_or(0, String::len);
                if !self.space.take_alert(2 * group.bytes() + summary) {
                    // The group is as before: it fires when there is space.
                    return;
                }
                let is_flapping = observed == Observed::Flaps;
                group.alert = Some(self.fire(subject, &key, &group, observation, is_flapping));
            }
            Observed::Fires => {}
            Observed::Flaps => self.begin_flapping(&group, observation.value),
            Observed::Resolves => {
                self.end(&group, observation.value, None, NoticeKind::Resolved);
                group.alert = None;
            }
            Observed::Settles => self.settle(&mut group, observation.value),
        }
        let is_kept = !group.is_forgettable(self.now) && self.has_space_for(&key, &group);
        self.groups.insert(key, is_kept.then_some(group));
    }

    /// Returns whether a group can be kept.
    fn has_space_for(&mut self, key: &GroupKey, group: &Group) -> bool {
        let has_place = |known: &Group| known.alert.is_none();
        if group.alert.is_some() || self.group(key).is_some_and(has_place) {
            return true;
        }
        self.space.take_group(group.bytes(), !group.is_calm())
    }

    /// Observes that the condition is not met for those groups of a rule that `ends` chooses.
    pub(in crate::areas::alerting) fn end_groups(
        &mut self,
        rule: &RuleRef,
        ends: impl Fn(GroupHash) -> bool,
    ) {
        let directory = self.directory;
        for key in self.state.groups_of(rule).filter(|key| ends(key.1)).cloned().collect::<Vec<_>>()
        {
            let Some(labels) = self.group(&key).map(|group| group.labels.clone()) else { continue };
            let subject = match (rule, directory.rule(rule)) {
                (Some(_), None) => continue,
                (Some(_), Some(rule)) => Subject::Rule(rule),
                (None, _) => Subject::Unmatched { name: "", severity: Severity::Warning },
            };
            let observation =
                Observation { labels, is_met: false, value: None, summary: None, since: None };
            self.observe(subject, observation);
        }
    }

    /// Ends all groups of a rule that is deleted or disabled.
    pub(in crate::areas::alerting) fn end_rule(&mut self, rule: &RuleRef) {
        for key in self.state.groups_of(rule).cloned().collect::<Vec<_>>() {
            if let Some(group) = self.group(&key).cloned() {
                self.end(&group, None, None, NoticeKind::Resolved);
                self.groups.insert(key, None);
            }
        }
    }

    /// Records that a person took charge of an alert. Has no effect if somebody already has.
    pub(in crate::areas::alerting) fn acknowledge(
        &mut self,
        id: AlertId,
        by: &str,
    ) -> Result<(), AlertingError> {
        let mut alert = self.open_alert(id)?;
        if alert.acknowledged.is_some() {
            return Ok(());
        }
        alert.acknowledged = Some(Acknowledgement { at: self.now, by: by.to_owned() });
        self.event(&mut alert, AlertEventKind::Acknowledged, Some(by.to_owned()), None);
        if alert.muted_by.is_none() {
            self.tell_notified(&alert, NoticeKind::Acknowledged);
        }
        self.silenced.insert(id);
        self.alerts.insert(id, alert);
        Ok(())
    }

    /// Ends an alert on behalf of a person. It does not fire again before its condition was not met
    /// once.
    pub(in crate::areas::alerting) fn resolve(
        &mut self,
        id: AlertId,
        by: &str,
    ) -> Result<(), AlertingError> {
        let alert = self.open_alert(id)?;
        let key = (alert.rule.clone(), alert.group);
        let group = self.group(&key).cloned();
        let mut group = group.unwrap_or_else(|| Group::new(alert.labels.clone()));
        group.alert = Some(id);
        self.end(&group, alert.value, Some(by.to_owned()), NoticeKind::Resolved);
        group.resolve();
        self.groups.insert(key, Some(group));
        Ok(())
    }

    /// Does what is due at this time: mutes, stops to mute, and escalates.
    pub(in crate::areas::alerting) fn pass_time(&mut self) {
        let state = self.state;
        for unchanged in state.all_open() {
            let alert = self.alerts.get(&unchanged.id).unwrap_or(unchanged);
            if alert.resolved.is_none() && self.has_something_due(alert) {
                self.pass_time_of(alert.clone());
            }
        }
    }

    /// Returns whether anything happens to an alert now. Cheap: most of the time nothing does.
    fn has_something_due(&self, alert: &Alert) -> bool {
        let window = self.muting_window(&alert.rule);
        if window.is_some() || alert.muted_by.is_some() {
            return window.map(Window::id) != alert.muted_by.as_ref();
        }
        let escalation = &alert.escalation;
        if alert.status() != AlertStatus::Firing {
            return false;
        }
        if alert.flapping_since.is_some() {
            return !escalation.is_begun;
        }
        let policy = self.directory.policy(&alert.rule);
        let next = policy.and_then(|policy| escalation.next_at(policy));
        !escalation.is_begun || next.is_some_and(|at| at <= self.now)
    }

    /// Returns the space that is left, which knows what had none.
    pub(in crate::areas::alerting) fn space(&self) -> &SpaceLeft {
        &self.space
    }

    fn fire(
        &mut self,
        subject: Subject<'_>,
        key: &GroupKey,
        group: &Group,
        observation: Observation,
        is_flapping: bool,
    ) -> AlertId {
        let id = AlertId(self.ids.next_number());
        let since = match group.condition {
            ConditionState::Firing { since } | ConditionState::Pending { since } => since,
            ConditionState::Calm | ConditionState::Held => self.now,
        };
        let since = observation.since.map_or(since, |stated| stated.min(since));
        let mut alert = Alert {
            id,
            group: key.1,
            rule: key.0.clone(),
            about: subject.facts(),
            labels: observation.labels,
            summary: observation.summary.or_else(|| subject.description()),
            value: observation.value,
            since,
            fired_at: self.now,
            acknowledged: None,
            resolved: None,
            muted_by: None,
            flapping_since: is_flapping.then_some(self.now),
            escalation: Escalation::begin(self.now),
            notified: Vec::new(),
            log_next: 0,
        };
        self.event(&mut alert, AlertEventKind::Fired, None, None);
        if is_flapping {
            self.event(&mut alert, AlertEventKind::Flapping, None, None);
        }
        self.pass_time_of(alert);
        id
    }

    fn begin_flapping(&mut self, group: &Group, value: Option<f64>) {
        let Some(mut alert) = group.alert.and_then(|id| self.open_alert(id).ok()) else { return };
        alert.flapping_since = Some(self.now);
        alert.value = value;
        self.event(&mut alert, AlertEventKind::Flapping, None, None);
        if alert.muted_by.is_none() && alert.status() == AlertStatus::Firing {
            self.tell_notified(&alert, NoticeKind::Flapping);
        }
        self.alerts.insert(alert.id, alert);
    }

    fn settle(&mut self, group: &mut Group, value: Option<f64>) {
        let Some(mut alert) = group.alert.and_then(|id| self.open_alert(id).ok()) else { return };
        // Its timers waited, unless they began anew meanwhile, after a window.
        let since = alert.flapping_since.take().unwrap_or(self.now);
        let since = since.max(alert.escalation.started_at);
        alert.escalation.shift(self.now.0.saturating_sub(since.0));
        self.event(&mut alert, AlertEventKind::Settled, None, None);
        let is_told = alert.muted_by.is_none() && alert.status() == AlertStatus::Firing;
        self.alerts.insert(alert.id, alert.clone());
        if !group.condition.is_firing() {
            self.end(group, value, None, NoticeKind::Settled);
            group.alert = None;
        } else if is_told {
            self.tell_notified(&alert, NoticeKind::Settled);
        }
    }

    fn end(&mut self, group: &Group, value: Option<f64>, by: Option<String>, kind: NoticeKind) {
        let Some(mut alert) = group.alert.and_then(|id| self.open_alert(id).ok()) else { return };
        alert.resolved = Some(Resolution { at: self.now, by: by.clone() });
        alert.flapping_since = None;
        alert.value = value;
        self.event(&mut alert, AlertEventKind::Resolved, by, None);
        // Also while it is muted: whoever was told of its start waits for its end.
        self.tell_notified(&alert, kind);
        self.silenced.insert(alert.id);
        self.alerts.insert(alert.id, alert);
    }

    fn pass_time_of(&mut self, mut alert: Alert) {
        let window = self.muted_by(&alert.rule);
        let was_muted = alert.muted_by.is_some();
        match (was_muted, &window) {
            (false, Some(id)) => {
                let note = Some(id.as_str().to_owned());
                self.event(&mut alert, AlertEventKind::Muted, None, note);
                self.silenced.insert(alert.id);
            }
            (true, None) => {
                self.event(&mut alert, AlertEventKind::Unmuted, None, None);
                // Everybody is notified anew: what was said before the window is old.
                alert.escalation = Escalation::begin(self.now);
            }
            _ => {}
        }
        let has_changed = alert.muted_by != window;
        alert.muted_by = window;
        let is_due = if alert.flapping_since.is_some() {
            // Notified once that it flaps, after which the timers wait.
            alert.muted_by.is_none() && !alert.escalation.is_begun
        } else {
            alert.is_escalating()
        };
        let is_due = is_due && alert.status() == AlertStatus::Firing;
        let before = alert.escalation;
        if is_due {
            self.escalate(&mut alert);
        }
        let is_new = self.state.open(alert.id).is_none();
        if is_new || has_changed || before != alert.escalation {
            self.alerts.insert(alert.id, alert);
        }
    }

    /// Returns the window that mutes a rule now, if any.
    fn muted_by(&self, rule: &RuleRef) -> Option<WindowId> {
        self.muting_window(rule).map(|window| window.id().clone())
    }

    fn muting_window(&self, rule: &RuleRef) -> Option<&'a Window> {
        let (directory, now) = (self.directory, self.now);
        self.active_windows.get_or_init(|| directory.active_windows(now)).muting(rule)
    }

    fn escalate(&mut self, alert: &mut Alert) {
        let directory = self.directory;
        let policy = directory.policy(&alert.rule);
        for due in alert.escalation.advance(policy, self.now) {
            match due {
                Due::Cycle(cycle) => {
                    if let (0, Some(rule)) = (cycle, directory.rule(&alert.rule)) {
                        for channel in &rule.settings.channel_ids {
                            let destination = Destination::Channel(channel.clone());
                            self.tell(alert, destination, cycle, None);
                        }
                    }
                    let now = self.now;
                    let on_call = self.on_call.entry(alert.rule.clone());
                    match on_call.or_insert_with(|| directory.on_call(&alert.rule, now)).clone() {
                        Some(Ok(person)) => self.tell(alert, person, cycle, None),
                        Some(Err(why)) => self.skip(alert, why.to_owned()),
                        None => {}
                    }
                }
                Due::Steps { cycle, delay } => {
                    let steps = policy.map(|policy| policy.steps.as_slice()).unwrap_or_default();
                    for step in steps.iter().filter(|step| step.delay_minutes == delay) {
                        let destination = Destination::Channel(step.channel_id.clone());
                        self.tell(alert, destination, cycle, Some(delay));
                    }
                }
            }
        }
    }

    /// Tells a destination that an alert fires, or flaps.
    fn tell(
        &mut self,
        alert: &mut Alert,
        destination: Destination,
        cycle: u32,
        step_delay_minutes: Option<u32>,
    ) {
        if let Some(why) = self.directory.obstacle(&destination) {
            return self.skip(alert, format!("{}: {why}", destination.text()));
        }
        let is_flapping = alert.flapping_since.is_some();
        let kind = if is_flapping { NoticeKind::Flapping } else { NoticeKind::Firing };
        let is_first = !alert.notified.contains(&destination);
        if is_first {
            alert.notified.push(destination.clone());
        }
        if self.told.insert((alert.id, kind, destination.clone())) {
            let rule = alert.rule.clone();
            let key = NoticeKey { destination, rule, kind, cycle, step_delay_minutes, is_first };
            self.notices.entry(key).or_default().push(alert.id);
        }
    }

    /// Tells everybody who knows of an alert about a change of it.
    fn tell_notified(&mut self, alert: &Alert, kind: NoticeKind) {
        for destination in &alert.notified {
            if self.directory.obstacle(destination).is_none() {
                let key = NoticeKey {
                    destination: destination.clone(),
                    rule: alert.rule.clone(),
                    kind,
                    cycle: alert.escalation.cycle,
                    step_delay_minutes: None,
                    is_first: false,
                };
                self.notices.entry(key).or_default().push(alert.id);
            }
        }
    }

    fn skip(&mut self, alert: &mut Alert, note: String) {
        self.event(alert, AlertEventKind::Skipped, None, Some(note));
    }

    fn event(
        &mut self,
        alert: &mut Alert,
        kind: AlertEventKind,
        by: Option<String>,
        note: Option<String>,
    ) {
        let event = AlertEvent { at: self.now, kind, by, value: alert.value, note };
        self.log.push((alert.id, alert.log_next, LogEntry::Event(event)));
        alert.log_next = alert.log_next.saturating_add(1);
    }

    fn group(&self, key: &GroupKey) -> Option<&Group> {
        match self.groups.get(key) {
            Some(changed) => changed.as_ref(),
            None => self.state.group(key),
        }
    }

    pub(super) fn alert(&self, id: AlertId) -> Option<&Alert> {
        self.alerts.get(&id).or_else(|| self.state.open(id))
    }

    fn open_alert(&self, id: AlertId) -> Result<Alert, AlertingError> {
        match self.alert(id) {
            Some(alert) if alert.resolved.is_none() => Ok(alert.clone()),
            None if !self.state.is_resolved(id) => {
                Err(AlertingError::NotFound(Kind::Alert, id.text()))
            }
            _ => Err(AlertingError::AlertResolved),
        }
    }
}
