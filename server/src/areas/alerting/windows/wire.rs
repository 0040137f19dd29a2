//! The JSON of maintenance windows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use super::model::{self, Window, WindowChange, WindowSettings};
use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::fields::{self, Services};
use crate::areas::alerting::limits;
use crate::http::ApiError;
use crate::platform::bounded::AtMost;
use crate::platform::calendar::Zone;
use crate::platform::json::nullable;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// The id of an alert rule.
const RULE_ID: &str = "^rule_[0-7][0-9A-HJKMNP-TV-Z]{25}$";

type RuleIds = AtMost<String, { limits::MAINTENANCE_RULES_MAX }>;

/// A new maintenance window.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MaintenanceWindowInput")]
pub(super) struct WindowInput {
    #[schemars(required, length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    #[schemars(length(max = limits::ALERTING_DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
    /// The start, from which a recurrence counts.
    #[schemars(required, with = "IsoTime")]
    starts_at: Option<String>,
    /// Must be after `starts_at`.
    #[schemars(required, with = "IsoTime")]
    ends_at: Option<String>,
    /// The zone on whose wall clock the window recurs. Defaults to `UTC`.
    timezone: Option<String>,
    /// Whether the window mutes anything. Defaults to true.
    active: Option<bool>,
    /// Whether the window recurs. Defaults to false.
    recurring: Option<bool>,
    /// An RRULE of RFC 5545, such as `FREQ=WEEKLY;BYDAY=SU`. Required if `recurring`.
    #[schemars(length(max = crate::limits::RECURRENCE_RULE_BYTES_MAX))]
    recurrence_rule: Option<String>,
    /// The muted rules; all rules if absent or null.
    #[schemars(length(min = 1, max = limits::MAINTENANCE_RULES_MAX), inner(regex(pattern = RULE_ID)))]
    rule_ids: Option<RuleIds>,
    /// Names of affected services, for the reader.
    #[schemars(length(max = limits::SERVICES_MAX), inner(length(min = 1, max = limits::SERVICE_CHARS_MAX)))]
    services: Option<Services>,
}

/// A change of a maintenance window; absent fields are unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MaintenanceWindowPatch")]
pub(super) struct WindowPatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::ALERTING_DESCRIPTION_CHARS_MAX))]
    description: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "IsoTime")]
    starts_at: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "IsoTime")]
    ends_at: Option<Option<String>>,
    /// `null` is the default, `UTC`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    timezone: Option<Option<String>>,
    /// `null` is the default, true.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    active: Option<Option<bool>>,
    /// `null` is the default, false. A window that no longer recurs loses its rule.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    recurring: Option<Option<bool>>,
    /// `null` removes it, together with `recurring` as false.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = crate::limits::RECURRENCE_RULE_BYTES_MAX))]
    recurrence_rule: Option<Option<String>>,
    /// `null` mutes all rules.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(min = 1, max = limits::MAINTENANCE_RULES_MAX), inner(regex(pattern = RULE_ID)))]
    rule_ids: Option<Option<RuleIds>>,
    /// `null` removes all.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(max = limits::SERVICES_MAX), inner(length(min = 1, max = limits::SERVICE_CHARS_MAX)))]
    services: Option<Option<Services>>,
}

/// A maintenance window in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MaintenanceWindowSummary")]
pub(super) struct WindowSummaryView {
    id: String,
    name: String,
    starts_at: IsoTime,
    ends_at: IsoTime,
    active: bool,
    recurring: bool,
    /// Whether the window is active and now is within it.
    currently_active: bool,
    created_at: IsoTime,
}

/// A maintenance window.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MaintenanceWindow")]
pub(super) struct WindowView {
    id: String,
    name: String,
    description: Option<String>,
    starts_at: IsoTime,
    ends_at: IsoTime,
    timezone: &'static str,
    active: bool,
    recurring: bool,
    recurrence_rule: Option<String>,
    /// The muted rules; null means all rules. Empty, so that nothing is muted, if all were deleted.
    rule_ids: Option<Vec<String>>,
    services: Vec<String>,
    created_by: String,
    /// Whether the window is active and now is within it.
    currently_active: bool,
    /// When the window begins next; null if it does not.
    next_starts_at: Option<IsoTime>,
    created_at: IsoTime,
}

