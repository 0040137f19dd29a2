//! The contents of one write of these tests, and checks that each write is stored whole and once,
//! or not at all.

use std::collections::BTreeSet;
use std::sync::mpsc;

use telltale_engine::{
    Aggregation, BatchBuilder, Buckets, Engine, Error, EventAggregation, EventBatch, EventField,
    EventFilter, EventListQuery, EventQuery, Histogram, Interval, MetricName, MetricQuery,
    MetricType, NameFilter, NewEvent, PointBatch, Properties, Receipt, StartTime, TimeRange,
    TimestampMs, Write,
};

use super::{DAY, START};

/// Series of each metric; every batch writes one sample to each.
pub(crate) const SERIES: u64 = 5;
/// Events of a batch; the last of them arrives late, with a time on the day before.
const EVENTS: u64 = 4;
/// The distance of two batches in time, so that windows end while the child runs.
pub(crate) const BATCH_MS: i64 = 1_000;
/// Processes that send cumulative samples; every batch contains those of one process, in the order
/// of batches.
pub(crate) const PROCESSES: u64 = 3;
/// Values of the histogram of a batch.
const VALUES: u64 = 3;
/// Events per page when all are listed.
const PAGE_EVENTS: usize = 5_000;

/// Writes samples, events and a receipt together.
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

/// Submits a write and waits for its outcome.
pub(crate) fn write(engine: &Engine, write: Write) -> Result<(), Error> {
    let (sender, receiver) = mpsc::sync_channel(1);
    engine.submit(write, move |outcome| sender.send(outcome).unwrap());
    receiver.recv().unwrap().map(|_| ())
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
    add_cumulative_samples(&mut batch, id, time);
    batch.finish()
}

/// Adds cumulative samples of the process of a batch, and a histogram of the values since the batch
/// before.
fn add_cumulative_samples(batch: &mut BatchBuilder<'_>, id: u64, time: TimestampMs) {
    let tag = (id % PROCESSES).to_string();
    let tags = [("process", tag.as_str())];
    let start_time = StartTime::At { start: TimestampMs(START), counts: true };
    let total = id + 1;
    let series = batch.series("read", MetricType::Counter, &tags).unwrap();
    batch.reading(series, time, total as f64, start_time);
    let histogram = |count: u64| {
        let counts = vec![count / 2, count - count / 2];
        let buckets = Buckets::Explicit { bounds: vec![1.0], counts };
        Histogram::new(count, Some(count as f64), None, None, buckets).unwrap()
    };
    let series = batch.series("read histogram", MetricType::Distribution, &tags).unwrap();
    batch.cumulative_histogram(series, time, histogram(total), start_time);
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

/// Returns the number of samples, or members, of every batch.
fn stored(engine: &Engine, kind: MetricType, batches: u64) -> Vec<f64> {
    stored_of(engine, kind.as_str(), kind, batches)
}

fn stored_of(engine: &Engine, metric: &str, kind: MetricType, batches: u64) -> Vec<f64> {
    let mut counts = vec![0.0; batches as usize + 1];
    // Cells are minutes, so only gauges and counters distinguish batches of the same minute.
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

/// Returns how often each event of every batch is stored, by listing all events.
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
            assert!(ids.insert(event.id), "{:?} is listed twice", event.id);
        }
    }
    assert_eq!(total, Some(ids.len() as u64));
    counts
}

/// Returns a filter that matches all events.
pub(crate) fn all() -> EventFilter {
    let range = TimeRange::new(0, i64::MAX);
    EventFilter { range, name: NameFilter::Any, user: None, tags: vec![] }
}

/// Returns the number of matching events, and of blocks that could not be read to count them.
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

/// Returns the batches that are stored. Fails if the samples, events or receipt of a batch are
/// stored in part or twice.
pub(crate) fn present(engine: &Engine, last: u64) -> BTreeSet<u64> {
    let counters = stored(engine, MetricType::Counter, last);
    let gauges = stored(engine, MetricType::Gauge, last);
    let events = listed(engine, last);
    let mut batches = BTreeSet::new();
    for id in 0..=last {
        let (sum, max) = (counters[id as usize], gauges[id as usize]);
        assert!(sum == 0.0 || sum == SERIES as f64, "batch {id} is stored in part or twice: {sum}");
        let exists = sum > 0.0;
        assert_eq!(exists, max == 1.0, "batch {id}: gauge and counter differ");
        let wanted = [u64::from(exists); EVENTS as usize];
        assert_eq!(events[id as usize], wanted, "batch {id}: samples are stored: {exists}");
        let receipt = engine.receipt(u128::from(id)).unwrap();
        assert_eq!(receipt.is_some(), exists, "batch {id}: receipt and samples differ");
        if exists {
            batches.insert(id);
        }
    }
    assert_eq!(counted(engine, all()), (batches.len() as u64 * EVENTS, 0));
    check_deltas(engine, &batches, last);
    batches
}

/// Checks that the increase of each cumulative sample is the difference to the stored one before
/// it.
fn check_deltas(engine: &Engine, batches: &BTreeSet<u64>, last: u64) {
    let increases = stored_of(engine, "read", MetricType::Counter, last);
    let mut totals = [0; PROCESSES as usize];
    for id in 0..=last {
        let total = &mut totals[(id % PROCESSES) as usize];
        let exists = batches.contains(&id);
        let wanted = if exists { id + 1 - std::mem::replace(total, id + 1) } else { 0 };
        assert_eq!(
            increases[id as usize], wanted as f64,
            "increase of batch {id}, stored: {exists}"
        );
    }
    let count = |metric: &str| -> f64 {
        stored_of(engine, metric, MetricType::Distribution, last).iter().sum()
    };
    assert_eq!(count("read histogram"), totals.iter().sum::<u64>() as f64);
    assert_eq!(count("histogram"), (batches.len() as u64 * VALUES) as f64);
}

/// Checks that acknowledged batches are stored whole, and the others whole or not at all.
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
