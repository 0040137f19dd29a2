//! Events through the engine's public API: written, sealed, compacted, restarted and expired, with
//! unchanged query results.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use std::path::Path;

use telltale_engine::{
    Aggregation, Clock, Engine, EventAggregation, EventField, EventFilter, EventGroupBy, EventId,
    EventListQuery, EventPage, EventQuery, Interval, Maintenance, MemoryOwner, MetricName,
    MetricQuery, MetricType, NameFilter, NewEvent, Options, Properties, TimeRange, TimestampMs,
    Write,
};

const DAY: i64 = 86_400_000;
const NOW: TimestampMs = TimestampMs(20_000 * DAY + DAY / 2);

fn open(dir: &Path, clock: &Clock) -> Engine {
    let options =
        Options { maintenance: Maintenance::Manual, clock: clock.clone(), ..Options::default() };
    Engine::open(dir, options).unwrap()
}

fn write(engine: &Engine, write: Write) {
    let (sender, receiver) = std::sync::mpsc::channel();
    engine.submit(write, move |outcome| sender.send(outcome).unwrap());
    receiver.recv().unwrap().unwrap();
}

/// Writes `count` events from `first` on, one second apart. Returns their ids.
fn fill(engine: &Engine, first: TimestampMs, count: i64) -> Vec<EventId> {
    let mut batch = engine.event_batch();
    let mut ids = Vec::new();
    for i in 0..count {
        let properties =
            Properties::parse(&format!("{{\"n\":{i},\"odd\":{}}}", i % 2 == 1)).unwrap();
        let user = format!("user-{}", i % 7);
        let new = NewEvent {
            name: if i % 3 == 0 { "order.paid" } else { "order.seen" },
            time: TimestampMs(first.0 + i * 1_000),
            user: Some(&user),
            value: (i % 2 == 0).then_some(i as f64 / 4.0),
            tags: &[("zone", if i % 5 == 0 { "eu" } else { "us" })],
            properties: Some(&properties),
        };
        ids.push(batch.push(&new).unwrap());
    }
    write(engine, Write { events: Some(batch), ..Write::default() });
    ids
}

fn all() -> EventFilter {
    EventFilter {
        range: TimeRange::new(0, i64::MAX),
        name: NameFilter::Any,
        user: None,
        tags: vec![],
    }
}

fn list(engine: &Engine, offset: u64, limit: usize) -> EventPage {
    engine.list_events(&EventListQuery { filter: all(), after: None, offset, limit }).unwrap()
}

fn by_zone(engine: &Engine) -> Vec<(String, Option<f64>, Option<f64>)> {
    let query = EventQuery {
        filter: EventFilter { name: NameFilter::Prefix("order.".into()), ..all() },
        interval: None,
        group_by: vec![EventGroupBy::Tag("zone".into())],
        field: EventField::Property(vec!["n".into()]),
        distinct: None,
        aggregations: vec![EventAggregation::Count, EventAggregation::Sum],
    };
    let answer = engine.query_events(&query).unwrap();
    answer
        .groups
        .into_iter()
        .map(|(key, group)| (key.concat(), group.whole[0], group.whole[1]))
        .collect()
}

#[test]
fn query_results_stay_the_same_through_seal_compaction_and_restart() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOW);
    let engine = open(dir.path(), &clock);
    let mut ids = fill(&engine, TimestampMs(NOW.0 - DAY), 1_000);
    let expected = (list(&engine, 10, 50), by_zone(&engine));
    assert_eq!(expected.0.total, 1_000);
    assert_eq!(expected.0.events[0].id, ids[989]);
    assert_eq!(expected.0.events[0].properties.as_deref(), Some(r#"{"n":989,"odd":true}"#));
    let same = |engine: &Engine, step: &str| {
        let got = (list(engine, 10, 50), by_zone(engine));
        assert_eq!((&got.0.events, got.0.total), (&expected.0.events, expected.0.total), "{step}");
        assert_eq!(got.1, expected.1, "{step}");
    };
    let sealed = engine.seal().unwrap();
    assert_eq!((sealed.events, sealed.points), (1_000, 0));
    same(&engine, "sealed");
    drop(engine);
    let engine = open(dir.path(), &clock);
    same(&engine, "restarted");
    let later = fill(&engine, TimestampMs(NOW.0 - 2 * DAY), 3);
    assert!(later[0] > ids[999], "numbers continue after a restart");
    drop(engine);
    let engine = open(dir.path(), &clock);
    same_but_three_more(&engine, &expected.0);
    engine.seal().unwrap();
    fill(&engine, TimestampMs(NOW.0 - 2 * DAY + 10), 3);
    engine.seal().unwrap();
    let before = engine.stats();
    engine.merge().unwrap();
    let after = engine.stats();
    assert!(after.event_blocks < before.event_blocks, "{before:?} {after:?}");
    assert_eq!(after.events_stored, 1_006);
    assert_eq!(list(&engine, 10, 50).events, expected.0.events);
    assert_eq!(engine.verify().unwrap().damaged, Vec::<String>::new());
    ids.extend(later);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 1_003, "no id is assigned twice");
}

