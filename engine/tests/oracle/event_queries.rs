//! Random events and random queries. Users, tags and names share some strings, and filters also
//! name strings that do not occur.

use proptest::prelude::*;
use proptest::sample::select;
use telltale_engine::{
    Event, EventAggregation, EventField, EventFilter, EventGroupBy, EventId, EventListQuery,
    EventQuery, Interval, NameFilter, TagCondition, TagFilter, TagValues, TimeRange, TimestampMs,
};

use super::{DAY, MINUTE};

const NAMES: [&str; 6] = ["login", "order.", "order.paid", "order.seen", "shop", "eu"];
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

/// An event to be written: everything but its time is derived from a seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventSeed {
    pub(crate) seed: u64,
    /// Milliseconds before (or a little after) the current time.
    pub(crate) age: i64,
}

/// A pseudo-random sequence.
struct PseudoRandom(u64);

impl PseudoRandom {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % n
    }

    fn one_of(&mut self, of: &[&str]) -> String {
        of[self.below(of.len() as u64) as usize].to_owned()
    }

    /// A quarter, so that sums are exact in any order.
    fn quarter(&mut self) -> f64 {
        (self.below(4_001) as f64 - 2_000.0) / 4.0
    }
}

impl EventSeed {
    /// Returns the event, without an id.
    pub(crate) fn event(&self, now: i64) -> Event {
        let mut random = PseudoRandom(self.seed);
        let user = match random.below(4) {
            0 => None,
            1 => Some(format!("user-{}", random.below(600))),
            _ => Some(random.one_of(&["eu", "user-1", "user-2"])),
        };
        let mut tags = Vec::new();
        if random.below(2) == 0 {
            tags.push(("app".to_owned(), random.one_of(&["eu", "shop", "shop-2"])));
        }
        if random.below(4) == 0 {
            // If there are enough events, more distinct strings than a block keeps bitmaps for.
            tags.push(("request".to_owned(), format!("r-{}", random.below(2_000))));
        }
        if random.below(5) != 0 {
            tags.push(("zone".to_owned(), random.one_of(&["", "eu", "us"])));
        }
        Event {
            id: EventId(0),
            name: random.one_of(&NAMES),
            time: TimestampMs(now - self.age),
            user,
            value: (random.below(3) != 0).then(|| random.quarter()),
            tags,
            properties: properties(&mut random),
        }
    }
}

