//! Parses the parameters of questions about fields and values.

use telltale_engine::{EventFilter, TextSearch, TimestampMs};

use super::values::{ValuesField, ValuesRequest};
use crate::areas::events::limits::{SEARCH_CHARS_MAX, SEARCH_WORDS_MAX};
use crate::areas::events::query::{count_range, field, filter, string_field};
use crate::http::{ApiError, ApiResult, Query};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

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
    Ok(ValuesRequest { field, filter: fields(query, now)?, search: search(query)?, limit })
}

/// Parses the text to search for; `None` if there is none, or only white space.
fn search(query: &Query) -> ApiResult<Option<TextSearch>> {
    let Some(text) = query.one("search")? else { return Ok(None) };
    let search = TextSearch::new(text);
    let has_few_words = search.as_ref().is_none_or(|search| search.words() <= SEARCH_WORDS_MAX);
    if text.chars().nth(SEARCH_CHARS_MAX).is_some() || !has_few_words {
        let expected =
            format!("must have at most {SEARCH_CHARS_MAX} characters and {SEARCH_WORDS_MAX} words");
        return Err(ApiError::parameter("search", expected));
    }
    Ok(search)
}
