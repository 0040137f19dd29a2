//! Specific promises of queries: limits, corrupt sources, and what is not read.

use std::collections::BTreeSet;

use super::super::{QueryLimits, aggregate, list};
use super::setup::*;
use crate::error::{Error, Refusal};
use crate::events::source::ClosedSource;
use crate::limits::EVENT_VALUES_EXACT_MAX;
use crate::model::{
    Event, EventAggregation, EventField, EventGroupBy, EventListQuery, EventQuery, Interval,
    NameFilter, TagCondition, TagFilter, TimeRange, TimestampMs,
};

fn count_all() -> EventQuery {
    EventQuery {
        filter: everything(),
        interval: None,
        group_by: Vec::new(),
        field: EventField::Value,
        distinct: None,
        aggregations: vec![EventAggregation::Count],
    }
}

fn newest(limit: usize) -> EventListQuery {
    EventListQuery { filter: everything(), after: None, offset: 0, limit }
}

fn refusal(sources: &Sources, query: &EventQuery, limits: Limits) -> String {
    match run(limits, |context| aggregate(sources, query, context)).0 {
        Err(Error::Refused(Refusal::Range(text))) => text,
        other => panic!("not refused: {other:?}"),
    }
}

fn of_users(users: u64) -> Sources {
    let event = |i| Event { user: Some(format!("user-{i}")), ..plain(i, i as i64 % 50) };
    let events: Vec<Event> = (0..users).map(event).collect();
    events.chunks(200).map(|part| Box::new(chunk(part)) as Box<dyn ClosedSource>).collect()
}

/// Ten sources of a hundred events each, one hour apart. The given columns of those selected by
/// `broken` cannot be read.
fn hours(
    broken: impl Fn(usize) -> bool,
    columns: &'static [&'static str],
    error: fn() -> Error,
) -> Sources {
    let events = |hour: u64| -> Vec<Event> {
        (0..100).map(|i| plain(hour * 100 + i, (hour * 3_600_000 + i * 1_000) as i64)).collect()
    };
    let source = |hour: u64| -> Box<dyn ClosedSource> {
        let inner = chunk(&events(hour));
        let columns: &[&str] = if broken(hour as usize) { columns } else { &[] };
        Box::new(Broken { inner, columns, error })
    };
    (0..10).map(source).collect()
}

#[test]
fn a_refusal_names_the_limit_that_was_reached() {
    let sources = of_users(500);
    let by_user = EventQuery { group_by: vec![EventGroupBy::User], ..count_all() };
    let limits = Limits { query: QueryLimits { groups_max: 499, ..LIMITS.query }, ..LIMITS };
    assert_eq!(refusal(&sources, &by_user, limits), "the answer has more than 499 groups");
    assert_eq!(answer(&sources, &by_user).groups.len(), 500);

    let mut by_ms = EventQuery { interval: Interval::from_ms(1), ..count_all() };
    by_ms.filter.range = TimeRange::new(0, 50);
    let limits = Limits { query: QueryLimits { buckets_max: 49, ..LIMITS.query }, ..LIMITS };
    let text = "the range has 50 buckets of this interval; the limit is 49";
    assert_eq!(refusal(&sources, &by_ms, limits), text);
    assert_eq!(answer(&sources, &by_ms).all.starts.len(), 50);
    by_ms.filter.range = TimeRange::new(i64::MIN, i64::MAX);
    assert!(refusal(&sources, &by_ms, LIMITS).contains("18446744073709551615 buckets"));

    let users = EventQuery { aggregations: vec![EventAggregation::UniqueUsers], ..by_user };
    let limits = Limits { bytes_max: 10_000, ..LIMITS };
    assert!(refusal(&sources, &users, limits).ends_with("more than 10000 bytes of memory"));
}

#[test]
fn the_keys_of_groups_count_as_memory_while_they_are_collected() {
    let event = |i: u64| Event { user: Some(format!("{i:0>10000}")), ..plain(i, 0) };
    let events: Vec<Event> = (0..10).map(event).collect();
    let sources: Sources = vec![Box::new(chunk(&events))];
    let by_user = EventQuery { group_by: vec![EventGroupBy::User], ..count_all() };
    // They are in memory twice: 100 kB each, and the free space of their buffers.
    let limits = Limits { bytes_max: 200_000, ..LIMITS };
    let refused = refusal(&sources, &by_user, limits);
    assert!(refused.ends_with("more than 200000 bytes of memory"), "{refused}");
    assert_eq!(answer(&sources, &by_user).groups.len(), 10);
}

