//! The ranges of shifts that requests ask for.

use telltale_engine::TimestampMs;

use crate::areas::alerting::limits;
use crate::http::{ApiError, ApiResult, ErrorCode, Query};

/// Returns the range of the shifts that a query asks for.
pub(in crate::areas::alerting::schedules) fn shifts_range(
    query: &Query,
    now: TimestampMs,
) -> ApiResult<(TimestampMs, TimestampMs)> {
    let from = query.moment("from", now)?.map_or(now, |moment| moment.start());
    let default = TimestampMs(from.0.saturating_add(limits::SCHEDULE_SHIFTS_DEFAULT_MS));
    let to = query.moment("to", now)?.map_or(default, |moment| moment.end());
    let range =
        |field, message: String| ApiError::new(ErrorCode::InvalidRange, message).field(field);
    if from >= to {
        return Err(range("from", "from must be before to".to_owned()));
    }
    if to.0.saturating_sub(from.0) > limits::SHIFTS_RANGE_MS_MAX {
        let days = limits::SHIFTS_RANGE_MS_MAX / 86_400_000;
        return Err(range("to", format!("to must be at most {days} days after from")));
    }
    Ok((from, to))
}

/// Returns the range of the shifts in a calendar file.
pub(in crate::areas::alerting::schedules) fn calendar_range(
    now: TimestampMs,
) -> (TimestampMs, TimestampMs) {
    (now, TimestampMs(now.0.saturating_add(limits::SCHEDULE_CALENDAR_MS)))
}
