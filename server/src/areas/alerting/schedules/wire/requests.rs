//! Request bodies, and their conversion to the model.

use schemars::JsonSchema;
use serde::Deserialize;
use telltale_engine::TimestampMs;

use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::fields;
use crate::areas::alerting::limits;
use crate::areas::alerting::schedules::model::{
    self, DayChanges, Fields, Plan, ScheduleChange, ScheduleSettings, ScheduleType, WEEKDAYS,
};
use crate::areas::alerting::schedules::rotation::{Member, RotationPeriod};
use crate::areas::alerting::schedules::shifts::Override;
use crate::http::ApiError;
use crate::platform::bounded::AtMost;
use crate::platform::json::nullable;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

const SCHEDULE_TYPE: &str = "^(weekly|custom)$";
const ROTATION_TYPE: &str = "^(daily|weekly)$";

type Members = AtMost<String, { limits::SCHEDULE_MEMBERS_MAX }>;

/// A new on-call schedule.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OnCallScheduleInput")]
pub(in crate::areas::alerting::schedules) struct ScheduleInput {
    #[schemars(required, length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    /// `weekly`, with `weekly_schedule`; or `custom`, with `rotation_type` and `rotation_start`.
    #[schemars(required, regex(pattern = SCHEDULE_TYPE))]
    schedule_type: Option<String>,
    /// The name of a time zone, such as `Europe/Berlin`.
    #[schemars(required)]
    timezone: Option<String>,
    /// Defaults to true.
    enabled: Option<bool>,
    /// Email addresses, in the order of the turns.
    #[schemars(required, length(min = 1, max = limits::SCHEDULE_MEMBERS_MAX), inner(length(max = limits::EMAIL_ADDRESS_CHARS_MAX), regex(pattern = patterns::EMAIL)))]
    members: Option<Members>,
    weekly_schedule: Option<WeekInput>,
    /// `daily` or `weekly`.
    #[schemars(regex(pattern = ROTATION_TYPE))]
    rotation_type: Option<String>,
    /// When the turn of the first member begins.
    #[schemars(schema_with = "patterns::optional_time")]
    #[serde(default)]
    rotation_start: Option<String>,
}

/// A change of an on-call schedule; absent fields are unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OnCallSchedulePatch")]
pub(in crate::areas::alerting::schedules) struct SchedulePatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// Must be the current type.
    #[schemars(regex(pattern = SCHEDULE_TYPE))]
    schedule_type: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String")]
    timezone: Option<Option<String>>,
    /// `null` is the default, true.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    enabled: Option<Option<bool>>,
    /// Replaces all members.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Vec<String>", length(min = 1, max = limits::SCHEDULE_MEMBERS_MAX), inner(length(max = limits::EMAIL_ADDRESS_CHARS_MAX), regex(pattern = patterns::EMAIL)))]
    members: Option<Option<Members>>,
    /// Days that are absent are unchanged.
    weekly_schedule: Option<WeekInput>,
    /// `daily` or `weekly`.
    #[schemars(regex(pattern = ROTATION_TYPE))]
    rotation_type: Option<String>,
    #[schemars(schema_with = "patterns::optional_time")]
    #[serde(default)]
    rotation_start: Option<String>,
}

/// Who is on call on each day of the week; nobody on a day that is null.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "OnCallWeekInput")]
struct WeekInput {
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Option<DayInput>")]
    monday: Option<Option<DayInput>>,
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Option<DayInput>")]
    tuesday: Option<Option<DayInput>>,
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Option<DayInput>")]
    wednesday: Option<Option<DayInput>>,
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Option<DayInput>")]
    thursday: Option<Option<DayInput>>,
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Option<DayInput>")]
    friday: Option<Option<DayInput>>,
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Option<DayInput>")]
    saturday: Option<Option<DayInput>>,
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Option<DayInput>")]
    sunday: Option<Option<DayInput>>,
}

/// Who is on call on a day.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OnCallDayInput")]
struct DayInput {
    /// One of the members.
    #[schemars(required)]
    user: Option<String>,
}

/// A person who is on call instead of the planned one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OnCallOverrideInput")]
pub(in crate::areas::alerting::schedules) struct OverrideInput {
    /// An email address, not necessarily of a member.
    #[schemars(required, length(max = limits::EMAIL_ADDRESS_CHARS_MAX), regex(pattern = patterns::EMAIL))]
    user: Option<String>,
    #[schemars(required, with = "IsoTime")]
    starts_at: Option<String>,
    /// Must be after `starts_at`.
    #[schemars(required, with = "IsoTime")]
    ends_at: Option<String>,
}