#[test]
fn queries_without_a_range_or_an_aggregation_are_refused() {
    let mut query = EventQuery { aggregations: Vec::new(), ..count_all() };
    assert_eq!(refusal(&Vec::new(), &query, LIMITS), "at least one aggregation is needed");
    query.filter.range = TimeRange::new(5, 5);
    assert!(refusal(&Vec::new(), &query, LIMITS).starts_with("from must be before to"));
    let mut query = newest(1);
    query.filter.range = TimeRange::new(5, 4);
    let refused = run(LIMITS, |context| list(&Vec::new(), &query, context)).0;
    assert!(matches!(refused, Err(Error::Refused(Refusal::Range(_)))), "{refused:?}");
}

#[test]
fn without_matches_counts_are_zero_and_other_aggregations_absent() {
    let query = EventQuery {
        aggregations: vec![
            EventAggregation::Count,
            EventAggregation::UniqueUsers,
            EventAggregation::Numbers,
            EventAggregation::Sum,
            EventAggregation::P50,
        ],
        interval: Some(Interval::DAY),
        filter: crate::model::EventFilter { range: TimeRange::new(0, 1), ..everything() },
        ..count_all()
    };
    let answer = answer(&Vec::new(), &query);
    assert_eq!(answer.all.whole, [Some(0.0), Some(0.0), Some(0.0), None, None]);
    assert_eq!((answer.all.starts.len(), answer.all.columns.len()), (0, 5));
}

#[test]
fn percentiles_are_exact_up_to_the_limit_and_approximate_beyond() {
    let events = |n: usize| -> Sources {
        let event = |i: u64| {
            // Each value once, unordered.
            let value = (i * 7_919 % n as u64 + 1) as f64;
            Event { value: Some(value), ..plain(i, i as i64) }
        };
        let events: Vec<Event> = (0..n as u64).map(event).collect();
        events.chunks(8_192).map(|part| Box::new(chunk(part)) as Box<dyn ClosedSource>).collect()
    };
    use EventAggregation::{Count, Max, Min, Numbers, P50, P99, Sum};
    let query =
        EventQuery { aggregations: vec![P50, P99, Min, Max, Sum, Numbers, Count], ..count_all() };
    let n = EVENT_VALUES_EXACT_MAX;
    let whole = answer(&events(n), &query).all.whole;
    let sum = |n: usize| Some((n * (n + 1) / 2) as f64);
    let (last, half) = (Some(n as f64), Some(n as f64 / 2.0));
    assert_eq!(whole, [half, Some(99_000.0), Some(1.0), last, sum(n), last, last]);

    let whole = answer(&events(n + 1), &query).all.whole;
    let last = Some((n + 1) as f64);
    assert_eq!(whole[2..], [Some(1.0), last, sum(n + 1), last, last]);
    for (value, expected) in [(whole[0], 50_001.0), (whole[1], 99_001.0)] {
        let value = value.unwrap();
        assert!((value - expected).abs() <= 0.01 * expected && value != expected, "{value}");
    }
}

#[test]
fn few_users_are_counted_exactly_and_many_approximately() {
    let query = EventQuery { aggregations: vec![EventAggregation::UniqueUsers], ..count_all() };
    assert_eq!(answer(&of_users(1_000), &query).all.whole, [Some(1_000.0)]);
    let users = answer(&of_users(5_000), &query).all.whole[0].unwrap();
    assert!((users - 5_000.0).abs() < 5_000.0 * 4.0 * 0.0082, "{users}");
}

#[test]
fn distinct_strings_are_counted_exactly_whatever_their_number() {
    let query = EventQuery {
        distinct: Some(EventGroupBy::User),
        aggregations: vec![EventAggregation::Distinct],
        ..count_all()
    };
    for users in [0, 1_000, 5_000] {
        assert_eq!(answer(&of_users(users), &query).all.whole, [Some(users as f64)]);
    }
    let by_name = EventQuery { distinct: Some(EventGroupBy::Name), ..query.clone() };
    assert_eq!(answer(&of_users(500), &by_name).all.whole, [Some(1.0)]);
    let of_nothing = EventQuery { distinct: None, ..query.clone() };
    assert_eq!(answer(&of_users(500), &of_nothing).all.whole, [Some(0.0)]);
    let limits = Limits { bytes_max: 10_000, ..LIMITS };
    let refused = refusal(&of_users(5_000), &query, limits);
    assert!(refused.ends_with("more than 10000 bytes of memory"), "{refused}");
}

