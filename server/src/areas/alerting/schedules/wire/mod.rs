//! The JSON of on-call schedules.

mod ranges;
mod requests;
mod responses;

pub(super) use ranges::{calendar_range, shifts_range};
pub(super) use requests::{OverrideInput, ScheduleInput, SchedulePatch};
pub(super) use responses::{
    CalendarLinkView, CurrentView, OverrideView, ScheduleSummaryView, ScheduleView, ShiftView,
};
