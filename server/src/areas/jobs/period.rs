//! The words for periods and resolutions in query strings.

use crate::http::{ApiError, ApiResult, Query};
use crate::jobs::{Period, Resolution};

/// Reads `period`, which is one of `allowed`, or `default`.
pub(super) fn period(query: &Query, allowed: &[Period], default: Period) -> ApiResult<Period> {
    let Some(text) = query.one("period")? else { return Ok(default) };
    let found = allowed.iter().find(|period| period.as_str() == text);
    found.copied().ok_or_else(|| {
        let words: Vec<_> = allowed.iter().map(|period| period.as_str()).collect();
        ApiError::parameter("period", format_args!("must be one of {}", words.join(", ")))
    })
}

/// Reads `resolution`, or takes the one that suits the period.
pub(super) fn resolution(query: &Query, period: Period) -> ApiResult<Resolution> {
    let Some(text) = query.one("resolution")? else { return Ok(period.resolution()) };
    let all = [Resolution::Minute, Resolution::FiveMinutes, Resolution::Hour];
    let found = all.into_iter().find(|resolution| resolution.as_str() == text);
    found.ok_or_else(|| ApiError::parameter("resolution", "must be one of minute, 5min, hour"))
}
