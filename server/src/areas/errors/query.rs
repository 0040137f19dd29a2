//! Parses query parameters and filters of request bodies into filters of the ledger and the engine.

use std::borrow::Cow;

use telltale_engine::{TagFilter, TimeRange, TimestampMs};

use super::error::ErrorsError;
use super::ledger::{GroupFilter, OWN_TAG_PREFIX, SortBy};
use super::model::{GroupId, GroupStatus, Level};
use super::occurrences::Sparkline;
use crate::http::{ApiError, ApiResult, Query};
use crate::limits;
use crate::platform::telemetry::buckets::BucketWidth;
use crate::platform::telemetry::duration;
use crate::platform::telemetry::query_params::{self, InvalidQueryParams};
use crate::platform::time::{self, Moment};

/// A request for a page of groups.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) filter: ErrorFilter,
    pub(super) sort: SortBy,
    /// Whether each group has counts over time, and which.
    pub(super) series: Option<Sparkline>,
}

/// A filter of groups, by their own fields and by their occurrences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ErrorFilter {
    pub(super) groups: GroupFilter,
    /// `None` if no condition applies to occurrences.
    pub(super) occurrences: Option<OccurrenceFilter>,
}

/// A filter of occurrences: a group matches if at least one of its occurrences meets all
/// conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OccurrenceFilter {
    pub(super) range: TimeRange,
    pub(super) tags: Vec<TagFilter>,
}

/// The filter parameters as sent, in a query string or a body.
#[derive(Clone, Debug, Default)]
pub(super) struct FilterParams<'t> {
    pub(super) status: Option<&'t str>,
    pub(super) level: Option<&'t str>,
    pub(super) since: Option<&'t str>,
    pub(super) from: Option<&'t str>,
    pub(super) to: Option<&'t str>,
    pub(super) environment: Option<&'t str>,
    pub(super) release: Option<&'t str>,
    pub(super) tags: Vec<(&'t str, &'t str)>,
    pub(super) search: Option<&'t str>,
    pub(super) assignee: Option<&'t str>,
}

/// A filter that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InvalidFilter {
    /// A parameter has an invalid value: its name, and the rule that it violates.
    Wrong(&'static str, Cow<'static, str>),
    /// A parameter that all query routes share is invalid.
    QueryParams(InvalidQueryParams),
}

impl From<InvalidQueryParams> for InvalidFilter {
    fn from(invalid: InvalidQueryParams) -> Self {
        Self::QueryParams(invalid)
    }
}

impl FilterParams<'_> {
    pub(super) fn read(self, now: TimestampMs) -> Result<ErrorFilter, InvalidFilter> {
        let wrong = |field, expected: &'static str| InvalidFilter::Wrong(field, expected.into());
        let one_of = "must be one of unresolved, resolved, ignored";
        let status =
            self.status.map(|text| GroupStatus::parse(text).ok_or(wrong("status", one_of)));
        let one_of = "must be one of warning, error, fatal";
        let level = self.level.map(|text| Level::parse(text).ok_or(wrong("level", one_of)));
        let expected = "must be a duration such as 30m, 24h or 7d, or a time such as 2026-01-02 or 2026-01-02T03:04:05Z";
        let since = self.since.map(|text| since(text, now).ok_or(wrong("since", expected)));
        if self.search.is_some_and(|text| text.chars().count() > limits::ERROR_SEARCH_CHARS_MAX) {
            let max = limits::ERROR_SEARCH_CHARS_MAX;
            let expected = format!("must have at most {max} characters");
            return Err(InvalidFilter::Wrong("search", expected.into()));
        }
        let groups = GroupFilter {
            status: status.transpose()?,
            level: level.transpose()?,
            since: since.transpose()?,
            search: self.search.filter(|text| !text.is_empty()).map(str::to_owned),
            assignee: self.assignee.map(str::to_owned),
            only: None,
        };
        Ok(ErrorFilter { groups, occurrences: self.occurrences(now)? })
    }

    fn occurrences(&self, now: TimestampMs) -> Result<Option<OccurrenceFilter>, InvalidFilter> {
        let own = |name: &'static str, text: Option<&str>| {
            let condition = text.map(|text| {
                let wrong = || InvalidFilter::Wrong(name, query_params::STAR_RULE.into());
                query_params::tag_condition(text).ok_or_else(wrong)
            });
            let filter = |condition| TagFilter { key: name.to_owned(), condition };
            condition.transpose().map(|condition| condition.map(filter))
        };
        let mut tags = query_params::tag_filters(self.tags.iter().copied())?;
        tags.iter_mut().for_each(|tag| tag.key.insert_str(0, OWN_TAG_PREFIX));
        tags.extend(own("environment", self.environment)?);
        tags.extend(own("release", self.release)?);
        if tags.is_empty() && self.from.is_none() && self.to.is_none() {
            return Ok(None);
        }
        let from = self.from.map(|text| query_params::moment("from", text, now)).transpose()?;
        let to = self.to.map(|text| query_params::moment("to", text, now)).transpose()?;
        let start = from.map_or(TimestampMs(0), Moment::start);
        let end = to.map_or(TimestampMs(i64::MAX), Moment::end);
        let range = query_params::range(Some(start), Some(end), 0, now)?;
        Ok(Some(OccurrenceFilter { range, tags }))
    }
}

