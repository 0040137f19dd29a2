//! Parses query parameters into queries, with the defaults and bounds of section "Events" of the
//! API specification.
//!
//! A duplicate parameter is refused. A `to` that is a date means the end of that day.

use telltale_engine::limits::RESERVED_PREFIX;
use telltale_engine::{
    EventAggregation, EventField, EventFilter, EventGroupBy, EventListQuery, EventQuery,
    NameFilter, TimeRange, TimestampMs,
};

use super::model::{Cursor, ListRequest};
use crate::http::{ApiResult, Query};
use crate::limits;
use crate::platform::telemetry::query_params::{self, GroupRules, InvalidQueryParams, parameter};
use crate::platform::time::Moment;

/// The aggregations of statistics, in the order of the response.
pub(super) const STATISTICS: [EventAggregation; 8] = [
    EventAggregation::Numbers,
    EventAggregation::Sum,
    EventAggregation::Avg,
    EventAggregation::Min,
    EventAggregation::Max,
    EventAggregation::P50,
    EventAggregation::P95,
    EventAggregation::P99,
];

/// Parses the query for a page of events.
pub(super) fn list(query: &Query, now: TimestampMs) -> ApiResult<ListRequest> {
    let paging = query.paging(limits::PAGE_LIMIT_DEFAULT, limits::PAGE_LIMIT_MAX)?;
    let after = query
        .one("cursor")?
        .map(|text| {
            Cursor::parse(text)
                .ok_or_else(|| parameter("cursor", "must be a cursor from the response of a list"))
        })
        .transpose()?;
    let filter = filter(query, list_range(query, now)?)?;
    let query = EventListQuery {
        filter,
        after: after.map(|cursor| (cursor.time, cursor.id)),
        offset: paging.offset as u64,
        limit: paging.limit + 1,
    };
    Ok(ListRequest { query, limit: paging.limit })
}

/// Parses the query for a count of events. Without groups the result always has buckets, with
/// groups only if an interval is given.
pub(super) fn count(query: &Query, now: TimestampMs) -> ApiResult<EventQuery> {
    let range = count_range(query, now)?;
    let group_by = query.one("group_by")?.map_or_else(|| Ok(Vec::new()), group_by)?;
    let distinct = query.one("distinct")?.map(|text| string_field("distinct", text)).transpose()?;
    let interval = match (query.one("interval")?, group_by.as_slice()) {
        (None, [_, ..]) => None,
        (text, _) => Some(query_params::width(text, range)?.interval()),
    };
    Ok(EventQuery {
        filter: filter(query, range)?,
        interval,
        group_by,
        field: EventField::Value,
        aggregations: match distinct {
            None => vec![EventAggregation::Count],
            Some(_) => vec![EventAggregation::Count, EventAggregation::Distinct],
        },
        distinct,
    })
}

/// Parses the query for [`STATISTICS`].
pub(super) fn stats(query: &Query, now: TimestampMs) -> ApiResult<EventQuery> {
    let field = query.one("field")?.map(field).transpose()?;
    Ok(EventQuery {
        filter: filter(query, count_range(query, now)?)?,
        interval: None,
        group_by: Vec::new(),
        field: field.unwrap_or_default(),
        distinct: None,
        aggregations: STATISTICS.to_vec(),
    })
}

/// Returns the range of a list. Default: all events.
fn list_range(query: &Query, now: TimestampMs) -> ApiResult<TimeRange> {
    let start = query.moment("from", now)?.map_or(TimestampMs(0), Moment::start);
    let newest = TimestampMs(now.0 + limits::FUTURE_MS_MAX + 1);
    let end = query.moment("to", now)?.map_or(newest, Moment::end);
    Ok(query_params::range(Some(start), Some(end), 0, now)?)
}

/// Returns the range of a count. Default: the last day.
pub(super) fn count_range(query: &Query, now: TimestampMs) -> ApiResult<TimeRange> {
    let start = query.moment("from", now)?.map(Moment::start);
    let end = query.moment("to", now)?.map(Moment::end);
    Ok(query_params::range(start, end, limits::EVENT_RANGE_DEFAULT_MS, now)?)
}

