//! Response bodies: the model as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use telltale_engine::TimestampMs;

use crate::areas::alerting::schedules::model::{Days, Plan, Schedule, ScheduleOverride};
use crate::areas::alerting::schedules::rotation::Member;
use crate::areas::alerting::schedules::shifts::{Shift, ShiftSource};
use crate::platform::calendar::{FIRST_INSTANT, LAST_INSTANT};
use crate::platform::time::IsoTime;

/// An on-call schedule in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OnCallScheduleSummary")]
pub(in crate::areas::alerting::schedules) struct ScheduleSummaryView {
    id: String,
    name: String,
    /// `weekly` or `custom`.
    schedule_type: &'static str,
    timezone: &'static str,
    enabled: bool,
    /// The person on call now; null if nobody is, or the schedule is not enabled.
    current_on_call: Option<String>,
    created_at: IsoTime,
}

/// An on-call schedule.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OnCallSchedule")]
pub(in crate::areas::alerting::schedules) struct ScheduleView {
    #[serde(flatten)]
    summary: ScheduleSummaryView,
    members: Vec<String>,
    /// Only of a weekly schedule.
    weekly_schedule: Option<WeekView>,
    /// Only of a custom schedule: `daily` or `weekly`.
    rotation_type: Option<&'static str>,
    /// Only of a custom schedule.
    rotation_start: Option<IsoTime>,
    /// When the current shift, or the time without a person, began; null if it has no start.
    current_shift_start: Option<IsoTime>,
    /// When it ends; null if it has no end.
    current_shift_end: Option<IsoTime>,
    /// In order of creation: where several overlap, the last one wins.
    overrides: Vec<OverrideView>,
}

/// A link to the calendar of a schedule, which is shown once.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OnCallCalendarLink")]
pub(in crate::areas::alerting::schedules) struct CalendarLinkView {
    /// The path and query.
    path: String,
    /// The whole URL; null unless `server.public_url` is set.
    url: Option<String>,
}

/// Who is on call on each day of the week; null on a day on which nobody is.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OnCallWeek")]
struct WeekView {
    monday: Option<DayView>,
    tuesday: Option<DayView>,
    wednesday: Option<DayView>,
    thursday: Option<DayView>,
    friday: Option<DayView>,
    saturday: Option<DayView>,
    sunday: Option<DayView>,
}

/// Who is on call on a day.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OnCallDay")]
struct DayView {
    user: String,
}

/// Who is on call now.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "CurrentOnCall")]
pub(in crate::areas::alerting::schedules) struct CurrentView {
    /// Null if nobody is on call.
    on_call: Option<String>,
    /// When the shift, or the time without a person, began; null if it has no start.
    shift_start: Option<IsoTime>,
    /// When it ends; null if it has no end.
    shift_end: Option<IsoTime>,
}

/// A person who is on call instead of the planned one.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OnCallOverride")]
pub(in crate::areas::alerting::schedules) struct OverrideView {
    id: String,
    user: String,
    starts_at: IsoTime,
    ends_at: IsoTime,
    created_at: IsoTime,
}

/// A stretch of time with one person on call, or nobody.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OnCallShift")]
pub(in crate::areas::alerting::schedules) struct ShiftView {
    /// Null if nobody is on call.
    user: Option<String>,
    /// Null if it has no start.
    starts_at: Option<IsoTime>,
    /// Null if it has no end.
    ends_at: Option<IsoTime>,
    /// `weekly`, `rotation`, `override`, or `gap` if nobody is on call.
    source: &'static str,
}

impl CalendarLinkView {
    pub(in crate::areas::alerting::schedules) fn new(
        public_url: Option<&str>,
        path: &str,
        token: &str,
    ) -> Self {
        let path = format!("{path}?token={token}");
        let url = public_url.map(|base| format!("{}{path}", base.trim_end_matches('/')));
        Self { path, url }
    }
}

impl ScheduleSummaryView {
    /// Converts a schedule as it is at `now`.
    pub(in crate::areas::alerting::schedules) fn new(
        schedule: &Schedule,
        now: TimestampMs,
    ) -> Self {
        Self::with(schedule, CurrentView::new(schedule, now).on_call)
    }

    fn with(schedule: &Schedule, current_on_call: Option<String>) -> Self {
        let settings = &schedule.settings;
        Self {
            id: schedule.id.as_str().to_owned(),
            name: settings.name.clone(),
            schedule_type: settings.plan.schedule_type().as_str(),
            timezone: settings.timezone.name(),
            enabled: settings.enabled,
            current_on_call,
            created_at: IsoTime(schedule.created_at),
        }
    }
}

impl ScheduleView {
    /// Converts a schedule as it is at `now`.
    pub(in crate::areas::alerting::schedules) fn new(
        schedule: &Schedule,
        now: TimestampMs,
    ) -> Self {
        let current = CurrentView::new(schedule, now);
        let (weekly_schedule, rotation_type, rotation_start) = match &schedule.settings.plan {
            Plan::Weekly(days) => (Some(WeekView::from(days)), None, None),
            Plan::Custom { period, start } => (None, Some(period.as_str()), Some(IsoTime(*start))),
        };
        let members = schedule.settings.members.iter();
        Self {
            summary: ScheduleSummaryView::with(schedule, current.on_call),
            members: members.map(|member| member.0.clone()).collect(),
            weekly_schedule,
            rotation_type,
            rotation_start,
            current_shift_start: current.shift_start,
            current_shift_end: current.shift_end,
            overrides: schedule.overrides.iter().map(OverrideView::from).collect(),
        }
    }
}

impl CurrentView {
    /// Converts the shift at `now`. While a schedule is not enabled, all fields are null.
    pub(in crate::areas::alerting::schedules) fn new(
        schedule: &Schedule,
        now: TimestampMs,
    ) -> Self {
        let Some(shift) = schedule.shift_at(now).map(ShiftView::from) else {
            return Self::default();
        };
        Self { on_call: shift.user, shift_start: shift.starts_at, shift_end: shift.ends_at }
    }
}

impl From<&Days> for WeekView {
    fn from(days: &Days) -> Self {
        let day =
            |user: &Option<Member>| user.as_ref().map(|member| DayView { user: member.0.clone() });
        let [monday, tuesday, wednesday, thursday, friday, saturday, sunday] =
            days.each_ref().map(day);
        Self { monday, tuesday, wednesday, thursday, friday, saturday, sunday }
    }
}

impl From<&ScheduleOverride> for OverrideView {
    fn from(added: &ScheduleOverride) -> Self {
        Self {
            id: added.id.as_str().to_owned(),
            user: added.entry.user.0.clone(),
            starts_at: IsoTime(added.entry.starts_at),
            ends_at: IsoTime(added.entry.ends_at),
            created_at: IsoTime(added.created_at),
        }
    }
}

impl From<Shift> for ShiftView {
    fn from(shift: Shift) -> Self {
        let bound = |time: TimestampMs, infinite: TimestampMs| {
            let is_infinite = shift.source == ShiftSource::Gap && time == infinite;
            (!is_infinite).then_some(IsoTime(time))
        };
        Self {
            starts_at: bound(shift.starts_at, FIRST_INSTANT),
            ends_at: bound(shift.ends_at, LAST_INSTANT),
            source: match shift.source {
                ShiftSource::Weekly => "weekly",
                ShiftSource::Rotation => "rotation",
                ShiftSource::Override => "override",
                ShiftSource::Gap => "gap",
            },
            user: shift.user.map(|member| member.0),
        }
    }
}