impl WindowInput {
    pub(super) fn into_settings(self) -> Result<WindowSettings, ApiError> {
        let recurring = self.recurring.unwrap_or(false);
        Ok(WindowSettings {
            name: fields::name(self.name)?,
            description: fields::description(self.description)?,
            starts_at: fields::time("starts_at", self.starts_at.as_deref())?,
            ends_at: fields::time("ends_at", self.ends_at.as_deref())?,
            timezone: read_zone(self.timezone)?,
            active: self.active.unwrap_or(true),
            recurrence_rule: model::recurrence_rule(recurring, self.recurrence_rule)?,
            rule_ids: self.rule_ids.map(read_rule_ids).transpose()?,
            services: fields::services(self.services)?,
        })
    }
}

impl WindowPatch {
    pub(super) fn into_change(self) -> Result<WindowChange, ApiError> {
        let time = |field, sent: Option<Option<String>>| {
            sent.map(|text| fields::time(field, text.as_deref())).transpose()
        };
        let rule_ids = |sent: Option<RuleIds>| sent.map(read_rule_ids).transpose();
        Ok(WindowChange {
            name: self.name.map(fields::name).transpose()?,
            description: self.description.map(fields::description).transpose()?,
            starts_at: time("starts_at", self.starts_at)?,
            ends_at: time("ends_at", self.ends_at)?,
            timezone: self.timezone.map(read_zone).transpose()?,
            active: self.active.map(|sent| sent.unwrap_or(true)),
            recurring: self.recurring.map(|sent| sent.unwrap_or(false)),
            recurrence_rule: self.recurrence_rule,
            rule_ids: self.rule_ids.map(rule_ids).transpose()?,
            services: self.services.map(fields::services).transpose()?,
        })
    }
}

fn read_zone(name: Option<String>) -> Result<Zone, Invalid> {
    name.map_or(Ok(Zone::UTC), |name| fields::timezone(&name))
}

fn read_rule_ids(sent: RuleIds) -> Result<Vec<String>, Invalid> {
    let max = limits::MAINTENANCE_RULES_MAX;
    let too_many = |_| Invalid::field("rule_ids", format!("must have at most {max} ids"));
    let rule_ids = sent.all().map_err(too_many)?;
    model::check_rule_ids(&rule_ids)?;
    Ok(rule_ids)
}

impl WindowSummaryView {
    /// Converts a window as it is at `now`.
    pub(super) fn new(window: &Window, now: TimestampMs) -> Self {
        Self {
            id: window.id.as_str().to_owned(),
            name: window.settings.name.clone(),
            starts_at: IsoTime(window.settings.starts_at),
            ends_at: IsoTime(window.settings.ends_at),
            active: window.settings.active,
            recurring: window.settings.recurrence_rule.is_some(),
            currently_active: window.is_active_at(now),
            created_at: IsoTime(window.created_at),
        }
    }
}

impl WindowView {
    /// Converts a window as it is at `now`.
    pub(super) fn new(window: Window, now: TimestampMs) -> Self {
        let currently_active = window.is_active_at(now);
        let next_starts_at = window.next_start_after(now).map(IsoTime);
        let settings = window.settings;
        Self {
            id: window.id.into(),
            name: settings.name,
            description: settings.description,
            starts_at: IsoTime(settings.starts_at),
            ends_at: IsoTime(settings.ends_at),
            timezone: settings.timezone.name(),
            active: settings.active,
            recurring: settings.recurrence_rule.is_some(),
            recurrence_rule: settings.recurrence_rule,
            rule_ids: settings.rule_ids,
            services: settings.services,
            created_by: window.created_by,
            currently_active,
            next_starts_at,
            created_at: IsoTime(window.created_at),
        }
    }
}
