//! What callers ask for: parameters of queries and filters of bodies, read into what the ledger and the engine understand.

use telltale_engine::{TimeRange, TimestampMs};

use super::error::ErrorsError;
use super::ledger::{GroupFilter, SortBy};
use super::model::{GroupId, Level, Status};
use crate::http::{ApiError, ApiResult, Query};
use crate::limits;
use crate::platform::buckets::Width;
use crate::platform::{question, span};

/// A page of groups.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) filter: GroupFilter,
    pub(super) sort: SortBy,
}

/// Filters as they are written, in a query or in a body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written<'t> {
    pub(super) status: Option<&'t str>,
    pub(super) level: Option<&'t str>,
    pub(super) since: Option<&'t str>,
    pub(super) search: Option<&'t str>,
    pub(super) assignee: Option<&'t str>,
}

/// A filter of the wrong form: which, and what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrongFilter {
    pub(super) field: &'static str,
    pub(super) expected: &'static str,
}

impl Written<'_> {
    pub(super) fn read(self, now: TimestampMs) -> Result<GroupFilter, WrongFilter> {
        let wrong = |field, expected| WrongFilter { field, expected };
        let one_of = "must be unresolved, resolved or ignored";
        let status = self.status.map(|text| Status::parse(text).ok_or(wrong("status", one_of)));
        let one_of = "must be warning, error or fatal";
        let level = self.level.map(|text| Level::parse(text).ok_or(wrong("level", one_of)));
        let range = "must be a range such as 30m, 24h or 7d";
        let since = self.since.map(|text| {
            let ms = span::parse(text, i64::MAX).ok_or(wrong("since", range))?;
            Ok(TimestampMs(now.0.saturating_sub(ms)))
        });
        if self.search.is_some_and(|text| text.chars().count() > limits::ERROR_SEARCH_CHARS_MAX) {
            return Err(wrong("search", "is longer than anything that is searched"));
        }
        Ok(GroupFilter {
            status: status.transpose()?,
            level: level.transpose()?,
            since: since.transpose()?,
            search: self.search.filter(|text| !text.is_empty()).map(str::to_owned),
            assignee: self.assignee.map(str::to_owned),
        })
    }
}

/// Reads the parameters of a list.
pub(super) fn listing(query: &Query, now: TimestampMs) -> ApiResult<Listing> {
    let written = Written {
        status: query.one("status")?,
        level: query.one("level")?,
        since: query.one("since")?,
        search: query.one("search")?,
        assignee: query.one("assignee")?,
    };
    let filter = written
        .read(now)
        .map_err(|WrongFilter { field, expected }| ApiError::parameter(field, expected))?;
    let sort = match query.one("sort")? {
        None | Some("last_seen") => SortBy::LastSeen,
        Some("first_seen") => SortBy::FirstSeen,
        Some("occurrences") => SortBy::Occurrences,
        Some("users_affected") => SortBy::Users,
        Some(_) => {
            let expected = "must be last_seen, first_seen, occurrences or users_affected";
            return Err(ApiError::parameter("sort", expected));
        }
    };
    Ok(Listing { filter, sort })
}

/// Reads the range and the width of a series.
pub(super) fn series(query: &Query, now: TimestampMs) -> ApiResult<(TimeRange, Width)> {
    let from = query.moment("from", now)?.map(|moment| moment.start());
    let to = query.moment("to", now)?.map(|moment| moment.end());
    let range = question::range(from, to, limits::EVENT_RANGE_DEFAULT_MS, now)?;
    Ok((range, question::width(query.one("interval")?, range)?))
}

/// The group that a path or a body names.
pub(super) fn group(text: &str) -> Result<GroupId, ErrorsError> {
    GroupId::parse(text).ok_or_else(|| ErrorsError::NotFound(text.to_owned()))
}
