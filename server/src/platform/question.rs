//! What questions about telemetry have in common: the range of time, the width of buckets, conditions on tags. The
//! same for metrics, events and dashboards.
//!
//! `to` is now, this millisecond included, unless the caller says; so what was written is seen by whoever asks
//! after its answer.

use std::fmt;

use telltale_engine::limits::GROUP_KEYS_MAX;
use telltale_engine::{TagCondition, TagFilter, TimeRange, TimestampMs};

use super::buckets::Width;
use super::time::{self, Moment};
use crate::limits;

/// Why a question cannot be answered as it is asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuestion {
    /// `from` or `to` is unreadable.
    #[error("{0} {TIME_RULE}")]
    Time(&'static str),
    /// The range is empty.
    #[error("from must be before to")]
    RangeEmpty,
    /// The range gives too many buckets: this many.
    #[error("the range has {0} buckets of this interval; the limit is {max}", max = limits::QUERY_BUCKETS_MAX)]
    RangeTooLong(u64),
    /// The answer would have too many points: this many.
    #[error("the answer has {0} points over all groups; the limit is {max}", max = limits::ANSWER_POINTS_MAX)]
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

/// What is said of a time that is unreadable.
pub const TIME_RULE: &str = "must be an ISO 8601 date-time or date such as 2026-01-02T03:04:05Z or 2026-01-02, seconds or \
     milliseconds since 1970, now, or a time before now such as now-1h";
/// What is said of a condition whose `*` is where none can be.
pub const STAR_RULE: &str =
    "may have * only at the end of a single value that is not negated; write \\* for a literal *";
/// What is said of more conditions than [`limits::QUERY_FILTERS_MAX`].
const MANY_CONDITIONS: &str = "must have at most 32 conditions";
const _: () = assert!(limits::QUERY_FILTERS_MAX == 32, "the message names the limit");
const _: () = assert!(GROUP_KEYS_MAX == 4, "messages about `group_by` name the limit");

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
pub fn moment(
    field: &'static str,
    text: &str,
    now: TimestampMs,
) -> Result<Moment, InvalidQuestion> {
    time::parse_moment(text, now).ok_or(InvalidQuestion::Time(field))
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

/// What is said of a list in `group_by` that names something twice, or more than [`GROUP_KEYS_MAX`].
#[derive(Clone, Copy, Debug)]
pub struct GroupRules {
    /// Where something is named twice.
    pub once: &'static str,
    /// Where too much is named.
    pub most: &'static str,
}

/// The items of a list in `group_by`, each as `read` understands it.
pub fn group_by<T: PartialEq>(
    list: &str,
    rules: GroupRules,
    read: impl Fn(&str) -> Result<T, InvalidQuestion>,
) -> Result<Vec<T>, InvalidQuestion> {
    let mut all = Vec::new();
    for item in list.split(',') {
        // A space may follow the comma; those at the end of a key are part of it.
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

/// The conditions that `tags[key]=text` parameters make, given as pairs of key and text.
pub fn tag_filters<'q>(
    pairs: impl Iterator<Item = (&'q str, &'q str)>,
) -> Result<Vec<TagFilter>, InvalidQuestion> {
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

/// `v`, `a,b` (any of them), `!v` and `!a,b` (none of them), `v*` (begins so); an empty value stands for no tag. A `\` before
/// `,`, `!`, `*` and `\` takes the character as it is. A star among several values or after a `!` says something that no
/// condition can.
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

/// One of the values of a condition, without its escapes and its star.
#[derive(Debug, Default)]
struct ListedValue {
    text: String,
    /// Whether a `*` follows.
    has_star: bool,
}

/// The values between commas.
fn values_of(list: &str) -> Vec<ListedValue> {
    let mut values = Vec::new();
    let mut value = ListedValue::default();
    let mut characters = list.chars().peekable();
    while let Some(character) = characters.next() {
        // A star that something of the value follows is a character like another.
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

/// A parameter of the wrong form, and what was expected of it.
pub fn parameter(field: impl fmt::Display, expected: &'static str) -> InvalidQuestion {
    InvalidQuestion::Parameter { field: field.to_string(), expected }
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
