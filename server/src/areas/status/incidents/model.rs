//! Incidents and their rules.

use telltale_engine::TimestampMs;
/// A document with its revision.
pub(super) use telltale_engine::Versioned;

use crate::areas::status::error::StatusError;
use crate::areas::status::ids::{IncidentId, MonitorId, PageId};
use crate::areas::status::limits;
use crate::areas::status::public_status::IncidentImpact;
use crate::platform::fields::Invalid;

/// An incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct Incident {
    pub(in crate::areas::status) id: IncidentId,
    pub(in crate::areas::status) page_id: PageId,
    pub(in crate::areas::status) title: String,
    pub(in crate::areas::status) impact: IncidentImpact,
    pub(in crate::areas::status) status: IncidentStatus,
    /// The monitors that it concerns, of those on the page; none if it concerns no particular one.
    pub(in crate::areas::status) monitors: Vec<MonitorId>,
    /// Oldest first. Empty only in copies in memory, see [`Self::without_updates`].
    pub(in crate::areas::status) updates: Vec<IncidentUpdate>,
    /// The user that created it.
    pub(in crate::areas::status) created_by: String,
    pub(in crate::areas::status) created_at: TimestampMs,
    pub(in crate::areas::status) updated_at: TimestampMs,
    pub(in crate::areas::status) resolved_at: Option<TimestampMs>,
}

/// What was known of an incident at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct IncidentUpdate {
    pub(in crate::areas::status) at: TimestampMs,
    pub(in crate::areas::status) status: IncidentStatus,
    /// `None` if only the status changed.
    pub(in crate::areas::status) message: Option<String>,
}

/// How far an incident is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::status) enum IncidentStatus {
    /// The cause is not known.
    Investigating,
    /// The cause is known.
    Identified,
    /// Something was done, and it is observed whether it helps.
    Monitoring,
    /// It is over.
    Resolved,
}

/// A validated request for a new incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IncidentDraft {
    pub(super) title: String,
    pub(super) impact: IncidentImpact,
    pub(super) status: IncidentStatus,
    pub(super) monitors: Vec<MonitorId>,
    pub(super) message: String,
    pub(super) notify_subscribers: bool,
}

/// A change of an incident; `None` leaves a field unchanged. A status or a message is an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IncidentChange {
    pub(super) title: Option<String>,
    pub(super) impact: Option<IncidentImpact>,
    pub(super) status: Option<IncidentStatus>,
    pub(super) monitors: Option<Vec<MonitorId>>,
    pub(super) message: Option<String>,
    pub(super) notify_subscribers: bool,
}

impl Incident {
    /// Returns the incident of a draft.
    pub(super) fn new(
        id: IncidentId,
        page_id: PageId,
        draft: IncidentDraft,
        created_by: String,
        now: TimestampMs,
    ) -> Self {
        let IncidentDraft { title, impact, status, monitors, message, .. } = draft;
        let first = IncidentUpdate { at: now, status, message: Some(message) };
        Self {
            id,
            page_id,
            title,
            impact,
            status,
            monitors,
            updates: vec![first],
            created_by,
            created_at: now,
            updated_at: now,
            resolved_at: (status == IncidentStatus::Resolved).then_some(now),
        }
    }

    /// Applies a change. Returns whether it has another update then; without one there is nothing
    /// that subscribers could be notified of.
    pub(super) fn change(
        &mut self,
        change: IncidentChange,
        now: TimestampMs,
    ) -> Result<bool, StatusError> {
        let status = change.status.unwrap_or(self.status);
        if !self.is_open() && status != IncidentStatus::Resolved {
            return Err(StatusError::State("a resolved incident stays resolved"));
        }
        let is_update = status != self.status || change.message.is_some();
        if change.notify_subscribers && !is_update {
            let expected = "must not be true unless the status changes or there is a message";
            return Err(Invalid::field("notify_subscribers", expected).into());
        }
        // The clock may have been set back.
        let now = now.max(self.updated_at);
        if is_update {
            self.update(status, change.message, now)?;
        }
        if let Some(title) = change.title {
            self.title = title;
        }
        if let Some(impact) = change.impact {
            self.impact = impact;
        }
        if let Some(monitors) = change.monitors {
            self.monitors = monitors;
        }
        self.updated_at = now;
        Ok(is_update)
    }

