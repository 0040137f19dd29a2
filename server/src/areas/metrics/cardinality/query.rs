//! Parses the query parameters of a question about the number of series.

use telltale_engine::{CardinalityBy, CardinalityQuery};

use crate::http::{ApiError, ApiResult, Paging, Query};
use crate::platform::telemetry::text_search::text_search;

/// Parses the question.
pub(super) fn read(query: &Query, paging: Paging) -> ApiResult<CardinalityQuery> {
    let metric = filled(query, "metric")?;
    let key = filled(query, "key")?;
    let by = match (query.one("by")?.unwrap_or("metric"), key) {
        ("metric", key) => CardinalityBy::Metric { key },
        ("tag", None) => CardinalityBy::TagKey,
        ("tag", Some(_)) => {
            return Err(ApiError::parameter("key", "has no meaning with by=tag; use search"));
        }
        ("value", Some(key)) => CardinalityBy::TagValue { key },
        ("value", None) => {
            return Err(ApiError::parameter("key", "must name the tag whose values are counted"));
        }
        _ => return Err(ApiError::parameter("by", "must be one of metric, tag, value")),
    };
    let Paging { offset, limit } = paging;
    let search = text_search(query.one("search")?)?;
    Ok(CardinalityQuery { by, metric, search, offset, limit })
}

/// Returns a parameter that must not be empty if it is given.
fn filled(query: &Query, name: &'static str) -> ApiResult<Option<String>> {
    match query.one(name)? {
        Some("") => Err(ApiError::parameter(name, "must not be empty")),
        text => Ok(text.map(str::to_owned)),
    }
}