#[test]
fn corrupt_sources_are_left_out_and_reported() {
    let broken = BTreeSet::from([3, 9]);
    let mut filter = everything();
    filter.name = NameFilter::Prefix("a".into());
    filter
        .tags
        .push(TagFilter { key: "k".into(), condition: TagCondition::NoneOf(Vec::new().into()) });
    for column in ["times", "names", "tags", "ids", "events"] {
        let columns: &'static [&'static str] = Box::leak(Box::new([column]));
        let sources = hours(|hour| broken.contains(&hour), columns, corrupt);
        let mut query = newest(1_000);
        query.filter = filter.clone();
        let (page, reported) = run(LIMITS, |context| list(&sources, &query, context));
        let page = page.unwrap();
        assert_eq!((page.total, page.events.len()), (800, 800), "{column}");
        assert_eq!((page.stats.quarantined, page.stats.sources), (2, 10), "{column}");
        assert_eq!(reported, broken, "{column}");
    }
    let query = EventQuery {
        filter,
        interval: Some(Interval::MINUTE),
        group_by: vec![EventGroupBy::Name],
        aggregations: vec![EventAggregation::UniqueUsers, EventAggregation::Sum],
        ..count_all()
    };
    let query = EventQuery {
        filter: crate::model::EventFilter { range: TimeRange::new(0, 36_000_000), ..query.filter },
        ..query
    };
    for column in ["times", "names", "tags", "groups", "hashes", "numbers"] {
        let columns: &'static [&'static str] = Box::leak(Box::new([column]));
        let sources = hours(|hour| broken.contains(&hour), columns, corrupt);
        let (answer, reported) = run(LIMITS, |context| aggregate(&sources, &query, context));
        let answer = answer.unwrap();
        assert_eq!((answer.stats.matched, answer.stats.quarantined), (800, 2), "{column}");
        assert_eq!(reported, broken, "{column}");
    }
}

#[test]
fn other_errors_fail_the_query() {
    let sources = hours(|hour| hour == 5, &["names", "events"], || Error::Storage("gone".into()));
    let failed = run(LIMITS, |context| list(&sources, &newest(1_000), context));
    assert!(matches!(failed.0, Err(Error::Storage(_))), "{failed:?}");
    let mut query = count_all();
    query.filter.name = NameFilter::Exactly("a".into());
    let failed = run(LIMITS, |context| aggregate(&sources, &query, context));
    assert!(matches!(failed.0, Err(Error::Storage(_))) && failed.1.is_empty(), "{failed:?}");
}

#[test]
fn sources_are_not_read_when_the_answer_does_not_need_them() {
    let unreadable =
        |broken: fn(usize) -> bool| hours(broken, &COLUMNS, || Error::Storage("read".into()));
    // Whole sources and no condition but time: the number of rows suffices.
    let sources = unreadable(|_| true);
    assert_eq!(answer(&sources, &count_all()).all.whole, [Some(1_000.0)]);
    let mut by_hour = EventQuery { interval: Some(Interval::HOUR), ..count_all() };
    by_hour.filter.range = TimeRange::new(0, 36_000_000);
    assert_eq!(answer(&sources, &by_hour).all.columns, [[Some(100.0); 10]]);
    // Sources outside the range.
    let sources = unreadable(|hour| hour != 4);
    let mut cut = count_all();
    cut.filter.name = NameFilter::Exactly("a".into());
    cut.filter.range = TimeRange::new(4 * 3_600_000 + 10_000, 4 * 3_600_000 + 20_000);
    let answer = answer(&sources, &cut);
    assert_eq!((answer.all.whole, answer.stats.sources), (vec![Some(10.0)], 1));
    // Sources before and after a page.
    let mut deep = newest(10);
    deep.offset = 550;
    let page = page(&sources, &deep);
    assert_eq!(page.total, 1_000);
    let numbers: Vec<u64> = page.events.iter().map(|event| event.id.number()).collect();
    assert_eq!(numbers, (440..450).rev().collect::<Vec<u64>>());
    deep.offset = 0;
    deep.after = Some((TimestampMs(5 * 3_600_000 - 1), crate::model::EventId(0)));
    assert_eq!(
        super::setup::page(&sources, &deep).events.first().map(|e| e.id.number()),
        Some(499)
    );
}

#[test]
fn events_of_the_same_time_are_ordered_by_id() {
    let events: Vec<Event> = (0..5_000).map(|i| plain(i, 7)).collect();
    let parts = (0..3).map(|part| -> Vec<Event> {
        events.iter().filter(|event| event.id.number() % 3 == part).cloned().collect()
    });
    let sources: Sources =
        parts.map(|part| Box::new(chunk(&part)) as Box<dyn ClosedSource>).collect();
    let mut query = newest(3);
    for (offset, first) in [(0, 4_999), (1_000, 3_999), (4_998, 1)] {
        query.offset = offset;
        let page = page(&sources, &query);
        assert_eq!(page.events.first().map(|event| event.id.number()), Some(first));
    }
    query.offset = 10;
    query.after = Some((TimestampMs(7), crate::model::EventId(100)));
    let page = page(&sources, &query);
    let numbers: Vec<u64> = page.events.iter().map(|event| event.id.number()).collect();
    assert_eq!((page.total, numbers), (5_000, vec![89, 88, 87]));
}
