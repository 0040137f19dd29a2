//! What one write of these tests holds, and whether it is there: whole, once, or not at all.

use std::collections::BTreeSet;
use std::sync::mpsc;

use telltale_engine::{
    Aggregation, BatchBuilder, Buckets, Engine, Error, EventAggregation, EventBatch, EventField,
    EventFilter, EventListQuery, EventQuery, Histogram, Interval, MetricName, MetricQuery,
    MetricType, NameFilter, NewEvent, PointBatch, Properties, Receipt, StartTime, TimeRange,
    TimestampMs, Write,
};

use super::{DAY, START};

/// Series of each metric; every batch writes one point to each.
pub(crate) const SERIES: u64 = 5;
/// Events of a batch; the last of them comes late, to the day before.
const EVENTS: u64 = 4;
/// Batches lie this far apart in time, so that windows come to their end while the child runs.
pub(crate) const BATCH_MS: i64 = 1_000;
/// Processes that are read, one by every batch. The batches of each come one after the other, as its readings do.
pub(crate) const PROCESSES: u64 = 3;
/// Values of the histogram of a batch.
const VALUES: u64 = 3;
/// Events of a page when all are read.
const PAGE_EVENTS: usize = 5_000;

/// Writes points, events and a receipt together.
pub(crate) fn write_batch(engine: &Engine, id: u64) -> Result<(), Error> {
    let points = points(engine, id);
    let receipt = Some(Receipt {
        id: u128::from(id),
        fingerprint: id,
        expires_at: TimestampMs(START + 1_000 * DAY),
        answer: b"ok".to_vec(),
    });
    write(engine, Write { points, events: Some(events(engine, id)), receipt })
}

/// Writes and waits.
pub(crate) fn write(engine: &Engine, write: Write) -> Result<(), Error> {
    let (tell, told) = mpsc::sync_channel(1);
    engine.submit(write, move |outcome| tell.send(outcome).unwrap());
    told.recv().unwrap().map(|_| ())
}

fn points(engine: &Engine, id: u64) -> PointBatch {
    let time = TimestampMs(START + id as i64 * BATCH_MS);
    let mut batch = engine.batch();
    for n in 0..SERIES {
        let tag = n.to_string();
        let tags = [("n", tag.as_str())];
        for kind in [MetricType::Gauge, MetricType::Counter, MetricType::Distribution] {
            let series = batch.series(kind.as_str(), kind, &tags).unwrap();
            batch.number(kind, series, time, 1.0);
        }
        let series = batch.series("set", MetricType::Set, &tags).unwrap();
        batch.member(series, time, &format!("{id}-{n}"));
    }
    readings(&mut batch, id, time);
    batch.finish()
}

/// Reads a process that has counted to its batch, and what a histogram got since the one before.
fn readings(batch: &mut BatchBuilder<'_>, id: u64, time: TimestampMs) {
    let tag = (id % PROCESSES).to_string();
    let tags = [("process", tag.as_str())];
    let begins = StartTime::At { start: TimestampMs(START), counts: true };
    let total = id + 1;
    let series = batch.series("read", MetricType::Counter, &tags).unwrap();
    batch.reading(series, time, total as f64, begins);
    let histogram = |count: u64| {
        let counts = vec![count / 2, count - count / 2];
        let buckets = Buckets::Explicit { bounds: vec![1.0], counts };
        Histogram::new(count, Some(count as f64), None, None, buckets).unwrap()
    };
    let series = batch.series("read histogram", MetricType::Distribution, &tags).unwrap();
    batch.histogram_reading(series, time, histogram(total), begins);
    let series = batch.series("histogram", MetricType::Distribution, &tags).unwrap();
    batch.histogram(series, time, &histogram(VALUES));
}

fn events(engine: &Engine, id: u64) -> EventBatch {
    let time = START + id as i64 * BATCH_MS;
    let mut batch = engine.event_batch();
    for n in 0..EVENTS {
        let properties = Properties::parse(&format!("{{\"batch\":{id},\"n\":{n}}}")).unwrap();
        let (user, tag) = (format!("user-{id}"), n.to_string());
        let late = n + 1 == EVENTS;
        let new = NewEvent {
            name: if late { "late" } else { "batch" },
            time: TimestampMs(if late { time - DAY } else { time }),
            user: Some(&user),
            value: Some(id as f64),
            tags: &[("n", &tag)],
            properties: Some(&properties),
        };
        batch.push(&new).unwrap();
    }
    batch
}

/// The number of points, or members, of every batch that has any.
fn stored(engine: &Engine, kind: MetricType, batches: u64) -> Vec<f64> {
    stored_of(engine, kind.as_str(), kind, batches)
}

fn stored_of(engine: &Engine, metric: &str, kind: MetricType, batches: u64) -> Vec<f64> {
    let mut counts = vec![0.0; batches as usize + 1];
    // Cells are minutes, so batches of one minute are told apart by gauges and counters only.
    let (interval, aggregation) = match kind {
        MetricType::Gauge => (Interval::from_ms(BATCH_MS).unwrap(), Aggregation::Max),
        MetricType::Counter => (Interval::from_ms(BATCH_MS).unwrap(), Aggregation::Sum),
        _ => (Interval::DAY, Aggregation::Count),
    };
    let mut from = START;
    let end = START + (batches as i64 + 1) * BATCH_MS;
    while from < end {
        let to = (from + 36_000 * BATCH_MS).min(end);
        let query = MetricQuery {
            metric: MetricName::new(metric).unwrap(),
            range: TimeRange::new(from, to),
            interval,
            aggregations: vec![aggregation],
            filters: vec![],
            group_by: vec![],
        };
        let answer = match engine.query(&query) {
            Ok(answer) => answer,
            Err(Error::Refused(_)) => return counts,
            Err(error) => panic!("{error}"),
        };
        for group in answer.groups {
            for (start, value) in group.starts.iter().zip(&group.columns[0]) {
                counts[((start.0 - START) / BATCH_MS) as usize] += value;
            }
        }
        from = to;
    }
    counts
}

