//! Scheduled maintenances and their rules.

use telltale_engine::TimestampMs;

use crate::areas::status::ids::{MaintenanceId, MonitorId, PageId};
use crate::areas::status::limits;
use crate::platform::fields::Invalid;

/// A scheduled maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct Maintenance {
    pub(in crate::areas::status) id: MaintenanceId,
    pub(in crate::areas::status) page_id: PageId,
    pub(in crate::areas::status) title: String,
    pub(in crate::areas::status) description: Option<String>,
    /// The monitors that it covers. Empty only after the last was deleted or taken off the page.
    pub(in crate::areas::status) monitors: Vec<MonitorId>,
    /// The first instant.
    pub(in crate::areas::status) starts_at: TimestampMs,
    /// The first instant after it.
    pub(in crate::areas::status) ends_at: TimestampMs,
    /// Whether the subscribers of the page are notified of it.
    pub(in crate::areas::status) notify_subscribers: bool,
    /// The maintenance window of alerting that mutes alerts, which users may have deleted.
    pub(super) window_id: Option<String>,
    /// The user that created it.
    pub(super) created_by: String,
    pub(super) created_at: TimestampMs,
}

/// Where now is in relation to a maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::status) enum MaintenanceStatus {
    /// Before it.
    Scheduled,
    /// Within it.
    InProgress,
    /// After it.
    Completed,
}

/// A validated request for a new maintenance, except for [`Maintenance::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MaintenanceDraft {
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) monitors: Vec<MonitorId>,
    pub(super) starts_at: TimestampMs,
    pub(super) ends_at: TimestampMs,
    pub(super) notify_subscribers: bool,
    /// The muted rules; `Some(None)` mutes all, `None` mutes nothing.
    pub(super) muted: Option<Option<Vec<String>>>,
}

/// A change of a maintenance, except of what it mutes; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MaintenanceChange {
    pub(super) title: Option<String>,
    pub(super) description: Option<Option<String>>,
    pub(super) monitors: Option<Vec<MonitorId>>,
    pub(super) starts_at: Option<TimestampMs>,
    pub(super) ends_at: Option<TimestampMs>,
    pub(super) notify_subscribers: Option<bool>,
}

impl Maintenance {
    /// Returns the maintenance of a draft, which mutes nothing. Validates it.
    pub(super) fn new(
        id: MaintenanceId,
        page_id: PageId,
        draft: MaintenanceDraft,
        created_by: String,
        now: TimestampMs,
    ) -> Result<Self, Invalid> {
        check_monitors(&draft.monitors)?;
        let maintenance = Self {
            id,
            page_id,
            title: draft.title,
            description: draft.description,
            monitors: draft.monitors,
            starts_at: draft.starts_at,
            ends_at: draft.ends_at,
            notify_subscribers: draft.notify_subscribers,
            window_id: None,
            created_by,
            created_at: now,
        };
        maintenance.check(now)?;
        Ok(maintenance)
    }

    /// Applies a change and validates the result. An end in the past ends a maintenance in progress
    /// now: what was before stays as it was.
    pub(super) fn change(
        &mut self,
        change: MaintenanceChange,
        now: TimestampMs,
    ) -> Result<(), Invalid> {
        let was_in_progress = self.status_at(now) == MaintenanceStatus::InProgress;
        if let Some(title) = change.title {
            self.title = title;
        }
        if let Some(description) = change.description {
            self.description = description;
        }
        if let Some(monitors) = change.monitors {
            check_monitors(&monitors)?;
            self.monitors = monitors;
        }
        self.starts_at = change.starts_at.unwrap_or(self.starts_at);
        self.ends_at = change.ends_at.unwrap_or(self.ends_at);
        self.notify_subscribers = change.notify_subscribers.unwrap_or(self.notify_subscribers);
        if was_in_progress && self.starts_at < self.ends_at && self.ends_at <= now {
            self.ends_at = now;
            return self.check_length();
        }
        self.check(now)
    }

    /// Returns whether visitors see a difference to another version of the maintenance.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        let texts = self.title == other.title && self.description == other.description;
        let times = self.starts_at == other.starts_at && self.ends_at == other.ends_at;
        texts && times && self.monitors == other.monitors
    }

    /// Validates the times.
    fn check(&self, now: TimestampMs) -> Result<(), Invalid> {
        self.check_length()?;
        match self.ends_at <= now {
            true => Err(Invalid::field("ends_at", "must be in the future")),
            false => Ok(()),
        }
    }

    fn check_length(&self) -> Result<(), Invalid> {
        let invalid = |expected: &str| Err(Invalid::field("ends_at", expected));
        if self.ends_at <= self.starts_at {
            return invalid("must be after starts_at");
        }
        if self.ends_at.0.saturating_sub(self.starts_at.0) > limits::MAINTENANCE_MS_MAX {
            return invalid("must be at most 30 days after starts_at");
        }
        Ok(())
    }

    /// Returns the status at `now`.
    pub(in crate::areas::status) fn status_at(&self, now: TimestampMs) -> MaintenanceStatus {
        if now < self.starts_at {
            MaintenanceStatus::Scheduled
        } else if now < self.ends_at {
            MaintenanceStatus::InProgress
        } else {
            MaintenanceStatus::Completed
        }
    }

    /// Removes a monitor from those that it covers. Returns whether it was one.
    pub(super) fn remove_monitor(&mut self, monitor: MonitorId) -> bool {
        let before = self.monitors.len();
        self.monitors.retain(|id| *id != monitor);
        self.monitors.len() < before
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::status) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.title.len()
            + self.description.as_ref().map_or(0, String::len)
            + self.monitors.len() * size_of::<MonitorId>()
            + self.window_id.as_ref().map_or(0, String::len)
            + self.created_by.len()
    }
}