pub(super) fn filter(query: &Query, range: TimeRange) -> ApiResult<EventFilter> {
    let name = query.one("name")?.map_or_else(|| Ok(names_from("")), name)?;
    let user = match query.one("user_id")? {
        Some("") => return Err(parameter("user_id", "must not be empty").into()),
        user => user.map(str::to_owned),
    };
    let tags = query_params::tag_filters(query.bracketed("tags"))?;
    Ok(EventFilter { range, name, user, tags })
}

/// Parses a name filter: `order.paid` matches this name, `order.*` and `order*` match names by
/// prefix, `*` matches all. Events of the server itself are matched only if the name begins with
/// `telltale`.
pub fn name(text: &str) -> Result<NameFilter, InvalidQueryParams> {
    match text.strip_suffix('*') {
        Some(prefix) => Ok(names_from(prefix)),
        None if text.is_empty() => {
            Err(parameter("name", "must be an event name, or a prefix of one followed by *"))
        }
        None => Ok(NameFilter::Exactly(text.to_owned())),
    }
}

fn names_from(prefix: &str) -> NameFilter {
    let reserved = RESERVED_PREFIX.trim_end_matches('.');
    if reserved.starts_with(prefix) && prefix != reserved {
        return NameFilter::PrefixExcept {
            prefix: prefix.to_owned(),
            but: RESERVED_PREFIX.to_owned(),
        };
    }
    NameFilter::Prefix(prefix.to_owned())
}

/// Parses the fields to group by: `tags.<key>`, `user_id` or `name`, or up to four of them joined
/// with `,`.
pub fn group_by(list: &str) -> Result<Vec<EventGroupBy>, InvalidQueryParams> {
    let rules = GroupRules {
        once: "must name each tag or field only once",
        most: "must name at most 4 tags or fields",
    };
    query_params::group_by(list, rules, |item| string_field("group_by", item))
}

/// Parses the name of a string field of events in a parameter.
pub(super) fn string_field(
    parameter_name: &'static str,
    text: &str,
) -> Result<EventGroupBy, InvalidQueryParams> {
    match text {
        "name" => Ok(EventGroupBy::Name),
        "user_id" => Ok(EventGroupBy::User),
        _ => match text.strip_prefix("tags.").filter(|key| !key.is_empty()) {
            Some(key) => Ok(EventGroupBy::Tag(key.to_owned())),
            None => Err(parameter(parameter_name, "must be tags.<key>, user_id or name")),
        },
    }
}

