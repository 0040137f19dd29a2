//! The JSON of scheduled maintenances.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use super::model::{Maintenance, MaintenanceChange, MaintenanceDraft};
use super::muting::{self, MutingChange};
use super::ops::{CurrentMaintenance, ListedMaintenance};
use crate::areas::status::fields::{self, MONITOR_ID, MonitorIds};
use crate::areas::status::limits;
use crate::http::ApiError;
use crate::platform::bounded::AtMost;
use crate::platform::fields::Invalid;
use crate::platform::json::nullable;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// The id of an alert rule.
const RULE_ID: &str = "^rule_[0-7][0-9A-HJKMNP-TV-Z]{25}$";

type RuleIds = AtMost<String, { limits::MAINTENANCE_MUTED_RULES_MAX }>;

/// A new scheduled maintenance.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ScheduledMaintenanceInput")]
pub(super) struct MaintenanceInput {
    #[schemars(required, length(max = limits::STATUS_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    title: Option<String>,
    #[schemars(length(max = limits::MAINTENANCE_DESCRIPTION_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    description: Option<String>,
    /// The monitors of the page that it covers.
    #[schemars(required, length(min = 1, max = limits::PAGE_MONITORS_MAX), inner(regex(pattern = MONITOR_ID)))]
    monitors: Option<MonitorIds>,
    #[schemars(required, with = "IsoTime")]
    starts_at: Option<String>,
    /// Must be after `starts_at`, by at most 30 days, and in the future.
    #[schemars(required, with = "IsoTime")]
    ends_at: Option<String>,
    /// Whether the subscribers of the page are notified. Defaults to false.
    notify_subscribers: Option<bool>,
    /// Whether alerts are muted while it is in progress. Defaults to false.
    mute_alerts: Option<bool>,
    /// The alert rules that are muted if `mute_alerts`; all rules if absent or null.
    #[schemars(length(min = 1, max = limits::MAINTENANCE_MUTED_RULES_MAX), inner(regex(pattern = RULE_ID)))]
    mute_rule_ids: Option<RuleIds>,
}

/// A change of a scheduled maintenance; absent fields are unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ScheduledMaintenancePatch")]
pub(super) struct MaintenancePatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::STATUS_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    title: Option<Option<String>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::MAINTENANCE_DESCRIPTION_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    description: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Vec<String>", length(min = 1, max = limits::PAGE_MONITORS_MAX), inner(regex(pattern = MONITOR_ID)))]
    monitors: Option<Option<MonitorIds>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "IsoTime")]
    starts_at: Option<Option<String>>,
    /// Of a maintenance in progress, a time in the past ends it now.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "IsoTime")]
    ends_at: Option<Option<String>>,
    /// `null` is the default, false.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    notify_subscribers: Option<Option<bool>>,
    /// `null` is the default, false. True also makes a maintenance window again that was deleted.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    mute_alerts: Option<Option<bool>>,
    /// `null` mutes all rules if `mute_alerts`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(min = 1, max = limits::MAINTENANCE_MUTED_RULES_MAX), inner(regex(pattern = RULE_ID)))]
    mute_rule_ids: Option<Option<RuleIds>>,
}

/// The scheduled maintenances of a status page, those that end last first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScheduledMaintenanceList")]
pub(super) struct MaintenanceListView {
    maintenances: Vec<MaintenanceSummaryView>,
}

/// A scheduled maintenance in a list, which is without the muted rules.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScheduledMaintenanceSummary")]
struct MaintenanceSummaryView {
    id: String,
    page_id: String,
    title: String,
    description: Option<String>,
    /// The ids of the monitors that it covers.
    monitors: Vec<String>,
    #[schemars(with = "MaintenanceStatusName")]
    status: &'static str,
    starts_at: IsoTime,
    ends_at: IsoTime,
    notify_subscribers: bool,
    /// Whether its maintenance window is active.
    mute_alerts: bool,
    /// The maintenance window that mutes alerts; null if there is none.
    window_id: Option<String>,
    created_by: String,
    created_at: IsoTime,
}

/// A scheduled maintenance.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScheduledMaintenance")]
pub(super) struct MaintenanceView {
    #[serde(flatten)]
    summary: MaintenanceSummaryView,
    /// The alert rules that its maintenance window mutes; null if alerts are not muted, or all are.
    /// Empty, so that nothing is muted, if all were deleted.
    mute_rule_ids: Option<Vec<String>>,
}

/// Where now is in relation to a scheduled maintenance.
#[derive(JsonSchema)]
#[schemars(rename = "ScheduledMaintenanceStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum MaintenanceStatusName {
    Scheduled,
    InProgress,
    Completed,
}