/// Parses a duration before now, or a time.
fn since(text: &str, now: TimestampMs) -> Option<TimestampMs> {
    match duration::parse(text, i64::MAX) {
        Some(ms) => Some(TimestampMs(now.0.saturating_sub(ms))),
        None => time::parse_moment(text, now).map(Moment::start),
    }
}

/// Parses the parameters of a list.
pub(super) fn listing(query: &Query, now: TimestampMs) -> ApiResult<Listing> {
    let params = FilterParams {
        status: query.one("status")?,
        level: query.one("level")?,
        since: query.one("since")?,
        from: query.one("from")?,
        to: query.one("to")?,
        environment: query.one("environment")?,
        release: query.one("release")?,
        tags: query.bracketed("tags").collect(),
        search: query.one("search")?,
        assignee: query.one("assignee")?,
    };
    let filter = params.read(now).map_err(|invalid| match invalid {
        InvalidFilter::Wrong(field, expected) => ApiError::parameter(field, expected),
        InvalidFilter::QueryParams(invalid) => invalid.into(),
    })?;
    let sort = match query.one("sort")? {
        None | Some("last_seen") => SortBy::LastSeen,
        Some("first_seen") => SortBy::FirstSeen,
        Some("occurrences") => SortBy::Occurrences,
        Some("users_affected") => SortBy::Users,
        Some(_) => {
            let expected = "must be one of last_seen, first_seen, occurrences, users_affected";
            return Err(ApiError::parameter("sort", expected));
        }
    };
    let names = || format!("must be one of {}", Sparkline::NAMES.join(", "));
    let series = query.parsed("series", names, Sparkline::parse)?;
    Ok(Listing { filter, sort, series })
}

/// Parses the time range of counts by tag: all occurrences by default.
pub(super) fn tag_range(query: &Query, now: TimestampMs) -> ApiResult<TimeRange> {
    let from = query.moment("from", now)?.map_or(TimestampMs(0), Moment::start);
    let to = query.moment("to", now)?.map_or(TimestampMs(i64::MAX), Moment::end);
    Ok(query_params::range(Some(from), Some(to), 0, now)?)
}

/// Parses the time range and the bucket width of a series.
pub(super) fn series(query: &Query, now: TimestampMs) -> ApiResult<(TimeRange, BucketWidth)> {
    let from = query.moment("from", now)?.map(|moment| moment.start());
    let to = query.moment("to", now)?.map(|moment| moment.end());
    let range = query_params::range(from, to, limits::EVENT_RANGE_DEFAULT_MS, now)?;
    Ok((range, query_params::width(query.one("interval")?, range)?))
}

/// Parses the id of a group.
pub(super) fn group(text: &str) -> Result<GroupId, ErrorsError> {
    GroupId::parse(text).ok_or_else(|| ErrorsError::NotFound(text.to_owned()))
}