/// How often each event of every batch is there, found by reading all of them.
fn listed(engine: &Engine, batches: u64) -> Vec<[u64; EVENTS as usize]> {
    let mut counts = vec![[0; EVENTS as usize]; batches as usize + 1];
    let (mut ids, mut total) = (BTreeSet::new(), None);
    let mut query = EventListQuery { filter: all(), after: None, offset: 0, limit: PAGE_EVENTS };
    loop {
        let page = engine.list_events(&query).unwrap();
        assert_eq!(*total.get_or_insert(page.total), page.total);
        let Some(last) = page.events.last() else { break };
        query.after = Some((last.time, last.id));
        for event in page.events {
            let text = event.properties.unwrap();
            let properties: serde_json::Value = serde_json::from_str(&text).unwrap();
            let (id, n) = (&properties["batch"].as_u64().unwrap(), &properties["n"]);
            assert_eq!(event.value, Some(*id as f64));
            assert_eq!(event.user, Some(format!("user-{id}")));
            assert_eq!(event.tags, [("n".to_owned(), n.to_string())]);
            counts[*id as usize][n.as_u64().unwrap() as usize] += 1;
            assert!(ids.insert(event.id), "{:?} stands twice", event.id);
        }
    }
    assert_eq!(total, Some(ids.len() as u64));
    counts
}

/// All events.
pub(crate) fn all() -> EventFilter {
    let range = TimeRange::new(0, i64::MAX);
    EventFilter { range, name: NameFilter::Any, user: None, tags: vec![] }
}

/// How many events there are, and blocks that could not be read to count them.
pub(crate) fn counted(engine: &Engine, filter: EventFilter) -> (u64, u64) {
    let query = EventQuery {
        filter,
        interval: None,
        group_by: Vec::new(),
        field: EventField::Value,
        distinct: None,
        aggregations: vec![EventAggregation::Count],
    };
    let answer = engine.query_events(&query).unwrap();
    (answer.all.whole[0].unwrap() as u64, answer.stats.quarantined)
}

/// The batches that are there. None is there in part or twice: not its points, not its events, not its receipt.
pub(crate) fn present(engine: &Engine, last: u64) -> BTreeSet<u64> {
    let counters = stored(engine, MetricType::Counter, last);
    let gauges = stored(engine, MetricType::Gauge, last);
    let events = listed(engine, last);
    let mut batches = BTreeSet::new();
    for id in 0..=last {
        let (sum, max) = (counters[id as usize], gauges[id as usize]);
        assert!(sum == 0.0 || sum == SERIES as f64, "batch {id} is stored in part or twice: {sum}");
        let there = sum > 0.0;
        assert_eq!(there, max == 1.0, "batch {id}: gauge and counter differ");
        let wanted = [u64::from(there); EVENTS as usize];
        assert_eq!(events[id as usize], wanted, "batch {id}: points are there: {there}");
        let receipt = engine.receipt(u128::from(id)).unwrap();
        assert_eq!(receipt.is_some(), there, "batch {id}: receipt and points differ");
        if there {
            batches.insert(id);
        }
    }
    assert_eq!(counted(engine, all()), (batches.len() as u64 * EVENTS, 0));
    check_readings(engine, &batches, last);
    batches
}

/// Each reading added what its process counted since the one before that is there.
fn check_readings(engine: &Engine, batches: &BTreeSet<u64>, last: u64) {
    let increases = stored_of(engine, "read", MetricType::Counter, last);
    let mut totals = [0; PROCESSES as usize];
    for id in 0..=last {
        let total = &mut totals[(id % PROCESSES) as usize];
        let there = batches.contains(&id);
        let wanted = if there { id + 1 - std::mem::replace(total, id + 1) } else { 0 };
        assert_eq!(increases[id as usize], wanted as f64, "increase of batch {id}, there: {there}");
    }
    let count = |metric: &str| -> f64 {
        stored_of(engine, metric, MetricType::Distribution, last).iter().sum()
    };
    assert_eq!(count("read histogram"), totals.iter().sum::<u64>() as f64);
    assert_eq!(count("histogram"), (batches.len() as u64 * VALUES) as f64);
}

/// Of the acknowledged batches everything is there, of the others everything or nothing.
pub(crate) fn check(engine: &Engine, acked: &BTreeSet<u64>, last: u64) {
    let present = present(engine, last);
    let lost: Vec<&u64> = acked.difference(&present).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let wanted = (present.len() as u64 * SERIES) as f64;
    let values: f64 = stored(engine, MetricType::Distribution, last).iter().sum();
    assert_eq!(values, wanted, "values of the distribution");
    let members: f64 = stored(engine, MetricType::Set, last).iter().sum();
    assert!((members - wanted).abs() <= wanted * 0.04, "{members} members instead of {wanted}");
}
