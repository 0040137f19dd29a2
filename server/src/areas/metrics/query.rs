//! Parses query parameters into a query, with the defaults and bounds of section "Metrics" of the
//! API specification.
//!
//! A duplicate parameter is refused. A `to` that is a date means the end of that day.

use telltale_engine::{
    Aggregation, DefinitionFilter, Interval, MetricName, MetricQuery, MetricType, TagValueFilter,
    TimestampMs,
};

use super::error::QueryError;
use super::limits::TOP_GROUPS_MAX;
use super::model::{Fill, Form, ParsedQuery, Top, TopBy};
use crate::http::{ApiResult, Paging, Query};
use crate::limits;
use crate::platform::telemetry::query_params::{self, GroupRules, InvalidQueryParams, parameter};
use crate::platform::telemetry::text_search::text_search;
use crate::platform::time::Moment;

/// Parses the filter of a list of definitions.
pub(super) fn definitions(query: &Query, paging: Paging) -> ApiResult<DefinitionFilter> {
    let kind = match query.one("type")? {
        None => None,
        Some(text) => Some(MetricType::parse(text).ok_or(QueryError::Type)?),
    };
    let prefix = query.one("prefix")?.map(str::to_owned);
    let search = text_search(query.one("search")?)?;
    Ok(DefinitionFilter { prefix, search, kind, offset: paging.offset, limit: paging.limit })
}

/// Parses the filter of a list of tag values.
pub(super) fn tag_values(query: &Query, paging: Paging) -> ApiResult<TagValueFilter> {
    let (search, Paging { offset, limit }) = (text_search(query.one("search")?)?, paging);
    let filters = query_params::tag_filters(query.bracketed("tags"))?;
    Ok(TagValueFilter { search, filters, offset, limit })
}

/// Parses the query of a metric of type `kind`.
pub(super) fn read(
    metric: MetricName,
    kind: MetricType,
    query: &Query,
    now: TimestampMs,
) -> ApiResult<ParsedQuery> {
    let from = query.moment("from", now)?.map(Moment::start);
    let to = query.moment("to", now)?.map(Moment::end);
    let range = query_params::range(from, to, limits::QUERY_RANGE_DEFAULT_MS, now)?;
    let width = query_params::width(query.one("interval")?, range)?;
    if !kind.keeps_points() && !width.interval().is_multiple_of(Interval::MINUTE) {
        return Err(QueryError::FineInterval(kind).into());
    }
    let aggregations = aggregations(query.one("aggregation")?, kind)?;
    let group_by = match query.one("group_by")? {
        None => Vec::new(),
        Some(list) => group_keys(list)?,
    };
    let fill = match query.one("fill")? {
        None => Fill::None,
        Some(text) => Fill::parse(text)
            .ok_or_else(|| parameter("fill", "must be one of none, null, zero, previous"))?,
    };
    let expected = || "must be one of points, columns";
    let form = query.parsed("format", expected, Form::parse)?.unwrap_or(Form::Points);
    let top = top(query)?;
    let filters = query_params::tag_filters(query.bracketed("tags"))?;
    let query =
        MetricQuery { metric, range, interval: width.interval(), aggregations, filters, group_by };
    Ok(ParsedQuery { query, width, fill, form, top })
}

/// Parses the number of groups to show.
fn top(query: &Query) -> ApiResult<Option<Top>> {
    let expected = || "must be one of max, min, avg, sum, last";
    let by = query.parsed("top_by", expected, TopBy::parse)?;
    match (query.limit("top", TOP_GROUPS_MAX)?, by) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(parameter("top_by", "must be given together with top").into()),
        (Some(count), by) => Ok(Some(Top { count, by: by.unwrap_or(TopBy::Max) })),
    }
}

