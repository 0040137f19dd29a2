//! Random queries over random events in random sources must return what the oracle returns.

use proptest::prelude::*;
use proptest::sample::select;

use super::oracle;
use super::setup::{Indexed, Sources, answer, chunk, page};
use crate::events::source::ClosedSource;
use crate::model::{
    Event, EventAggregation, EventField, EventFilter, EventGroupBy, EventId, EventListQuery,
    EventQuery, Interval, NameFilter, Properties, TagCondition, TagFilter, TagValues, TimeRange,
    TimestampMs,
};

const AGGREGATIONS: [EventAggregation; 11] = [
    EventAggregation::Count,
    EventAggregation::UniqueUsers,
    EventAggregation::Distinct,
    EventAggregation::Numbers,
    EventAggregation::Sum,
    EventAggregation::Avg,
    EventAggregation::Min,
    EventAggregation::Max,
    EventAggregation::P50,
    EventAggregation::P95,
    EventAggregation::P99,
];
const PROPERTIES: [&str; 6] = [
    "{}",
    r#"{"n":1.5}"#,
    r#"{"n":"2","o":{"n":-3}}"#,
    r#"{"o":{"n":7,"n":8.25}}"#,
    r#"{"n":{"n":4},"o":5}"#,
    r#"{"n":9,"o":[{"n":1}]}"#,
];

fn event(times: i64) -> impl Strategy<Value = Event> {
    let text = |of: &'static [&'static str]| select(of).prop_map(str::to_owned);
    let zone = proptest::option::weighted(0.8, text(&["", "eu", "us"]));
    let app = proptest::option::of(text(&["eu", "shop", "shop-2"]));
    (
        0..times,
        text(&["a", "ab", "b.x", "b.y"]),
        proptest::option::of(text(&["u1", "u2", "eu"])),
        proptest::option::of((-8..9i32).prop_map(|quarters| f64::from(quarters) / 4.0)),
        (app, zone),
        proptest::option::of(text(&PROPERTIES)),
    )
        .prop_map(|(time, name, user, value, (app, zone), properties)| {
            // As they are stored: without duplicate keys.
            let stored = |text: String| Properties::parse(&text).unwrap().as_str().to_owned();
            let properties = properties.map(stored);
            let tags = [("app", app), ("zone", zone)];
            let tags = tags.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?)));
            let (id, time, tags) = (EventId(0), TimestampMs(time), tags.collect());
            Event { id, name, time, user, value, tags, properties }
        })
}

/// Events, and their distribution over sources.
#[derive(Debug)]
struct Dataset {
    events: Vec<Event>,
    parts: Vec<(Kind, Vec<Event>)>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Plain,
    Indexed,
}

impl Dataset {
    fn sources(&self) -> Sources {
        let source = |(kind, events): &(Kind, Vec<Event>)| -> Box<dyn ClosedSource> {
            match kind {
                Kind::Plain => Box::new(chunk(events)),
                Kind::Indexed => Box::new(Indexed(chunk(events))),
            }
        };
        self.parts.iter().map(source).collect()
    }
}

/// Either the events of each source are spread over all times, or mostly within one part of the
/// times.
fn dataset() -> impl Strategy<Value = Dataset> {
    let events = prop_oneof![
        (proptest::collection::vec(event(30), 0..60), Just(30)),
        (proptest::collection::vec(event(3_000), 0..900), Just(3_000)),
    ];
    let kinds = proptest::collection::vec(select(&[Kind::Plain, Kind::Indexed][..]), 1..6);
    (events, kinds, any::<bool>(), any::<u64>()).prop_map(
        |((mut events, times), kinds, by_time, seed)| {
            let n = kinds.len();
            let mut parts: Vec<(Kind, Vec<Event>)> =
                kinds.into_iter().map(|kind| (kind, Vec::new())).collect();
            let mut random = seed | 1;
            for (number, event) in (0..).zip(&mut events) {
                event.id = EventId(number);
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
                let mut part = (random >> 33) as usize % n;
                if by_time && random >> 60 != 0 {
                    part = event.time.0 as usize * n / times;
                }
                parts[part].1.push(event.clone());
            }
            Dataset { events, parts }
        },
    )
}

