//! Maintenance windows and their rules.

use std::collections::HashSet;

use telltale_engine::TimestampMs;
/// A document with its revision.
pub(super) use telltale_engine::Versioned;

use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::ids::{RuleId, WindowId};
use crate::platform::calendar::{InvalidRecurrence, Recurrence, Zone};
use crate::platform::ids;

/// What is expected of the id of a muted rule.
pub(super) const NO_RULE: &str = "must be the id of an alert rule";

/// A maintenance window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Window {
    pub(super) id: WindowId,
    pub(super) settings: WindowSettings,
    pub(super) occurrences: Occurrences,
    /// The user that created it.
    pub(super) created_by: String,
    pub(super) created_at: TimestampMs,
}

/// What the user states about a window. Its fields are valid one by one; [`Occurrences::new`]
/// validates how they fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WindowSettings {
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// The start, or the anchor of the recurrence.
    pub(super) starts_at: TimestampMs,
    pub(super) ends_at: TimestampMs,
    pub(super) timezone: Zone,
    /// The switch of the user.
    pub(super) active: bool,
    /// The window is recurring if it has a rule.
    pub(super) recurrence_rule: Option<String>,
    /// The muted rules; `None` mutes all. Empty, which mutes none, only after the last was deleted.
    pub(super) rule_ids: Option<Vec<String>>,
    /// Names of affected services, which only document.
    pub(super) services: Vec<String>,
}

/// When a window is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Occurrences {
    /// Once: `starts_at <= t < ends_at`.
    Once {
        /// The first instant.
        starts_at: TimestampMs,
        /// The first instant after it.
        ends_at: TimestampMs,
    },
    /// Repeatedly.
    Recurring(Box<Recurrence>),
}

/// Whether a window is active, in a range of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct WindowState {
    pub(in crate::areas::alerting) is_active: bool,
    from: TimestampMs,
    /// The first time at which it may be different; `None` if it stays as it is.
    until: Option<TimestampMs>,
}

/// A change of a window; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WindowChange {
    pub(super) name: Option<String>,
    pub(super) description: Option<Option<String>>,
    pub(super) starts_at: Option<TimestampMs>,
    pub(super) ends_at: Option<TimestampMs>,
    pub(super) timezone: Option<Zone>,
    pub(super) active: Option<bool>,
    pub(super) recurring: Option<bool>,
    pub(super) recurrence_rule: Option<Option<String>>,
    pub(super) rule_ids: Option<Option<Vec<String>>>,
    pub(super) services: Option<Vec<String>>,
}

impl WindowState {
    /// Returns whether it is valid at `now`.
    pub(in crate::areas::alerting) fn holds_at(&self, now: TimestampMs) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }
}

impl Window {
    /// Returns whether the window mutes alerts at `now`.
    pub(in crate::areas::alerting) fn is_active_at(&self, now: TimestampMs) -> bool {
        self.settings.active && self.occurrences.end_at(now).is_some()
    }

    /// Returns the id.
    pub(in crate::areas::alerting) fn id(&self) -> &WindowId {
        &self.id
    }

    /// Returns the rules that it mutes; `None` for all.
    pub(in crate::areas::alerting) fn rules(&self) -> Option<&[String]> {
        self.settings.rule_ids.as_deref()
    }

    /// Returns whether it mutes alerts at `now`, and for how long this holds.
    pub(in crate::areas::alerting) fn state_at(&self, now: TimestampMs) -> WindowState {
        let ends_at = self.occurrences.end_at(now);
        let is_active = self.settings.active && ends_at.is_some();
        let until = if is_active { ends_at } else { self.next_start_after(now) };
        WindowState { is_active, from: now, until }
    }

    /// Removes a rule from the muted ones. Returns whether it was one by its id.
    pub(super) fn remove_rule(&mut self, rule: &RuleId) -> bool {
        let Some(rule_ids) = &mut self.settings.rule_ids else { return false };
        let before = rule_ids.len();
        rule_ids.retain(|id| id != rule.as_str());
        rule_ids.len() < before
    }

    /// Returns when the window begins next after `now`. A window that is switched off does not.
    pub(super) fn next_start_after(&self, now: TimestampMs) -> Option<TimestampMs> {
        if self.settings.active { self.occurrences.next_start_after(now) } else { None }
    }

