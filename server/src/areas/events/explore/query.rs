//! Parses the parameters of questions about fields and values.

use telltale_engine::{EventFilter, TimestampMs};

use super::values::{ValuesField, ValuesRequest};
use crate::areas::events::query::{count_range, field, filter, string_field};
use crate::http::{ApiError, ApiResult, Query};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};
use crate::platform::telemetry::text_search::text_search;

/// Parses the filter of the events whose fields are listed.
pub(super) fn fields(query: &Query, now: TimestampMs) -> ApiResult<EventFilter> {
    filter(query, count_range(query, now)?)
}

/// Parses a question about the values of a field.
pub(super) fn values(query: &Query, now: TimestampMs) -> ApiResult<ValuesRequest> {
    let Some(name) = query.one("field")? else {
        return Err(ApiError::parameter("field", "is required"));
    };
    let field = match name {
        "name" | "user_id" => ValuesField::Text(string_field("field", name)?),
        _ if name.starts_with("tags.") => ValuesField::Text(string_field("field", name)?),
        _ => ValuesField::Other(field(name)?),
    };
    let limit = query.limit("limit", PAGE_LIMIT_MAX)?.unwrap_or(PAGE_LIMIT_DEFAULT);
    let search = text_search(query.one("search")?)?;
    Ok(ValuesRequest { field, filter: fields(query, now)?, search, limit })
}
