//! Parses the parameters of a request for new events.

use std::time::Duration;

use telltale_engine::TimeRange;

use super::model::{TailCursor, TailRequest};
use crate::areas::events::limits::TAIL_WAIT_SECONDS_MAX;
use crate::areas::events::query::filter;
use crate::http::{ApiResult, Query};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// Parses the request.
pub(super) fn read(query: &Query) -> ApiResult<TailRequest> {
    let expected = || "must be a cursor from an earlier response";
    let after = query.parsed("after", expected, TailCursor::parse)?;
    let seconds = query.integer("wait_seconds", 0)?.unwrap_or(0).min(TAIL_WAIT_SECONDS_MAX);
    let limit = query.paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?.limit;
    let filter = filter(query, TimeRange::new(i64::MIN, i64::MAX))?;
    Ok(TailRequest { filter, after, limit, wait: Duration::from_secs(seconds as u64) })
}