impl MaintenanceInput {
    pub(super) fn into_draft(self) -> Result<MaintenanceDraft, ApiError> {
        let monitors = self.monitors.ok_or_else(|| Invalid::missing("monitors"))?;
        let mutes = self.mute_alerts.unwrap_or(false);
        let rule_ids = self.mute_rule_ids.map(read_rule_ids).transpose()?;
        muting::check(mutes, rule_ids.as_deref())?;
        Ok(MaintenanceDraft {
            title: fields::title(self.title)?,
            description: self.description.map(read_description).transpose()?,
            monitors: fields::monitors(Some(monitors))?,
            starts_at: fields::time("starts_at", self.starts_at.as_deref())?,
            ends_at: fields::time("ends_at", self.ends_at.as_deref())?,
            notify_subscribers: self.notify_subscribers.unwrap_or(false),
            muted: mutes.then_some(rule_ids),
        })
    }
}

impl MaintenancePatch {
    pub(super) fn into_change(self) -> Result<(MaintenanceChange, MutingChange), ApiError> {
        let time = |field, sent: Option<Option<String>>| {
            sent.map(|text| fields::time(field, text.as_deref())).transpose()
        };
        let description = |sent: Option<String>| sent.map(read_description).transpose();
        let rule_ids = |sent: Option<RuleIds>| sent.map(read_rule_ids).transpose();
        let monitors = |sent: Option<MonitorIds>| {
            fields::monitors(Some(sent.ok_or_else(|| Invalid::missing("monitors"))?))
        };
        let change = MaintenanceChange {
            title: self.title.map(fields::title).transpose()?,
            description: self.description.map(description).transpose()?,
            monitors: self.monitors.map(monitors).transpose()?,
            starts_at: time("starts_at", self.starts_at)?,
            ends_at: time("ends_at", self.ends_at)?,
            notify_subscribers: self.notify_subscribers.map(Option::unwrap_or_default),
        };
        let muting = MutingChange {
            mute_alerts: self.mute_alerts.map(Option::unwrap_or_default),
            rule_ids: self.mute_rule_ids.map(rule_ids).transpose()?,
        };
        Ok((change, muting))
    }
}

fn read_description(text: String) -> Result<String, Invalid> {
    fields::prose("description", text, limits::MAINTENANCE_DESCRIPTION_CHARS_MAX)
}

/// What ids are valid is for alerting to decide.
fn read_rule_ids(sent: RuleIds) -> Result<Vec<String>, Invalid> {
    let max = limits::MAINTENANCE_MUTED_RULES_MAX;
    let too_many = |_| Invalid::field("mute_rule_ids", format!("must have at most {max} ids"));
    sent.all().map_err(too_many)
}

impl MaintenanceListView {
    /// Converts maintenances as they are at `now`.
    pub(super) fn new<'a>(
        maintenances: impl IntoIterator<Item = &'a ListedMaintenance>,
        now: TimestampMs,
    ) -> Self {
        let view = |listed: &ListedMaintenance| {
            MaintenanceSummaryView::new(&listed.maintenance, listed.is_muting, now)
        };
        Self { maintenances: maintenances.into_iter().map(view).collect() }
    }
}

impl MaintenanceSummaryView {
    /// Converts a maintenance; `is_muting` says whether its window is active, if it has one.
    fn new(maintenance: &Maintenance, is_muting: Option<bool>, now: TimestampMs) -> Self {
        Self {
            id: maintenance.id.text(),
            page_id: maintenance.page_id.text(),
            title: maintenance.title.clone(),
            description: maintenance.description.clone(),
            monitors: maintenance.monitors.iter().map(|id| id.text()).collect(),
            status: maintenance.status_at(now).as_str(),
            starts_at: IsoTime(maintenance.starts_at),
            ends_at: IsoTime(maintenance.ends_at),
            notify_subscribers: maintenance.notify_subscribers,
            mute_alerts: is_muting.unwrap_or(false),
            window_id: maintenance.window_id.clone().filter(|_| is_muting.is_some()),
            created_by: maintenance.created_by.clone(),
            created_at: IsoTime(maintenance.created_at),
        }
    }
}

impl MaintenanceView {
    /// Converts a maintenance as it is at `now`.
    pub(super) fn new(current: &CurrentMaintenance, now: TimestampMs) -> Self {
        let CurrentMaintenance { maintenance, muting, .. } = current;
        let is_muting = muting.as_ref().map(|muting| muting.is_active);
        let muting = muting.as_ref().filter(|muting| muting.is_active);
        Self {
            summary: MaintenanceSummaryView::new(maintenance, is_muting, now),
            mute_rule_ids: muting.and_then(|muting| muting.rule_ids.clone()),
        }
    }
}
