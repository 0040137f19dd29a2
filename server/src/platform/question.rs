//! What questions about telemetry have in common: the range of time, the width of buckets, conditions on tags. The
//! same for metrics, events and dashboards.
//!
//! `to` is now, this millisecond included, unless the caller says; so what was written is seen by whoever asks
//! after its answer.

use std::fmt;

use telltale_engine::{TagCondition, TagFilter, TimeRange, TimestampMs};

use super::buckets::Width;
use super::time::{self, Moment};
use crate::limits;

/// Why a question cannot be answered as it is asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuestion {
    /// `from` or `to` is unreadable.
    #[error("{0} must be an ISO 8601 date-time or date such as 2026-01-02T03:04:05Z or 2026-01-02")]
    Time(&'static str),
    /// The range is empty.
    #[error("from must be before to")]
    RangeEmpty,
    /// The range gives too many buckets: this many.
    #[error("the range has {0} buckets of this interval, more than {max}", max = limits::QUERY_BUCKETS_MAX)]
    RangeTooLong(u64),
    /// The answer would have too many points: this many.
    #[error("the answer has {0} points over all groups, more than {max}", max = limits::ANSWER_POINTS_MAX)]
    AnswerTooLong(u64),
    /// The interval is unknown.
    #[error("interval must be one of 1m, 5m, 1h, 1d")]
    Interval,
    /// Another parameter has the wrong form: which one, and what was expected.
    #[error("{field} {expected}")]
    Parameter {
        /// The parameter.
        field: String,
        /// What was expected.
        expected: &'static str,
    },
}

/// The texts of a group as one: that alone, or joined by commas, with `\` before each comma and `\` of theirs.
pub fn label(key: &[String]) -> String {
    if let [alone] = key {
        return alone.clone();
    }
    let escaped: Vec<String> =
        key.iter().map(|value| value.replace('\\', "\\\\").replace(',', "\\,")).collect();
    escaped.join(",")
}

/// Reads `from` or `to`, whichever `field` is.
pub fn moment(field: &'static str, text: &str) -> Result<Moment, InvalidQuestion> {
    time::parse_date_or_time(text).ok_or(InvalidQuestion::Time(field))
}

/// The half-open range from `start`, or `default_ms` before the end, to `end`, or now.
pub fn range(
    start: Option<TimestampMs>,
    end: Option<TimestampMs>,
    default_ms: i64,
    now: TimestampMs,
) -> Result<TimeRange, InvalidQuestion> {
    let start = start.unwrap_or_else(|| TimestampMs(end.unwrap_or(now).0 - default_ms));
    let range = TimeRange { start, end: end.unwrap_or(TimestampMs(now.0 + 1)) };
    if range.is_empty() { Err(InvalidQuestion::RangeEmpty) } else { Ok(range) }
}

/// The width of the buckets called `text`, or the one that suits the range.
pub fn width(text: Option<&str>, range: TimeRange) -> Result<Width, InvalidQuestion> {
    let width = match text {
        Some(text) => Width::parse(text).ok_or(InvalidQuestion::Interval)?,
        None => Width::automatic(range),
    };
    let buckets = width.buckets(range);
    if buckets > limits::QUERY_BUCKETS_MAX {
        return Err(InvalidQuestion::RangeTooLong(buckets));
    }
    Ok(width)
}

/// The conditions that `tags[key]=text` parameters make, given as pairs of key and text.
pub fn tag_filters<'q>(
    pairs: impl Iterator<Item = (&'q str, &'q str)>,
) -> Result<Vec<TagFilter>, InvalidQuestion> {
    let mut filters = Vec::new();
    for (key, text) in pairs {
        if filters.len() == limits::QUERY_FILTERS_MAX {
            return Err(parameter("tags", "has too many conditions"));
        }
        if key.is_empty() {
            return Err(parameter("tags[]", "must name a tag"));
        }
        let condition = tag_condition(text).ok_or_else(|| {
            parameter(format_args!("tags[{key}]"), "must have its * alone and at the end")
        })?;
        filters.push(TagFilter { key: key.to_owned(), condition });
    }
    Ok(filters)
}

/// `v`, `a,b` (any of them), `!v` and `!a,b` (none of them), `v*` (begins so). A star among several values or
/// after a `!` says something that no condition can.
pub fn tag_condition(text: &str) -> Option<TagCondition> {
    let (negated, list) = match text.strip_prefix('!') {
        Some(list) => (true, list),
        None => (false, text),
    };
    let values: Vec<&str> = list.split(',').collect();
    if let ([prefix], false) = (values.as_slice(), negated)
        && let Some(prefix) = prefix.strip_suffix('*')
    {
        return Some(TagCondition::Prefix(prefix.to_owned()));
    }
    if values.iter().any(|value| value.ends_with('*')) {
        return None;
    }
    let values = values.into_iter().map(str::to_owned).collect();
    Some(if negated { TagCondition::NoneOf(values) } else { TagCondition::AnyOf(values) })
}

/// A parameter of the wrong form, and what was expected of it.
pub fn parameter(field: impl fmt::Display, expected: &'static str) -> InvalidQuestion {
    InvalidQuestion::Parameter { field: field.to_string(), expected }
}