/// Returns properties in canonical form.
fn properties(random: &mut PseudoRandom) -> Option<String> {
    let whole = random.below(1_000) as i64 - 500;
    Some(match random.below(9) {
        0 => return None,
        1 => "{}".to_owned(),
        2 => format!(r#"{{"n":{whole}}}"#),
        3 => format!(r#"{{"n":{whole}.25,"page":"/p/{}"}}"#, random.below(40)),
        4 => format!(r#"{{"n":"{whole}","o":{{"n":{whole}}}}}"#),
        5 => format!(r#"{{"o":{{"n":{whole},"n.m":true}},"n":{whole}.5}}"#),
        6 => format!(r#"{{"n":{{"n":{whole}}},"o":5,"ä":null}}"#),
        7 => format!(r#"{{"n":{whole},"o":[{{"n":1}}]}}"#),
        // A nearly unique shape.
        _ => format!(r#"{{"k{}":{{"n":{whole}}},"n":{whole}}}"#, random.below(1_000)),
    })
}

pub(crate) fn event_seeds(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<EventSeed>> {
    let ages = prop_oneof![
        6 => 0..10 * MINUTE,
        2 => 0..4 * 60 * MINUTE,
        1 => 0..3 * DAY,
        1 => -DAY..0i64,
        // Equal times.
        2 => (0i64..30).prop_map(|m| m * MINUTE),
    ];
    let sample = (any::<u64>(), ages).prop_map(|(seed, age)| EventSeed { seed, age });
    prop::collection::vec(sample, count)
}

/// A time range relative to the time of the query.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Span {
    Ever,
    Near { from_age: i64, length: i64 },
}

impl Span {
    fn range(self, now: i64) -> TimeRange {
        match self {
            Self::Ever => TimeRange::new(i64::MIN, i64::MAX),
            Self::Near { from_age, length } => {
                TimeRange::new(now - from_age - length, now - from_age)
            }
        }
    }
}

/// A query with a time range relative to the time when it runs.
#[derive(Clone, Debug)]
pub(crate) enum QueryCase {
    Page { span: Span, after_age: Option<i64>, query: EventListQuery },
    Walk { span: Span, query: EventListQuery },
    Aggregate { span: Span, query: EventQuery },
}

impl QueryCase {
    /// Returns the query as it runs at `now`.
    pub(crate) fn at(&self, now: i64) -> Self {
        let mut case = self.clone();
        match &mut case {
            Self::Page { span, after_age, query } => {
                query.filter.range = span.range(now);
                query.after = after_age.map(|age| {
                    (TimestampMs(now - age), EventId::new(TimestampMs(now), age.unsigned_abs()))
                });
            }
            Self::Walk { span, query } => query.filter.range = span.range(now),
            Self::Aggregate { span, query } => query.filter.range = span.range(now),
        }
        case
    }

    /// Returns the filter of the query.
    pub(crate) fn filter(&self) -> &EventFilter {
        match self {
            Self::Page { query, .. } | Self::Walk { query, .. } => &query.filter,
            Self::Aggregate { query, .. } => &query.filter,
        }
    }
}

fn spans() -> impl Strategy<Value = Span> {
    // Most events are some minutes old.
    let ends = prop_oneof![3 => -MINUTE..10 * MINUTE, 1 => -DAY..2 * DAY];
    let lengths = prop_oneof![1 => 1..30 * MINUTE, 2 => 1..3 * DAY, 2 => Just(5 * DAY)];
    (ends, lengths).prop_map(|(from_age, length)| Span::Near { from_age, length })
}

fn filters() -> impl Strategy<Value = EventFilter> {
    let name = prop_oneof![
        8 => Just(NameFilter::Any),
        1 => select(vec!["login", "order.", "none"]).prop_map(|n| NameFilter::Exactly(n.into())),
        2 => select(vec!["", "order.", "order.", "e", "z"]).prop_map(|n| NameFilter::Prefix(n.into())),
    ];
    let user = prop_oneof![
        6 => Just(None),
        1 => select(vec!["user-1", "user-1", "eu", "none"]).prop_map(Some),
    ];
    let values = || {
        let value = select(vec!["", "eu", "us", "shop", "r-7", "none"]).prop_map(str::to_owned);
        prop::collection::vec(value, 0..4).prop_map(TagValues::from)
    };
    let condition = prop_oneof![
        values().prop_map(TagCondition::AnyOf),
        values().prop_map(TagCondition::NoneOf),
        select(vec!["", "shop", "e", "r-1"]).prop_map(|p| TagCondition::Prefix(p.into())),
    ];
    let tag = (select(vec!["zone", "zone", "app", "app", "request", "none"]), condition)
        .prop_map(|(key, condition)| TagFilter { key: key.into(), condition });
    let tags = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(tag, 1..3)];
    (name, user, tags).prop_map(|(name, user, tags)| EventFilter {
        range: TimeRange::new(0, 0),
        name,
        user: user.map(str::to_owned),
        tags,
    })
}

fn page_cases() -> impl Strategy<Value = QueryCase> {
    let spans = prop_oneof![Just(Span::Ever), spans()];
    let after = prop::option::of(prop_oneof![0..10 * MINUTE, 0..2 * DAY]);
    let offset = prop_oneof![3 => Just(0), 2 => 0..60u64, 1 => 0..900u64, 1 => Just(u64::MAX)];
    let limit = prop_oneof![Just(0), 1..12usize, Just(100), Just(usize::MAX)];
    (spans, after, filters(), offset, limit).prop_map(|(span, after_age, filter, offset, limit)| {
        let query = EventListQuery { filter, after: None, offset, limit };
        QueryCase::Page { span, after_age, query }
    })
}

fn walk_cases() -> impl Strategy<Value = QueryCase> {
    let spans = prop_oneof![Just(Span::Ever), spans()];
    (spans, filters(), 1..20usize).prop_map(|(span, filter, parts)| {
        // Here `limit` is the number of pages; the caller knows how many events there are.
        let query = EventListQuery { filter, after: None, offset: 0, limit: parts };
        QueryCase::Walk { span, query }
    })
}

fn grouping_keys() -> impl Strategy<Value = Option<EventGroupBy>> {
    prop_oneof![
        Just(None),
        Just(Some(EventGroupBy::Name)),
        Just(Some(EventGroupBy::User)),
        select(vec!["zone", "app", "request", "none"])
            .prop_map(|key| Some(EventGroupBy::Tag(key.into()))),
    ]
}

/// Up to three distinct grouping keys.
fn groups() -> impl Strategy<Value = Vec<EventGroupBy>> {
    prop::collection::vec(grouping_keys(), 0..4).prop_map(|grouping_keys| {
        let mut groups: Vec<EventGroupBy> = Vec::new();
        for key in grouping_keys.into_iter().flatten() {
            if !groups.contains(&key) {
                groups.push(key);
            }
        }
        groups
    })
}

fn aggregation_cases() -> impl Strategy<Value = QueryCase> {
    let field = prop_oneof![
        Just(EventField::Value),
        select(vec![vec!["n"], vec!["o", "n"], vec!["o", "n.m"], vec!["none"], vec![]])
            .prop_map(|path| EventField::Property(path.into_iter().map(str::to_owned).collect())),
    ];
    let aggregations = prop_oneof![
        Just(vec![EventAggregation::Count]),
        Just(AGGREGATIONS.to_vec()),
        prop::collection::vec(select(AGGREGATIONS.to_vec()), 1..4),
    ];
    let intervals = vec![MINUTE, 5 * MINUTE, 60 * MINUTE, DAY, 7 * MINUTE, 90_000];
    let time = prop_oneof![
        Just((Span::Ever, None)),
        spans().prop_map(|span| (span, None)),
        (spans(), select(intervals)).prop_map(|(span, ms)| (span, Interval::from_ms(ms))),
    ];
    (time, filters(), groups(), field, grouping_keys(), aggregations).prop_map(
        |((span, interval), filter, group_by, field, distinct, aggregations)| {
            let query = EventQuery { filter, interval, group_by, field, distinct, aggregations };
            QueryCase::Aggregate { span, query }
        },
    )
}

pub(crate) fn query_cases() -> impl Strategy<Value = QueryCase> {
    prop_oneof![3 => page_cases(), 1 => walk_cases(), 4 => aggregation_cases()]
}
