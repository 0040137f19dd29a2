//! Periods and resolutions in query strings.

use crate::http::{ApiError, ApiResult, Query};
use crate::jobs::{Period, Resolution};

/// Reads `period`, which must be one of `allowed`; returns `default` if it is absent.
pub(super) fn period(query: &Query, allowed: &[Period], default: Period) -> ApiResult<Period> {
    let Some(name) = query.one("period")? else { return Ok(default) };
    let found = allowed.iter().find(|period| period.as_str() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<_> = allowed.iter().map(|period| period.as_str()).collect();
        ApiError::parameter("period", format_args!("must be one of {}", names.join(", ")))
    })
}

/// Reads `resolution`; returns the default of the period if it is absent.
pub(super) fn resolution(query: &Query, period: Period) -> ApiResult<Resolution> {
    let Some(name) = query.one("resolution")? else { return Ok(period.resolution()) };
    let all = [Resolution::Minute, Resolution::FiveMinutes, Resolution::Hour];
    let found = all.into_iter().find(|resolution| resolution.as_str() == name);
    found.ok_or_else(|| ApiError::parameter("resolution", "must be one of minute, 5min, hour"))
}