impl MaintenanceStatus {
    /// Returns the name in the API.
    pub(in crate::areas::status) fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

fn check_monitors(monitors: &[MonitorId]) -> Result<(), Invalid> {
    match monitors.is_empty() {
        true => Err(Invalid::field("monitors", "must not be empty")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::maintenance;
    use super::*;

    const HOUR_MS: i64 = 3_600_000;
    const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

    fn after(ms: i64) -> TimestampMs {
        TimestampMs(NOW.0 + ms)
    }

    #[test]
    fn the_status_follows_from_the_time() {
        let maintenance = maintenance(1, after(0), after(HOUR_MS));
        for (ms, expected) in [
            (-1, "scheduled"),
            (0, "in_progress"),
            (HOUR_MS - 1, "in_progress"),
            (HOUR_MS, "completed"),
        ] {
            assert_eq!(maintenance.status_at(after(ms)).as_str(), expected, "{ms}");
        }
    }

    #[test]
    fn a_maintenance_ends_after_its_start_in_the_future_within_30_days() {
        let max = limits::MAINTENANCE_MS_MAX;
        for (starts_ms, ends_ms, is_valid) in [
            (HOUR_MS, 2 * HOUR_MS, true),
            (HOUR_MS, HOUR_MS, false),
            (HOUR_MS, HOUR_MS - 1, false),
            (-HOUR_MS, 1, true),
            (-HOUR_MS, 0, false),
            (-2 * HOUR_MS, -HOUR_MS, false),
            (HOUR_MS, HOUR_MS + max, true),
            (HOUR_MS, HOUR_MS + max + 1, false),
        ] {
            let checked = maintenance(1, after(starts_ms), after(ends_ms)).check(NOW);
            let field = checked.err().map(|invalid| invalid.field);
            let expected = (!is_valid).then(|| "ends_at".to_owned());
            assert_eq!(field, expected, "{starts_ms} {ends_ms}");
        }
    }

    #[test]
    fn an_end_in_the_past_ends_what_is_in_progress_now() {
        let current = maintenance(1, after(-HOUR_MS), after(HOUR_MS));
        let ended = |before: &Maintenance, ends_ms| {
            let change = MaintenanceChange { ends_at: Some(after(ends_ms)), ..Default::default() };
            let mut changed = before.clone();
            let result = changed.change(change, NOW).map(|()| changed.ends_at.0 - NOW.0);
            result.map_err(|invalid| invalid.field)
        };
        let refused = Err("ends_at".to_owned());
        for (ends_ms, expected) in [
            (1, Ok(1)),
            (0, Ok(0)),
            (-1, Ok(0)),
            (1 - HOUR_MS, Ok(0)),
            (-HOUR_MS, refused.clone()),
            (-2 * HOUR_MS, refused.clone()),
        ] {
            assert_eq!(ended(&current, ends_ms), expected, "{ends_ms}");
        }
        let planned = maintenance(1, after(HOUR_MS), after(2 * HOUR_MS));
        assert_eq!(ended(&planned, 0), refused);
        // One that has not begun cannot be made one of the past.
        let change = MaintenanceChange {
            starts_at: Some(after(-HOUR_MS)),
            ends_at: Some(after(-1)),
            ..Default::default()
        };
        assert_eq!(planned.clone().change(change, NOW).unwrap_err().field, "ends_at");
    }

    #[test]
    fn visitors_see_titles_texts_monitors_and_times() {
        let one = maintenance(1, after(0), after(HOUR_MS));
        let window_id = Some("mw_1".to_owned());
        let same = Maintenance { window_id, notify_subscribers: true, ..one.clone() };
        assert!(one.looks_like(&same));
        for other in [
            Maintenance { title: "t".to_owned(), ..one.clone() },
            Maintenance { description: Some("d".to_owned()), ..one.clone() },
            Maintenance { monitors: vec![MonitorId(2)], ..one.clone() },
            Maintenance { starts_at: after(1), ..one.clone() },
            Maintenance { ends_at: after(1), ..one.clone() },
        ] {
            assert!(!one.looks_like(&other), "{other:?}");
        }
    }

    #[test]
    fn the_result_of_a_change_is_validated() {
        let mut changed = maintenance(1, after(HOUR_MS), after(2 * HOUR_MS));
        let later = MaintenanceChange { starts_at: Some(after(2 * HOUR_MS)), ..Default::default() };
        assert_eq!(changed.clone().change(later, NOW).unwrap_err().field, "ends_at");
        let nothing = MaintenanceChange { monitors: Some(Vec::new()), ..Default::default() };
        assert_eq!(changed.clone().change(nothing, NOW).unwrap_err().field, "monitors");
        // One that covers no monitor any more can be changed otherwise.
        assert!(changed.remove_monitor(MonitorId(1)) && !changed.remove_monitor(MonitorId(1)));
        let renamed = MaintenanceChange {
            title: Some("b".to_owned()),
            description: Some(Some("c".to_owned())),
            ..Default::default()
        };
        changed.change(renamed, NOW).unwrap();
        assert_eq!((changed.title.as_str(), changed.description.as_deref()), ("b", Some("c")));
    }
}