#[test]
fn query_results_are_accounted_as_memory_until_they_are_dropped() {
    const GROUPS: u64 = 7;
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), &Clock::manual(NOW));
    fill(&engine, TimestampMs(NOW.0 - DAY), 1_000);
    let mut points = engine.batch();
    let series = points.series("cpu", MetricType::Gauge, &[]).unwrap();
    points.number(MetricType::Gauge, series, NOW, 1.0);
    engine.write(points.finish()).unwrap();
    let memory = engine.memory();
    let held = || memory.held_by(MemoryOwner::Queries);
    assert_eq!(held(), 0);
    let page = list(&engine, 0, 100);
    let of_events = page.memory.bytes();
    assert_eq!(of_events, held());
    assert!(of_events > 100 * 50, "{of_events} bytes for 100 events");
    let day = TimeRange::new(NOW.0 - DAY, NOW.0);
    let query = EventQuery {
        filter: EventFilter { range: day, ..all() },
        interval: Some(Interval::HOUR),
        group_by: vec![EventGroupBy::User],
        field: EventField::Value,
        distinct: None,
        aggregations: vec![EventAggregation::Count],
    };
    let answer = engine.query_events(&query).unwrap();
    assert_eq!(answer.groups.len() as u64, GROUPS);
    assert!(answer.memory.bytes() > GROUPS * 100, "{} bytes", answer.memory.bytes());
    let query = MetricQuery {
        metric: MetricName::new("cpu").unwrap(),
        range: TimeRange::new(NOW.0 - DAY, NOW.0 + DAY),
        interval: Interval::HOUR,
        aggregations: vec![Aggregation::Avg],
        filters: vec![],
        group_by: vec![],
    };
    let result = engine.query(&query).unwrap();
    assert!(result.memory.bytes() > 0);
    assert_eq!(held(), of_events + answer.memory.bytes() + result.memory.bytes());
    assert_eq!(page.clone().memory.bytes(), 0, "a clone is not accounted");
    drop((page, answer, result));
    assert_eq!(held(), 0);
}

fn same_but_three_more(engine: &Engine, expected: &EventPage) {
    let got = list(engine, 10, 50);
    assert_eq!((got.total, &got.events), (expected.total + 3, &expected.events));
}

#[test]
fn samples_and_events_of_one_write_are_recovered_together() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOW);
    let engine = open(dir.path(), &clock);
    let mut points = engine.batch();
    let series = points.series("cpu", MetricType::Gauge, &[]).unwrap();
    points.number(MetricType::Gauge, series, NOW, 1.0);
    let points = points.finish();
    let mut events = engine.event_batch();
    let new =
        NewEvent { name: "a", time: NOW, user: None, value: None, tags: &[], properties: None };
    events.push(&new).unwrap();
    write(&engine, Write { points, events: Some(events), receipt: None });
    drop(engine);
    let engine = open(dir.path(), &clock);
    assert_eq!(engine.metric("cpu").unwrap().unwrap().data_points, 1);
    assert_eq!(list(&engine, 0, 9).total, 1);
}

#[test]
fn a_taken_number_is_between_those_of_earlier_and_later_events() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOW);
    let engine = open(dir.path(), &clock);
    let before = fill(&engine, NOW, 3);
    let taken = engine.take_event_number();
    assert!(before.iter().all(|id| id.number() < taken));
    assert!(engine.take_event_number() > taken);
    assert!(fill(&engine, NOW, 1).iter().all(|id| id.number() > taken));

    let last = engine.take_event_number();
    drop(engine);
    let engine = open(dir.path(), &clock);
    let again = engine.take_event_number();
    assert!((taken + 1..=last).contains(&again), "event numbers are never reused");
    engine.skip_event_numbers(last + 1_000);
    assert_eq!(engine.take_event_number(), last + 1_001);
    engine.skip_event_numbers(last);
    assert!(fill(&engine, NOW, 1).iter().all(|id| id.number() == last + 1_002));
}

#[test]
fn old_days_expire_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOW);
    let engine = open(dir.path(), &clock);
    fill(&engine, TimestampMs(NOW.0 - DAY / 4), 10);
    engine.seal().unwrap();
    clock.set(TimestampMs(NOW.0 + 29 * DAY));
    fill(&engine, TimestampMs(NOW.0 + 29 * DAY), 10);
    engine.seal().unwrap();
    assert_eq!(engine.expire().unwrap().blocks, 0);
    clock.set(TimestampMs(NOW.0 + 31 * DAY));
    assert_eq!(engine.expire().unwrap().blocks, 1);
    assert_eq!(list(&engine, 0, 100).total, 10);
    assert_eq!(engine.verify().unwrap().damaged, Vec::<String>::new());
}

#[test]
fn buckets_are_aligned_and_users_are_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), &Clock::manual(NOW));
    fill(&engine, TimestampMs(NOW.0 - 90_000), 120);
    let query = EventQuery {
        filter: EventFilter { range: TimeRange::new(NOW.0 - DAY, NOW.0 + DAY), ..all() },
        interval: Some(Interval::MINUTE),
        group_by: Vec::new(),
        field: EventField::Value,
        distinct: None,
        aggregations: vec![EventAggregation::Count, EventAggregation::UniqueUsers],
    };
    for _ in 0..2 {
        let all = engine.query_events(&query).unwrap().all;
        assert_eq!(all.whole, [Some(120.0), Some(7.0)]);
        let starts: Vec<i64> = all.starts.iter().map(|t| t.0 - NOW.0).collect();
        assert_eq!(starts, [-120_000, -60_000, 0]);
        assert_eq!(all.columns[0], [Some(30.0), Some(60.0), Some(30.0)]);
        engine.seal().unwrap();
    }
}
