//! Query parameters common to metrics, events and dashboards: the time range, the bucket width,
//! conditions on tags.
//!
//! `to` defaults to now, including the current millisecond, so that a client sees everything that
//! was acknowledged before its query.

use std::fmt;

use telltale_engine::limits::GROUP_KEYS_MAX;
use telltale_engine::{TagCondition, TagFilter, TimeRange, TimestampMs};

use super::super::time::{self, Moment};
use super::buckets::BucketWidth;
use crate::limits;

/// Why query parameters are rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQueryParams {
    /// `from` or `to` is not a valid time.
    #[error("{0} {TIME_RULE}")]
    Time(&'static str),
    /// The range is empty.
    #[error("from must be before to")]
    RangeEmpty,
    /// The range has too many buckets: this many.
    #[error("the range has {0} buckets of this interval; the limit is {max}", max = limits::QUERY_BUCKETS_MAX)]
    TooManyBuckets(u64),
    /// The response would have too many points: this many.
    #[error("the response has {0} points over all groups; the limit is {max}", max = limits::RESPONSE_POINTS_MAX)]
    TooManyPoints(u64),
    /// The interval is unknown.
    #[error("interval {INTERVAL_RULE}")]
    Interval,
    /// Another parameter is not valid: its name, and what was expected.
    #[error("{field} {expected}")]
    Parameter {
        /// The parameter.
        field: String,
        /// What was expected.
        expected: &'static str,
    },
}

/// The message for an invalid time.
pub const TIME_RULE: &str = "must be an ISO 8601 date-time or date such as 2026-01-02T03:04:05Z or 2026-01-02, seconds or \
     milliseconds since 1970, now, or a time before now such as now-1h";
/// The message for an invalid bucket width.
pub const INTERVAL_RULE: &str =
    "must be a number of seconds, minutes, hours or days such as 10s, 1m, 6h or 1d, at most 3650d";
const _: () = assert!(limits::BUCKET_WIDTH_DAYS_MAX == 3_650, "the message names the limit");
/// The message for a condition with a misplaced `*`.
pub const STAR_RULE: &str =
    "may have * only at the end of a single value that is not negated; write \\* for a literal *";
/// The message for more conditions than [`limits::QUERY_FILTERS_MAX`].
const MANY_CONDITIONS: &str = "must have at most 32 conditions";
const _: () = assert!(limits::QUERY_FILTERS_MAX == 32, "the message names the limit");
const _: () = assert!(GROUP_KEYS_MAX == 4, "messages about `group_by` name the limit");

/// Returns the values of a group key as one string: a single value unchanged, several joined by
/// commas, with `\` before each `,` and `\` in them.
pub fn label(key: &[String]) -> String {
    if let [alone] = key {
        return alone.clone();
    }
    let escaped: Vec<String> =
        key.iter().map(|value| value.replace('\\', "\\\\").replace(',', "\\,")).collect();
    escaped.join(",")
}

/// Parses `from` or `to`, as named by `field`.
pub fn moment(
    field: &'static str,
    text: &str,
    now: TimestampMs,
) -> Result<Moment, InvalidQueryParams> {
    time::parse_moment(text, now).ok_or(InvalidQueryParams::Time(field))
}

/// Returns the half-open range from `start` (default: `default_ms` before the end) to `end`
/// (default: now).
pub fn range(
    start: Option<TimestampMs>,
    end: Option<TimestampMs>,
    default_ms: i64,
    now: TimestampMs,
) -> Result<TimeRange, InvalidQueryParams> {
    let start = start.unwrap_or_else(|| TimestampMs(end.unwrap_or(now).0 - default_ms));
    let range = TimeRange { start, end: end.unwrap_or(TimestampMs(now.0 + 1)) };
    if range.is_empty() { Err(InvalidQueryParams::RangeEmpty) } else { Ok(range) }
}

/// Returns the bucket width named `text`, or a suitable one for the range. Fails if the range has
/// too many buckets.
pub fn width(text: Option<&str>, range: TimeRange) -> Result<BucketWidth, InvalidQueryParams> {
    let width = match text {
        Some(text) => BucketWidth::parse(text).ok_or(InvalidQueryParams::Interval)?,
        None => BucketWidth::automatic(range),
    };
    let buckets = width.buckets(range);
    if buckets > limits::QUERY_BUCKETS_MAX {
        return Err(InvalidQueryParams::TooManyBuckets(buckets));
    }
    Ok(width)
}

/// The messages for an invalid list in `group_by`.
#[derive(Clone, Copy, Debug)]
pub struct GroupRules {
    /// If an item occurs twice.
    pub once: &'static str,
    /// If there are more than [`GROUP_KEYS_MAX`] items.
    pub most: &'static str,
}