    fn update(
        &mut self,
        status: IncidentStatus,
        message: Option<String>,
        at: TimestampMs,
    ) -> Result<(), StatusError> {
        let resolves = self.is_open() && status == IncidentStatus::Resolved;
        // An incident can always be resolved.
        let reserved = usize::from(self.is_open() && !resolves);
        if self.updates.len() + reserved >= limits::INCIDENT_UPDATES_MAX {
            return Err(StatusError::State("the incident has the maximum number of updates"));
        }
        let bytes = self.message_bytes() + message.as_ref().map_or(0, String::len);
        if bytes > limits::INCIDENT_MESSAGE_BYTES_MAX && !resolves {
            let max = limits::INCIDENT_MESSAGE_BYTES_MAX;
            let expected = format!("must leave the messages of the incident within {max} bytes");
            return Err(Invalid::field("message", expected).into());
        }
        self.status = status;
        self.updates.push(IncidentUpdate { at, status, message });
        if resolves {
            self.resolved_at = Some(at);
        }
        Ok(())
    }

    /// Removes a monitor from those that it concerns. Returns whether it was one.
    pub(super) fn remove_monitor(&mut self, monitor: MonitorId, now: TimestampMs) -> bool {
        let before = self.monitors.len();
        self.monitors.retain(|id| *id != monitor);
        let is_removed = self.monitors.len() < before;
        if is_removed {
            self.updated_at = self.updated_at.max(now);
        }
        is_removed
    }

    /// Returns whether it is not resolved.
    pub(in crate::areas::status) fn is_open(&self) -> bool {
        self.status != IncidentStatus::Resolved
    }

    /// Returns whether the page shows it at `now`: it is open, or was resolved lately.
    pub(in crate::areas::status) fn is_shown_at(&self, now: TimestampMs) -> bool {
        let until = |at: TimestampMs| TimestampMs(at.0.saturating_add(limits::INCIDENT_SHOWN_MS));
        self.is_open() || self.resolved_at.is_some_and(|at| now < until(at))
    }

    /// Returns the incident as lists need it: the updates, which may be long, are missing.
    pub(in crate::areas::status) fn without_updates(self) -> Self {
        Self { updates: Vec::new(), ..self }
    }

    /// Returns the bytes of all messages.
    pub(in crate::areas::status) fn message_bytes(&self) -> usize {
        self.updates.iter().filter_map(|update| update.message.as_ref()).map(String::len).sum()
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::status) fn bytes(&self) -> usize {
        let updates = self.updates.len() * size_of::<IncidentUpdate>() + self.message_bytes();
        let monitors = self.monitors.len() * size_of::<MonitorId>();
        size_of::<Self>() + self.title.len() + self.created_by.len() + monitors + updates
    }
}

impl IncidentStatus {
    /// All statuses.
    pub(super) const ALL: [Self; 4] =
        [Self::Investigating, Self::Identified, Self::Monitoring, Self::Resolved];