fn filter() -> impl Strategy<Value = EventFilter> {
    let range = prop_oneof![
        Just(TimeRange::new(i64::MIN, i64::MAX)),
        Just(TimeRange::new(0, 3_000)),
        (-5..30i64, 1..30i64).prop_map(|(start, len)| TimeRange::new(start, start + len)),
        (0..3_000i64, 1..3_000i64).prop_map(|(start, len)| TimeRange::new(start, start + len)),
    ];
    let name = prop_oneof![
        3 => Just(NameFilter::Any),
        1 => select(&["a", "b.y", "none"][..]).prop_map(|n| NameFilter::Exactly(n.into())),
        1 => select(&["", "a", "b.", "c"][..]).prop_map(|n| NameFilter::Prefix(n.into())),
        2 => (select(&["", "a", "b."][..]), select(&["", "a", "b", "b.y", "c"][..])).prop_map(
            |(prefix, but)| NameFilter::PrefixExcept { prefix: prefix.into(), but: but.into() },
        ),
    ];
    let user = prop_oneof![4 => Just(None), 1 => select(&["u1", "eu", "none"][..]).prop_map(Some)];
    let values = || {
        let value = select(&["", "eu", "us", "shop", "none"][..]).prop_map(str::to_owned);
        proptest::collection::vec(value, 0..3).prop_map(TagValues::from)
    };
    let condition = prop_oneof![
        values().prop_map(TagCondition::AnyOf),
        values().prop_map(TagCondition::NoneOf),
        select(&["", "shop", "e"][..]).prop_map(|p| TagCondition::Prefix(p.into())),
    ];
    let tag = (select(&["zone", "app", "none"][..]), condition)
        .prop_map(|(key, condition)| TagFilter { key: key.into(), condition });
    let tags = prop_oneof![3 => Just(Vec::new()), 2 => proptest::collection::vec(tag, 1..3)];
    (range, name, user, tags).prop_map(|(range, name, user, tags)| EventFilter {
        range,
        name,
        user: user.map(str::to_owned),
        tags,
    })
}

fn strings() -> impl Strategy<Value = Option<EventGroupBy>> {
    prop_oneof![
        Just(None),
        Just(Some(EventGroupBy::Name)),
        Just(Some(EventGroupBy::User)),
        select(&["zone", "app", "none"][..]).prop_map(|key| Some(EventGroupBy::Tag(key.into()))),
    ]
}

/// Up to three distinct grouping keys.
fn groups() -> impl Strategy<Value = Vec<EventGroupBy>> {
    proptest::collection::vec(strings(), 0..4).prop_map(|strings| {
        let mut groups: Vec<EventGroupBy> = Vec::new();
        for text in strings.into_iter().flatten() {
            if !groups.contains(&text) {
                groups.push(text);
            }
        }
        groups
    })
}

fn aggregation() -> impl Strategy<Value = EventQuery> {
    let field = prop_oneof![
        Just(EventField::Value),
        select(vec![vec!["n"], vec!["o", "n"], vec!["none"], vec![]]).prop_map(|path| {
            EventField::Property(path.into_iter().map(str::to_owned).collect())
        }),
    ];
    let aggregations = prop_oneof![
        Just(vec![EventAggregation::Count]),
        Just(AGGREGATIONS.to_vec()),
        proptest::collection::vec(select(&AGGREGATIONS[..]), 1..4),
    ];
    let interval = select(&[None, Some(1), Some(7), Some(500), Some(i64::MAX)][..]);
    (filter(), interval, groups(), field, strings(), aggregations).prop_map(
        |(mut filter, interval, group_by, field, distinct, aggregations)| {
            if interval.is_some() {
                filter.range = filter.range.intersect(TimeRange::new(0, 3_000));
                filter.range.end = filter.range.end.max(TimestampMs(filter.range.start.0 + 1));
            }
            let interval = interval.and_then(Interval::from_ms);
            EventQuery { filter, interval, group_by, field, distinct, aggregations }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn aggregations_equal_those_of_a_plain_list(dataset in dataset(), query in aggregation()) {
        let answer = answer(&dataset.sources(), &query);
        let (all, groups) = oracle::aggregate(&dataset.events, &query);
        prop_assert_eq!(answer.all, all);
        prop_assert_eq!(answer.groups, groups);
        let matched = dataset.events.iter().filter(|e| oracle::matches(e, &query.filter)).count();
        prop_assert_eq!(answer.stats.matched, matched as u64);
        prop_assert_eq!(answer.stats.quarantined, 0);
    }

    #[test]
    fn pages_equal_those_of_a_plain_list(
        dataset in dataset(),
        filter in filter(),
        after in proptest::option::of((prop_oneof![0..30i64, 0..3_000i64], 0..900u128)),
        offset in prop_oneof![Just(0), 0..60u64, 0..900u64, Just(u64::MAX)],
        limit in prop_oneof![Just(0), 0..12usize, Just(1_000), Just(usize::MAX)],
    ) {
        let after = after.map(|(time, id)| (TimestampMs(time), EventId(id)));
        let query = EventListQuery { filter, after, offset, limit };
        let page = page(&dataset.sources(), &query);
        let (total, expected) = oracle::list(&dataset.events, &query);
        prop_assert_eq!(page.total, total);
        prop_assert_eq!(page.events, expected);
    }

    #[test]
    fn paging_with_cursors_lists_every_event_once(
        dataset in dataset(),
        filter in filter(),
        limit in 7..200usize,
    ) {
        let whole = EventListQuery { filter, after: None, offset: 0, limit: usize::MAX };
        let (total, expected) = oracle::list(&dataset.events, &whole);
        let sources = dataset.sources();
        let mut query = EventListQuery { limit, ..whole };
        let mut walked = Vec::new();
        loop {
            let page = page(&sources, &query);
            prop_assert_eq!(page.total, total);
            let Some(last) = page.events.last() else { break };
            query.after = Some((last.time, last.id));
            walked.extend(page.events);
            prop_assert!(walked.len() <= expected.len(), "events are listed twice");
        }
        prop_assert_eq!(walked, expected);
    }
}