/// Parses the comma-separated list in `group_by`, each item with `read`.
pub fn group_by<T: PartialEq>(
    list: &str,
    rules: GroupRules,
    read: impl Fn(&str) -> Result<T, InvalidQueryParams>,
) -> Result<Vec<T>, InvalidQueryParams> {
    let mut all = Vec::new();
    for item in list.split(',') {
        // A space may follow the comma; trailing spaces are part of the key.
        let one = read(item.trim_start())?;
        if all.contains(&one) {
            return Err(parameter("group_by", rules.once));
        }
        if all.len() == GROUP_KEYS_MAX {
            return Err(parameter("group_by", rules.most));
        }
        all.push(one);
    }
    Ok(all)
}

/// Returns the conditions of `tags[key]=text` parameters, given as pairs of key and text.
pub fn tag_filters<'q>(
    pairs: impl Iterator<Item = (&'q str, &'q str)>,
) -> Result<Vec<TagFilter>, InvalidQueryParams> {
    let mut filters = Vec::new();
    for (key, text) in pairs {
        if filters.len() == limits::QUERY_FILTERS_MAX {
            return Err(parameter("tags", MANY_CONDITIONS));
        }
        if key.is_empty() {
            return Err(parameter("tags[]", "must name a tag"));
        }
        let condition =
            tag_condition(text).ok_or_else(|| parameter(format_args!("tags[{key}]"), STAR_RULE))?;
        filters.push(TagFilter { key: key.to_owned(), condition });
    }
    Ok(filters)
}

/// Parses a condition: `v`, `a,b` (any of them), `!v`, `!a,b` (none of them), `v*` (prefix); an
/// empty value matches series without the tag. A `\` before `,`, `!`, `*` and `\` makes the
/// character literal. Returns `None` for a `*` in a list or after `!`.
pub fn tag_condition(text: &str) -> Option<TagCondition> {
    let (negated, list) = match text.strip_prefix('!') {
        Some(list) => (true, list),
        None => (false, text),
    };
    let mut values = values_of(list);
    if let ([prefix], false) = (values.as_mut_slice(), negated)
        && prefix.has_star
    {
        return Some(TagCondition::Prefix(std::mem::take(&mut prefix.text)));
    }
    if values.iter().any(|value| value.has_star) {
        return None;
    }
    let values = values.into_iter().map(|value| value.text).collect();
    Some(if negated { TagCondition::NoneOf(values) } else { TagCondition::AnyOf(values) })
}

/// One value of a condition, without its escapes and its `*`.
#[derive(Debug, Default)]
struct ListedValue {
    text: String,
    /// Whether an unescaped `*` ends the value.
    has_star: bool,
}

/// Splits a list at its unescaped commas.
fn values_of(list: &str) -> Vec<ListedValue> {
    let mut values = Vec::new();
    let mut value = ListedValue::default();
    let mut characters = list.chars().peekable();
    while let Some(character) = characters.next() {
        // A star that is not at the end of the value is literal.
        if value.has_star && character != ',' {
            value.has_star = false;
            value.text.push('*');
        }
        match character {
            '\\' => {
                let escaped = characters.next_if(|next| matches!(next, ',' | '!' | '*' | '\\'));
                value.text.push(escaped.unwrap_or('\\'));
            }
            '*' => value.has_star = true,
            ',' => values.push(std::mem::take(&mut value)),
            other => value.text.push(other),
        }
    }
    values.push(value);
    values
}

/// Returns the error for a parameter that is not valid, and what was expected.
pub fn parameter(field: impl fmt::Display, expected: &'static str) -> InvalidQueryParams {
    InvalidQueryParams::Parameter { field: field.to_string(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_lists_negations_and_prefixes_with_escapes() {
        let list = |values: &[&str]| values.iter().map(|&v| v.to_owned()).collect();
        let any = |values: &[&str]| Some(TagCondition::AnyOf(list(values)));
        let none = |values: &[&str]| Some(TagCondition::NoneOf(list(values)));
        let prefix = |text: &str| Some(TagCondition::Prefix(text.to_owned()));
        for (text, expected) in [
            ("v", any(&["v"])),
            ("", any(&[""])),
            ("!", none(&[""])),
            ("a,b", any(&["a", "b"])),
            ("a,", any(&["a", ""])),
            ("!a,b", none(&["a", "b"])),
            ("v*", prefix("v")),
            ("*", prefix("")),
            ("**", prefix("*")),
            ("a*b", any(&["a*b"])),
            ("a!", any(&["a!"])),
            ("a,!b", any(&["a", "!b"])),
            (r"\!a", any(&["!a"])),
            (r"!\!a", none(&["!a"])),
            (r"a\,b", any(&["a,b"])),
            (r"a\,b,c", any(&["a,b", "c"])),
            (r"a\*", any(&["a*"])),
            (r"a\**", prefix("a*")),
            (r"a\*,b", any(&["a*", "b"])),
            (r"!a\*", none(&["a*"])),
            (r"C:\dir", any(&[r"C:\dir"])),
            (r"a\\", any(&[r"a\"])),
            (r"a\\,b", any(&[r"a\", "b"])),
            (r"a\", any(&[r"a\"])),
            ("a*,b", None),
            ("a,b*", None),
            ("!a*", None),
        ] {
            assert_eq!(tag_condition(text), expected, "{text}");
        }
    }
}