    /// Returns the name in the API.
    pub(in crate::areas::status) fn as_str(self) -> &'static str {
        match self {
            Self::Investigating => "investigating",
            Self::Identified => "identified",
            Self::Monitoring => "monitoring",
            Self::Resolved => "resolved",
        }
    }

    /// Parses what [`Self::as_str`] returns.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::incident;
    use super::*;

    const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

    fn says(message: &str) -> IncidentChange {
        IncidentChange { message: Some(message.to_owned()), ..IncidentChange::default() }
    }

    fn moves(status: IncidentStatus) -> IncidentChange {
        IncidentChange { status: Some(status), ..IncidentChange::default() }
    }

    #[test]
    fn a_status_or_a_message_is_an_update() {
        let mut incident = incident(1, PageId(1), NOW);
        let later = TimestampMs(NOW.0 + 1_000);
        assert!(!incident.change(IncidentChange::default(), later).unwrap());
        assert!(!incident.change(moves(IncidentStatus::Investigating), later).unwrap());
        let renamed = IncidentChange { title: Some("b".to_owned()), ..IncidentChange::default() };
        assert!(!incident.change(renamed, later).unwrap());
        assert_eq!((incident.title.as_str(), incident.updates.len()), ("b", 1));
        assert!(incident.change(says("more"), later).unwrap());
        assert!(incident.change(moves(IncidentStatus::Identified), later).unwrap());
        let last = incident.updates.last().unwrap();
        assert_eq!((last.status, &last.message), (IncidentStatus::Identified, &None));
        let unsaid = IncidentChange { notify_subscribers: true, ..IncidentChange::default() };
        let refused = incident.clone().change(unsaid, later).unwrap_err();
        let StatusError::Invalid(invalid) = refused else { panic!("{refused}") };
        assert_eq!(invalid.field, "notify_subscribers");
        // The clock was set back.
        incident.change(says("late"), NOW).unwrap();
        assert_eq!(incident.updates.last().unwrap().at, later);
    }

    #[test]
    fn the_removal_of_a_monitor_is_a_change() {
        let mut incident = incident(1, PageId(1), NOW);
        incident.monitors = vec![MonitorId(1), MonitorId(2)];
        let later = TimestampMs(NOW.0 + 1_000);
        assert!(!incident.remove_monitor(MonitorId(3), later));
        assert_eq!(incident.updated_at, NOW);
        assert!(incident.remove_monitor(MonitorId(1), later));
        assert_eq!((incident.updated_at, &incident.monitors), (later, &vec![MonitorId(2)]));
        // The clock was set back.
        assert!(incident.remove_monitor(MonitorId(2), NOW));
        assert_eq!(incident.updated_at, later);
    }

    #[test]
    fn a_resolved_incident_stays_resolved_and_takes_messages() {
        let mut incident = incident(1, PageId(1), NOW);
        let later = TimestampMs(NOW.0 + 1_000);
        assert!(incident.change(moves(IncidentStatus::Resolved), later).unwrap());
        assert_eq!(incident.resolved_at, Some(later));
        for status in [IncidentStatus::Investigating, IncidentStatus::Monitoring] {
            let refused = incident.change(moves(status), later);
            assert!(matches!(refused, Err(StatusError::State(_))), "{refused:?}");
        }
        let after = TimestampMs(later.0 + 1_000);
        assert!(incident.change(says("what we learned"), after).unwrap());
        assert!(!incident.change(moves(IncidentStatus::Resolved), after).unwrap());
        assert_eq!(incident.resolved_at, Some(later));
        let shown_until = TimestampMs(later.0 + limits::INCIDENT_SHOWN_MS);
        assert!(incident.is_shown_at(TimestampMs(shown_until.0 - 1)));
        assert!(!incident.is_shown_at(shown_until));
    }

    #[test]
    fn updates_are_limited_and_the_last_one_is_the_resolution() {
        let mut incident = incident(1, PageId(1), NOW);
        for _ in 2..limits::INCIDENT_UPDATES_MAX {
            incident.change(says("x"), NOW).unwrap();
        }
        assert!(matches!(incident.change(says("x"), NOW), Err(StatusError::State(_))));
        incident.change(moves(IncidentStatus::Resolved), NOW).unwrap();
        assert_eq!(incident.updates.len(), limits::INCIDENT_UPDATES_MAX);
        assert!(matches!(incident.change(says("x"), NOW), Err(StatusError::State(_))));
    }

    #[test]
    fn messages_are_limited_together() {
        let mut incident = incident(1, PageId(1), NOW);
        let left = limits::INCIDENT_MESSAGE_BYTES_MAX - incident.message_bytes();
        let before = incident.clone();
        let refused = incident.change(says(&"x".repeat(left + 1)), NOW).unwrap_err();
        assert!(matches!(refused, StatusError::Invalid(invalid) if invalid.field == "message"));
        assert_eq!(incident, before);
        incident.change(says(&"x".repeat(left)), NOW).unwrap();
        assert!(incident.change(says("x"), NOW).is_err());
        let last = IncidentChange { status: Some(IncidentStatus::Resolved), ..says("it is over") };
        incident.change(last, NOW).unwrap();
        assert!(!incident.is_open());
    }
}