    /// Changes the window and validates the result.
    pub(super) fn change(&mut self, change: WindowChange) -> Result<(), Invalid> {
        let settings = &mut self.settings;
        let recurring = change.recurring.unwrap_or(settings.recurrence_rule.is_some());
        let rule = match change.recurrence_rule {
            Some(rule) => rule,
            // A window that no longer recurs loses its rule.
            None => settings.recurrence_rule.take().filter(|_| recurring),
        };
        settings.recurrence_rule = recurrence_rule(recurring, rule)?;
        settings.name = change.name.unwrap_or_else(|| std::mem::take(&mut settings.name));
        if let Some(description) = change.description {
            settings.description = description;
        }
        settings.starts_at = change.starts_at.unwrap_or(settings.starts_at);
        settings.ends_at = change.ends_at.unwrap_or(settings.ends_at);
        settings.timezone = change.timezone.unwrap_or(settings.timezone);
        settings.active = change.active.unwrap_or(settings.active);
        if let Some(rule_ids) = change.rule_ids {
            settings.rule_ids = rule_ids;
        }
        if let Some(services) = change.services {
            settings.services = services;
        }
        self.occurrences = Occurrences::new(settings)?;
        Ok(())
    }
}

impl Occurrences {
    /// Validates the times and the recurrence rule of a window.
    pub(super) fn new(settings: &WindowSettings) -> Result<Self, Invalid> {
        let (starts_at, ends_at) = (settings.starts_at, settings.ends_at);
        if ends_at <= starts_at {
            return Err(Invalid::field("ends_at", "must be after starts_at"));
        }
        let Some(rule) = &settings.recurrence_rule else {
            return Ok(Self::Once { starts_at, ends_at });
        };
        let zone = settings.timezone;
        let anchor = zone.local(starts_at);
        let duration_ms = ends_at.0.saturating_sub(starts_at.0);
        let invalid = |error: InvalidRecurrence| {
            // The other errors are about the text of the rule.
            let field = match error {
                InvalidRecurrence::Duration => "ends_at",
                InvalidRecurrence::Start => "starts_at",
                _ => "recurrence_rule",
            };
            Invalid::field(field, error.to_string())
        };
        let recurrence = Recurrence::parse(rule, anchor, zone, duration_ms).map_err(invalid)?;
        Ok(Self::Recurring(Box::new(recurrence)))
    }

    /// Returns when the occurrence ends that contains `now`, if one does.
    fn end_at(&self, now: TimestampMs) -> Option<TimestampMs> {
        match self {
            Self::Once { starts_at, ends_at } => {
                (*starts_at..*ends_at).contains(&now).then_some(*ends_at)
            }
            Self::Recurring(recurrence) => {
                recurrence.occurrence_at(now).map(|occurrence| occurrence.ends_at)
            }
        }
    }

    fn next_start_after(&self, now: TimestampMs) -> Option<TimestampMs> {
        match self {
            Self::Once { starts_at, .. } => Some(*starts_at).filter(|start| *start > now),
            Self::Recurring(recurrence) => recurrence.next_after(now).map(|next| next.starts_at),
        }
    }
}

/// Validates that a recurring window has a rule and any other has none.
pub(super) fn recurrence_rule(
    recurring: bool,
    rule: Option<String>,
) -> Result<Option<String>, Invalid> {
    match (recurring, &rule) {
        (true, None) => Err(Invalid::field("recurrence_rule", "is required if recurring is true")),
        (false, Some(_)) => {
            Err(Invalid::field("recurrence_rule", "must not be given unless recurring is true"))
        }
        _ => Ok(rule),
    }
}

/// Validates the ids of muted rules.
pub(super) fn check_rule_ids(rule_ids: &[String]) -> Result<(), Invalid> {
    if rule_ids.is_empty() {
        return Err(Invalid::field("rule_ids", "must not be empty; null means all rules"));
    }
    let mut seen = HashSet::new();
    for (i, id) in rule_ids.iter().enumerate() {
        let invalid = |expected| Invalid::field(format!("rule_ids[{i}]"), expected);
        let ulid = id.strip_prefix(RuleId::PREFIX).and_then(ids::parse_ulid);
        // Ids are compared as text, so only the form in which they are generated is accepted.
        if ulid.is_none_or(|ulid| ids::prefixed(RuleId::PREFIX, ulid) != *id) {
            return Err(invalid(NO_RULE));
        }
        if !seen.insert(id) {
            return Err(invalid("must be unique"));
        }
    }
    Ok(())
}