/// Parses a field: `value`, or a path of keys in the properties: `properties.cart.total`, or
/// `cart.total` for short.
pub fn field(text: &str) -> Result<EventField, InvalidQueryParams> {
    if text == "value" {
        return Ok(EventField::Value);
    }
    let path = text.strip_prefix("properties.").unwrap_or(text);
    let path: Vec<String> = path.split('.').map(str::to_owned).collect();
    if path.iter().any(String::is_empty) {
        return Err(parameter(
            "field",
            "must be value, or a path in the properties such as cart.total",
        ));
    }
    Ok(EventField::Property(path))
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use telltale_engine::{EventId, TagCondition, TagFilter};

    use super::*;
    use crate::http::ErrorCode;
    use crate::platform::time;

    /// 2026-01-02T03:04:05.678Z
    const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

    #[track_caller]
    fn check<Q, T: PartialEq + fmt::Debug>(
        read: fn(&Query, TimestampMs) -> ApiResult<Q>,
        part: impl Fn(Q) -> T,
        cases: &[(&str, T)],
    ) {
        for (text, expected) in cases {
            match read(&Query::parse(text).unwrap(), NOW) {
                Ok(question) => assert_eq!(part(question), *expected, "{text}"),
                Err(error) => panic!("{text}: {}", error.message()),
            }
        }
    }

    #[track_caller]
    fn refused<Q: fmt::Debug>(
        read: fn(&Query, TimestampMs) -> ApiResult<Q>,
        cases: &[&str],
        code: ErrorCode,
        field: &str,
    ) {
        for text in cases {
            let error = read(&Query::parse(text).unwrap(), NOW).unwrap_err();
            let named = error.details().and_then(|d| d.field.as_deref());
            assert_eq!((error.code(), named), (code, Some(field)), "{text}: {}", error.message());
        }
    }

    fn shown(range: TimeRange) -> String {
        format!("{} {}", time::format(range.start), time::format(range.end))
    }

    #[test]
    fn the_default_range_of_a_list_is_everything() {
        check(
            list,
            |l| shown(l.query.filter.range),
            &[
                ("", "1970-01-01T00:00:00.000Z 2026-01-03T03:04:05.679Z"),
                ("from=2026-01-01", "2026-01-01T00:00:00.000Z 2026-01-03T03:04:05.679Z"),
                ("to=2026-01-01", "1970-01-01T00:00:00.000Z 2026-01-02T00:00:00.000Z"),
                ("to=2026-01-01T12:00Z", "1970-01-01T00:00:00.000Z 2026-01-01T12:00:00.000Z"),
                ("from=now-1w&to=now", "2025-12-26T03:04:05.678Z 2026-01-02T03:04:05.679Z"),
                ("to=1767323045", "1970-01-01T00:00:00.000Z 2026-01-02T03:04:05.000Z"),
                (
                    "from=2026-01-01&to=2026-01-01",
                    "2026-01-01T00:00:00.000Z 2026-01-02T00:00:00.000Z",
                ),
            ]
            .map(|(text, expected)| (text, expected.to_owned())),
        );
        refused(list, &["from=soon", "from="], ErrorCode::InvalidTimestamp, "from");
        refused(list, &["to=2026-02-30", "to=now-"], ErrorCode::InvalidTimestamp, "to");
        refused(
            list,
            &[
                "from=2026-01-02&to=2026-01-01",
                "from=2027-01-01",
                "from=2026-01-01T00:00&to=2026-01-01T00:00",
            ],
            ErrorCode::InvalidRange,
            "from",
        );
    }

    #[test]
    fn the_default_range_of_counts_and_statistics_is_the_last_day() {
        let cases = [
            ("", "2026-01-01T03:04:05.678Z 2026-01-02T03:04:05.679Z"),
            ("to=2026-01-01", "2026-01-01T00:00:00.000Z 2026-01-02T00:00:00.000Z"),
            ("to=2026-01-01T12:00Z", "2025-12-31T12:00:00.000Z 2026-01-01T12:00:00.000Z"),
            ("from=2025-12-01", "2025-12-01T00:00:00.000Z 2026-01-02T03:04:05.679Z"),
        ]
        .map(|(text, expected)| (text, expected.to_owned()));
        check(count, |q| shown(q.filter.range), &cases);
        check(stats, |q| shown(q.filter.range), &cases);
        refused(count, &["from=2026-01-03"], ErrorCode::InvalidRange, "from");
        refused(
            count,
            &["from=2025-01-01&interval=1m", "from=0001-01-01&to=9999-01-01"],
            ErrorCode::InvalidRange,
            "from",
        );
        refused(stats, &["to=x"], ErrorCode::InvalidTimestamp, "to");
    }

    #[test]
    fn pages_have_a_limit_an_offset_and_a_cursor() {
        let cursor = Cursor { time: TimestampMs(5), id: EventId(9) };
        let after = Some((cursor.time, cursor.id));
        let with_cursor = format!("cursor={}&limit=10", cursor.encoded());
        check(
            list,
            |l| (l.limit, l.query.limit, l.query.offset, l.query.after),
            &[
                ("", (100, 101, 0, None)),
                ("limit=1&offset=7", (1, 2, 7, None)),
                ("limit=5000", (1_000, 1_001, 0, None)),
                (&with_cursor, (10, 11, 0, after)),
            ],
        );
        refused(list, &["limit=0", "limit=-1", "limit=x"], ErrorCode::InvalidParameter, "limit");
        refused(list, &["offset=-1", "offset=1.5"], ErrorCode::InvalidParameter, "offset");
        refused(list, &["cursor=", "cursor=x"], ErrorCode::InvalidParameter, "cursor");
    }

    #[test]
    fn names_users_and_tags_are_parsed_as_filters() {
        let exactly = |name: &str| NameFilter::Exactly(name.to_owned());
        let prefix = |name: &str| NameFilter::Prefix(name.to_owned());
        let but_own = |name: &str| {
            let (prefix, but) = (name.to_owned(), "telltale.".to_owned());
            NameFilter::PrefixExcept { prefix, but }
        };
        let names = [
            ("", but_own("")),
            ("name=*", but_own("")),
            ("name=t*", but_own("t")),
            ("name=telltal*", but_own("telltal")),
            ("name=telltale*", prefix("telltale")),
            ("name=telltale.*", prefix("telltale.")),
            ("name=telltale.error", exactly("telltale.error")),
            ("name=to*", prefix("to")),
            ("name=order.paid", exactly("order.paid")),
            ("name=order.*", prefix("order.")),
            ("name=ord*", prefix("ord")),
            ("name=a*b", exactly("a*b")),
            ("name=a**", prefix("a*")),
        ];
        check(list, |l| l.query.filter.name, &names);
        check(count, |q| q.filter.name, &names);
        check(stats, |q| q.filter.name, &names);
        refused(list, &["name="], ErrorCode::InvalidParameter, "name");
        refused(list, &["name=a&name=b"], ErrorCode::InvalidParameter, "name");
        check(stats, |q| q.filter.user, &[("", None), ("user_id=7", Some("7".to_owned()))]);
        refused(count, &["user_id="], ErrorCode::InvalidParameter, "user_id");
        let condition = TagCondition::NoneOf(vec!["eu".to_owned(), "us".to_owned()].into());
        let tags = vec![TagFilter { key: "region".to_owned(), condition }];
        check(count, |q| q.filter.tags, &[("tags[region]=!eu,us", tags)]);
        refused(stats, &["tags[k]=a*,b"], ErrorCode::InvalidParameter, "tags[k]");
    }

    #[test]
    fn counts_have_buckets_groups_or_both() {
        use telltale_engine::Interval;
        let of_tag = |key: &str| EventGroupBy::Tag(key.to_owned());
        let tag = |key: &str| Some(of_tag(key));
        check(
            count,
            |q| (q.interval, q.group_by),
            &[
                ("", (Some(Interval::MINUTE), vec![])),
                ("from=2025-12-20", (Some(Interval::HOUR), vec![])),
                ("interval=5m", (Some(Interval::FIVE_MINUTES), vec![])),
                ("group_by=tags.a.b", (None, vec![of_tag("a.b")])),
                ("group_by=name", (None, vec![EventGroupBy::Name])),
                ("group_by=user_id&interval=1d", (Some(Interval::DAY), vec![EventGroupBy::User])),
                (
                    "group_by=tags.a,name,+tags.b,user_id",
                    (None, vec![of_tag("a"), EventGroupBy::Name, of_tag("b"), EventGroupBy::User]),
                ),
            ],
        );
        refused(count, &["interval=2w", "interval="], ErrorCode::InvalidInterval, "interval");
        let groups =
            ["group_by=", "group_by=host", "group_by=tags.", "group_by=tags", "group_by=value"];
        refused(count, &groups, ErrorCode::InvalidParameter, "group_by");
        check(
            count,
            |q| (q.distinct, q.aggregations.len()),
            &[
                ("", (None, 1)),
                ("distinct=user_id", (Some(EventGroupBy::User), 2)),
                ("distinct=tags.k&group_by=name", (tag("k"), 2)),
            ],
        );
        refused(count, &["distinct=", "distinct=k"], ErrorCode::InvalidParameter, "distinct");
    }

    #[test]
    fn a_field_is_the_value_or_a_path() {
        let path =
            |keys: &[&str]| EventField::Property(keys.iter().map(|&key| key.to_owned()).collect());
        check(
            stats,
            |q| q.field,
            &[
                ("", EventField::Value),
                ("field=value", EventField::Value),
                ("field=cart.total", path(&["cart", "total"])),
                ("field=properties.cart.total", path(&["cart", "total"])),
                ("field=properties.value", path(&["value"])),
                ("field=properties", path(&["properties"])),
            ],
        );
        let bad = ["field=", "field=.", "field=a.", "field=.a", "field=a..b", "field=properties."];
        refused(stats, &bad, ErrorCode::InvalidParameter, "field");
    }
}
