//! The stored documents of on-call schedules.
//!
//! The collection is `on_call_schedules`, the key a schedule's id. The days of a weekly plan begin
//! with Monday; overrides are in order of creation.
//!
//! ```text
//! {"name", "timezone", "enabled", "members": ["…"],
//!  "plan": {"type": "weekly", "days": ["…" or null, seven times]}
//!       or {"type": "custom", "period": "daily" or "weekly", "start_ms"},
//!  "overrides": [{"id", "user", "starts_at_ms", "ends_at_ms", "created_at_ms"}],
//!  "calendar_token"?: the base64 of the SHA-256 of the token, "created_at_ms"}
//! ```
//!
//! A document whose zone is not known cannot be read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::link::CalendarTokenHash;
use super::model::{Plan, Schedule, ScheduleOverride, ScheduleSettings};
use super::rotation::{Member, RotationPeriod};
use super::shifts::Override;
use crate::areas::alerting::documents::StoredResource;
use crate::areas::alerting::error::{AlertingError, Kind};
use crate::areas::alerting::limits;
use crate::platform::calendar::Zone;

/// A stored schedule.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "ScheduleDocument", into = "ScheduleDocument")]
pub(in crate::areas::alerting) struct StoredSchedule {
    settings: ScheduleSettings,
    overrides: Vec<ScheduleOverride>,
    calendar_token: Option<CalendarTokenHash>,
    created_at: TimestampMs,
}

/// The JSON of a stored schedule.
#[derive(Debug, Serialize, Deserialize)]
struct ScheduleDocument {
    name: String,
    timezone: String,
    enabled: bool,
    members: Vec<String>,
    plan: StoredPlan,
    overrides: Vec<StoredOverride>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calendar_token: Option<String>,
    created_at_ms: i64,
}

/// A stored plan.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StoredPlan {
    Weekly { days: [Option<String>; 7] },
    Custom { period: StoredPeriod, start_ms: i64 },
}

/// A stored period.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredPeriod {
    Daily,
    Weekly,
}

/// A stored override.
#[derive(Debug, Serialize, Deserialize)]
struct StoredOverride {
    id: String,
    user: String,
    starts_at_ms: i64,
    ends_at_ms: i64,
    created_at_ms: i64,
}

impl TryFrom<ScheduleDocument> for StoredSchedule {
    type Error = String;

    fn try_from(document: ScheduleDocument) -> Result<Self, String> {
        let timezone = Zone::parse(&document.timezone);
        Ok(Self {
            settings: ScheduleSettings {
                name: document.name,
                timezone: timezone.map_err(|error| format!("timezone {error}"))?,
                enabled: document.enabled,
                members: document.members.into_iter().map(Member).collect(),
                plan: document.plan.into(),
            },
            overrides: document.overrides.into_iter().map(ScheduleOverride::from).collect(),
            // A link that cannot be read is one that nobody knows.
            calendar_token: document.calendar_token.as_deref().and_then(CalendarTokenHash::parse),
            created_at: TimestampMs(document.created_at_ms),
        })
    }
}

impl From<StoredSchedule> for ScheduleDocument {
    fn from(stored: StoredSchedule) -> Self {
        let settings = stored.settings;
        Self {
            name: settings.name,
            timezone: settings.timezone.name().to_owned(),
            enabled: settings.enabled,
            members: settings.members.into_iter().map(|member| member.0).collect(),
            plan: settings.plan.into(),
            overrides: stored.overrides.into_iter().map(StoredOverride::from).collect(),
            calendar_token: stored.calendar_token.map(|hash| hash.text()),
            created_at_ms: stored.created_at.0,
        }
    }
}

impl From<StoredPlan> for Plan {
    fn from(stored: StoredPlan) -> Self {
        match stored {
            StoredPlan::Weekly { days } => Self::Weekly(days.map(|day| day.map(Member))),
            StoredPlan::Custom { period, start_ms } => {
                let period = match period {
                    StoredPeriod::Daily => RotationPeriod::Daily,
                    StoredPeriod::Weekly => RotationPeriod::Weekly,
                };
                Self::Custom { period, start: TimestampMs(start_ms) }
            }
        }
    }
}

impl From<Plan> for StoredPlan {
    fn from(plan: Plan) -> Self {
        match plan {
            Plan::Weekly(days) => Self::Weekly { days: days.map(|day| day.map(|member| member.0)) },
            Plan::Custom { period, start } => {
                let period = match period {
                    RotationPeriod::Daily => StoredPeriod::Daily,
                    RotationPeriod::Weekly => StoredPeriod::Weekly,
                };
                Self::Custom { period, start_ms: start.0 }
            }
        }
    }
}

impl From<StoredOverride> for ScheduleOverride {
    fn from(stored: StoredOverride) -> Self {
        Self {
            id: stored.id.into(),
            entry: Override {
                user: Member(stored.user),
                starts_at: TimestampMs(stored.starts_at_ms),
                ends_at: TimestampMs(stored.ends_at_ms),
            },
            created_at: TimestampMs(stored.created_at_ms),
        }
    }
}

impl From<ScheduleOverride> for StoredOverride {
    fn from(added: ScheduleOverride) -> Self {
        Self {
            id: added.id.into(),
            user: added.entry.user.0,
            starts_at_ms: added.entry.starts_at.0,
            ends_at_ms: added.entry.ends_at.0,
            created_at_ms: added.created_at.0,
        }
    }
}

impl StoredResource for Schedule {
    type Kind = Kind;
    type Error = AlertingError;
    type Stored = StoredSchedule;
    const COLLECTION: Collection = Collection("on_call_schedules");
    const KIND: Kind = Kind::Schedule;
    const COUNT_MAX: usize = limits::SCHEDULES_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.as_str().into()
    }

    fn to_stored(&self) -> StoredSchedule {
        StoredSchedule {
            settings: self.settings.clone(),
            overrides: self.overrides.clone(),
            calendar_token: self.calendar_token.clone(),
            created_at: self.created_at,
        }
    }

    fn from_stored(id: String, stored: StoredSchedule) -> Self {
        let StoredSchedule { settings, overrides, calendar_token, created_at } = stored;
        Self { id: id.into(), settings, overrides, calendar_token, created_at }
    }
}