/// Parses a comma-separated list of aggregations; duplicates are dropped, the order is kept.
fn aggregations(list: Option<&str>, kind: MetricType) -> Result<Vec<Aggregation>, QueryError> {
    let of_kind = Aggregation::of(kind);
    let Some(list) = list else {
        return Ok(of_kind.iter().take(1).copied().collect());
    };
    let mut aggregations = Vec::new();
    for name in list.split(',').map(str::trim) {
        let aggregation =
            Aggregation::parse(name).filter(|aggregation| of_kind.contains(aggregation));
        let aggregation = aggregation.ok_or(QueryError::Aggregation(kind))?;
        if !aggregations.contains(&aggregation) {
            aggregations.push(aggregation);
        }
    }
    Ok(aggregations)
}

/// Parses the tag keys in `tags.<key>`, or in up to four of these joined with `,`.
pub fn group_keys(list: &str) -> Result<Vec<String>, InvalidQueryParams> {
    let rules =
        GroupRules { once: "must name each tag only once", most: "must name at most 4 tags" };
    query_params::group_by(list, rules, |item| {
        let key = item.strip_prefix("tags.").filter(|key| !key.is_empty());
        key.map(str::to_owned).ok_or_else(|| {
            parameter("group_by", "must be tags.<key>, or up to 4 of these separated by commas")
        })
    })
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use telltale_engine::{TagCondition, TimeRange};

    use super::*;
    use crate::http::ErrorCode;
    use crate::platform::time;

    /// 2026-01-02T03:04:05.678Z
    const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

    fn read_text(kind: MetricType, text: &str) -> ApiResult<ParsedQuery> {
        read(MetricName::new("m").unwrap(), kind, &Query::parse(text)?, NOW)
    }

    #[track_caller]
    fn check<T: PartialEq + fmt::Debug>(
        cases: &[(&str, T)],
        kind: MetricType,
        part: impl Fn(ParsedQuery) -> T,
    ) {
        for (text, expected) in cases {
            match read_text(kind, text) {
                Ok(question) => assert_eq!(part(question), *expected, "{text}"),
                Err(error) => panic!("{text}: {}", error.message()),
            }
        }
    }

    #[track_caller]
    fn refused(cases: &[&str], code: ErrorCode, field: &str) {
        for text in cases {
            let error = read_text(MetricType::Gauge, text).unwrap_err();
            let named = error.details().and_then(|d| d.field.as_deref());
            assert_eq!((error.code(), named), (code, Some(field)), "{text}: {}", error.message());
        }
    }

    #[test]
    fn the_default_range_is_the_last_hour() {
        let shown = |q: ParsedQuery| {
            let TimeRange { start, end } = q.query.range;
            format!("{} {}", time::format(start), time::format(end))
        };
        check(
            &[
                ("", "2026-01-02T02:04:05.678Z 2026-01-02T03:04:05.679Z"),
                ("from=2026-01-01", "2026-01-01T00:00:00.000Z 2026-01-02T03:04:05.679Z"),
                ("to=2026-01-01T12:00Z", "2026-01-01T11:00:00.000Z 2026-01-01T12:00:00.000Z"),
                (
                    "from=2026-01-01&to=2026-01-01",
                    "2026-01-01T00:00:00.000Z 2026-01-02T00:00:00.000Z",
                ),
                ("from=now-2h&to=now-1h", "2026-01-02T01:04:05.678Z 2026-01-02T02:04:05.678Z"),
                ("from=now-1m&to=now", "2026-01-02T03:03:05.678Z 2026-01-02T03:04:05.679Z"),
                (
                    "from=1767315845&to=1767319445678",
                    "2026-01-02T01:04:05.000Z 2026-01-02T02:04:05.678Z",
                ),
                (
                    "from=2026-01-01T00:00:00%2B02:00&to=2026-01-01T00:00:00+01:00",
                    "2025-12-31T22:00:00.000Z 2025-12-31T23:00:00.000Z",
                ),
                (
                    "from=1960-01-01&to=2030-01-01&interval=1d",
                    "1960-01-01T00:00:00.000Z 2030-01-02T00:00:00.000Z",
                ),
            ]
            .map(|(text, expected)| (text, expected.to_owned())),
            MetricType::Gauge,
            shown,
        );
        refused(
            &["from=&to=2026-01-01", "from=yesterday", "from=176732304", "from=now-1y"],
            ErrorCode::InvalidTimestamp,
            "from",
        );
        refused(
            &["to=2026-02-30", "to=now-", "from=2026-01-01&to="],
            ErrorCode::InvalidTimestamp,
            "to",
        );
        refused(
            &[
                "from=2026-01-02&to=2026-01-01",
                "from=2026-01-03&to=2026-01-02",
                "from=now-1h&to=now-2h",
                "from=2026-01-02T03:04:06Z",
                "from=2026-01-01&to=2026-02-10&interval=1m",
                "from=0001-01-01&to=9999-01-01",
            ],
            ErrorCode::InvalidRange,
            "from",
        );
    }

    #[test]
    fn the_default_interval_is_the_smallest_with_at_most_1500_buckets() {
        check(
            &[
                ("interval=10s", "10s"),
                ("interval=90s", "90s"),
                ("interval=120s", "2m"),
                ("", "1m"),
                ("from=2026-01-01", "5m"),
                ("from=2025-12-20", "1h"),
                ("from=2020-01-01", "1d"),
                ("from=2026-01-01&interval=1m", "1m"),
                ("interval=1d", "1d"),
            ]
            .map(|(text, expected)| (text, expected.to_owned())),
            MetricType::Gauge,
            |q| {
                assert_eq!(q.query.interval, q.width.interval());
                q.width.to_string()
            },
        );
        refused(
            &["interval=", "interval=0m", "interval=60", "interval=1M", "interval=4000d"],
            ErrorCode::InvalidInterval,
            "interval",
        );
    }

    #[test]
    fn aggregations_are_those_of_the_type() {
        let names = |q: ParsedQuery| {
            let names: Vec<&str> = q.query.aggregations.iter().map(|a| a.as_str()).collect();
            names.join(" ")
        };
        for (kind, text, expected) in [
            (MetricType::Gauge, "", "avg"),
            (MetricType::Counter, "", "sum"),
            (MetricType::Distribution, "", "avg"),
            (MetricType::Set, "", "count"),
            (MetricType::Gauge, "aggregation=last,avg,min,max", "last avg min max"),
            (MetricType::Counter, "aggregation=rate", "rate"),
            (MetricType::Distribution, "aggregation=p99,%20count,p99", "p99 count"),
        ] {
            check(&[(text, expected.to_owned())], kind, names);
        }
        refused(
            &[
                "aggregation=",
                "aggregation=avg,",
                "aggregation=AVG",
                "aggregation=median",
                "aggregation=sum",
            ],
            ErrorCode::InvalidAggregation,
            "aggregation",
        );
        assert!(read_text(MetricType::Set, "aggregation=p50").is_err());
    }

    #[test]
    fn group_by_accepts_up_to_four_tags() {
        let keys = |q: ParsedQuery| q.query.group_by.join(" ");
        check(
            &[
                ("", ""),
                ("group_by=tags.a", "a"),
                ("group_by=tags.a,tags.b.c,tags.d,tags.e", "a b.c d e"),
                ("group_by=tags.a,+tags.%20", "a  "),
            ]
            .map(|(text, expected)| (text, expected.to_owned())),
            MetricType::Gauge,
            keys,
        );
        refused(
            &[
                "group_by=",
                "group_by=a",
                "group_by=tags.",
                "group_by=tags.a,",
                "group_by=tags.a,tags.a",
                "group_by=tags.a,tags.b,tags.c,tags.d,tags.e",
            ],
            ErrorCode::InvalidParameter,
            "group_by",
        );
    }

    #[test]
    fn tag_filters_are_lists_negations_and_prefixes() {
        let any =
            |values: &[&str]| TagCondition::AnyOf(values.iter().map(|&v| v.to_owned()).collect());
        let none =
            |values: &[&str]| TagCondition::NoneOf(values.iter().map(|&v| v.to_owned()).collect());
        let prefix = |text: &str| TagCondition::Prefix(text.to_owned());
        check(
            &[
                ("tags[k]=v", any(&["v"])),
                ("tags%5Bk%5D=v%2Bw", any(&["v+w"])),
                ("tags[k]=a,b", any(&["a", "b"])),
                ("tags[k]=", any(&[""])),
                ("tags[k]=!v", none(&["v"])),
                ("tags[k]=!a,b", none(&["a", "b"])),
                ("tags[k]=!", none(&[""])),
                ("tags[k]=v*", prefix("v")),
                ("tags[k]=*", prefix("")),
                ("tags[k]=a*b", any(&["a*b"])),
                ("tags[k]=a!", any(&["a!"])),
                ("tags[k]=a%5C,b", any(&["a,b"])),
            ],
            MetricType::Gauge,
            |mut q| {
                let filter = q.query.filters.remove(0);
                assert_eq!((filter.key.as_str(), q.query.filters.len()), ("k", 0));
                filter.condition
            },
        );
        check(
            &[
                ("tags[a]=1&tags[b.c]=2&tags[a]=3", "a b.c a".to_owned()),
                ("tags=x&tag[a]=1", String::new()),
            ],
            MetricType::Gauge,
            |q| {
                let keys: Vec<String> = q.query.filters.into_iter().map(|f| f.key).collect();
                keys.join(" ")
            },
        );
        refused(
            &["tags[k]=a*,b", "tags[k]=a,*", "tags[k]=!a*"],
            ErrorCode::InvalidParameter,
            "tags[k]",
        );
        refused(&["tags[]=a"], ErrorCode::InvalidParameter, "tags[]");
        let many: Vec<String> = (0..33).map(|i| format!("tags[k{i}]=v")).collect();
        refused(&[many.join("&").as_str()], ErrorCode::InvalidParameter, "tags");
    }

    #[test]
    fn distributions_and_sets_have_buckets_of_whole_minutes() {
        for kind in [MetricType::Distribution, MetricType::Set] {
            for text in ["interval=10s", "interval=90s"] {
                let error = read_text(kind, text).unwrap_err();
                assert_eq!(error.code(), ErrorCode::InvalidInterval, "{text}");
            }
            check(&[("interval=120s", "2m".to_owned())], kind, |q| q.width.to_string());
        }
    }

    #[test]
    fn the_largest_groups_can_be_chosen() {
        let top = |count, by| Some(Top { count, by });
        check(
            &[
                ("", None),
                ("top=20", top(20, TopBy::Max)),
                ("top=1&top_by=last", top(1, TopBy::Last)),
                ("top=99999999999999999999&top_by=avg", top(10_000, TopBy::Avg)),
            ],
            MetricType::Gauge,
            |q| q.top,
        );
        let bad = ["top=", "top=0", "top=-1", "top=1.5"];
        refused(&bad, ErrorCode::InvalidParameter, "top");
        let bad = ["top_by=max", "top=5&top_by=p95", "top=5&top_by="];
        refused(&bad, ErrorCode::InvalidParameter, "top_by");
        refused(&["format=csv", "format="], ErrorCode::InvalidParameter, "format");
    }

    #[test]
    fn empty_buckets_are_omitted_by_default() {
        check(
            &[
                ("", Fill::None),
                ("fill=none", Fill::None),
                ("fill=null", Fill::Null),
                ("fill=zero", Fill::Zero),
                ("fill=previous&nobody=knows", Fill::Previous),
            ],
            MetricType::Gauge,
            |q| q.fill,
        );
        refused(&["fill=", "fill=NULL", "fill=0"], ErrorCode::InvalidParameter, "fill");
        refused(&["fill=null&fill=zero"], ErrorCode::InvalidParameter, "fill");
        refused(&["from=2026-01-01&from=2026-01-01"], ErrorCode::InvalidParameter, "from");
    }
}