impl ScheduleInput {
    pub(in crate::areas::alerting::schedules) fn into_settings(
        self,
    ) -> Result<ScheduleSettings, ApiError> {
        let name = fields::name(self.name)?;
        let schedule_type = self.schedule_type.ok_or_else(|| Invalid::missing("schedule_type"))?;
        let schedule_type = ScheduleType::parse(&schedule_type)?;
        let given = Fields {
            weekly_schedule: self.weekly_schedule.is_some(),
            rotation_type: self.rotation_type.is_some(),
            rotation_start: self.rotation_start.is_some(),
        };
        given.check(schedule_type)?;
        let timezone = self.timezone.ok_or_else(|| Invalid::missing("timezone"))?;
        let timezone = fields::timezone(&timezone)?;
        let members = read_members(self.members)?;
        let plan = match schedule_type {
            ScheduleType::Weekly => {
                let week = self.weekly_schedule.ok_or_else(|| Invalid::missing("weekly_schedule"));
                Plan::Weekly(week?.into_days()?.map(Option::flatten))
            }
            ScheduleType::Custom => {
                let period = self.rotation_type.ok_or_else(|| Invalid::missing("rotation_type"))?;
                let period = RotationPeriod::parse(&period)?;
                Plan::Custom { period, start: rotation_start(self.rotation_start.as_deref())? }
            }
        };
        let enabled = self.enabled.unwrap_or(true);
        Ok(ScheduleSettings { name, timezone, enabled, members, plan })
    }
}

impl SchedulePatch {
    pub(in crate::areas::alerting::schedules) fn into_change(
        self,
    ) -> Result<ScheduleChange, ApiError> {
        let zone = |name: Option<String>| {
            fields::timezone(&name.ok_or_else(|| Invalid::missing("timezone"))?)
        };
        let period = |name: String| RotationPeriod::parse(&name);
        let start = |text: String| rotation_start(Some(&text));
        Ok(ScheduleChange {
            name: self.name.map(fields::name).transpose()?,
            schedule_type: self.schedule_type.as_deref().map(ScheduleType::parse).transpose()?,
            timezone: self.timezone.map(zone).transpose()?,
            enabled: self.enabled.map(|sent| sent.unwrap_or(true)),
            members: self.members.map(read_members).transpose()?,
            days: self.weekly_schedule.map(WeekInput::into_days).transpose()?,
            period: self.rotation_type.map(period).transpose()?,
            start: self.rotation_start.map(start).transpose()?,
        })
    }
}

impl WeekInput {
    fn into_days(self) -> Result<DayChanges, Invalid> {
        let sent = [
            self.monday,
            self.tuesday,
            self.wednesday,
            self.thursday,
            self.friday,
            self.saturday,
            self.sunday,
        ];
        let mut changes = DayChanges::default();
        for ((change, sent), name) in changes.iter_mut().zip(sent).zip(WEEKDAYS) {
            let user = |day: DayInput| {
                let missing = || Invalid::missing(format!("weekly_schedule.{name}.user"));
                day.user.map(Member).ok_or_else(missing)
            };
            *change = sent.map(|day| day.map(user).transpose()).transpose()?;
        }
        Ok(changes)
    }
}

impl OverrideInput {
    pub(in crate::areas::alerting::schedules) fn into_override(self) -> Result<Override, ApiError> {
        let user = self.user.ok_or_else(|| Invalid::missing("user"))?;
        Ok(Override {
            user: model::person("user", user)?,
            starts_at: fields::time("starts_at", self.starts_at.as_deref())?,
            ends_at: fields::time("ends_at", self.ends_at.as_deref())?,
        })
    }
}

fn read_members(sent: Option<Members>) -> Result<Vec<Member>, Invalid> {
    let max = limits::SCHEDULE_MEMBERS_MAX;
    let too_many = |_| Invalid::field("members", format!("must have at most {max} addresses"));
    let sent = sent.ok_or_else(|| Invalid::missing("members"))?;
    model::members(sent.all().map_err(too_many)?)
}

fn rotation_start(text: Option<&str>) -> Result<TimestampMs, ApiError> {
    Ok(fields::time("rotation_start", text)?)
}
