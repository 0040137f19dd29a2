//! A repeated write counts once, whatever the log contains of it.

use std::path::Path;
use std::sync::mpsc;

use crate::clock::Clock;
use crate::documents::Receipt;
use crate::engine::{Engine, Write};
use crate::error::{Error, Refusal, Result};
use crate::limits::RECEIPT_KEPT_MS_MIN;
use crate::log::testing::{copies_of, failing};
use crate::log::{FileOps, Record};
use crate::model::{
    Aggregation, EventFilter, EventId, EventListQuery, EventRows, Interval, Lsn, MetricQuery,
    MetricType, NameFilter, NewEvent, TimeRange, TimestampMs,
};
use crate::options::{Maintenance, Options};
use crate::storage::{Batch, KeyOf, Keyspace, Sync, keyspaces};

const NOW: TimestampMs = TimestampMs(1_700_000_000_000);

fn open(dir: &Path, ops: FileOps) -> (Engine, Clock) {
    let clock = Clock::manual(NOW);
    let options = Options {
        clock: clock.clone(),
        disk_free_bytes: 0,
        maintenance: Maintenance::Manual,
        ..Options::default()
    };
    (Engine::open_on(dir, options, ops).unwrap(), clock)
}

fn receipt(id: u128, fingerprint: u64, issued: TimestampMs) -> Option<Receipt> {
    let expires_at = TimestampMs(issued.0 + RECEIPT_KEPT_MS_MIN);
    Some(Receipt { id, fingerprint, answer: b"done".to_vec(), expires_at })
}

/// Adds 1 to a counter series and writes an event. Returns the id of the event.
fn write(engine: &Engine, series: &str, receipt: Option<Receipt>) -> Result<EventId> {
    let mut points = engine.batch();
    let id = points.series("count", MetricType::Counter, &[("of", series)]).unwrap();
    points.number(MetricType::Counter, id, NOW, 1.0);
    let mut events = engine.event_batch();
    let event =
        NewEvent { name: series, time: NOW, user: None, value: None, tags: &[], properties: None };
    let event = events.push(&event).unwrap();
    let (done, outcome) = mpsc::sync_channel(1);
    let write = Write { points: points.finish(), events: Some(events), receipt };
    engine.submit(write, move |outcome| done.send(outcome).unwrap());
    outcome.recv().unwrap().map(|_| event)
}

/// Returns the sum of each series and the ids of the events, newest first.
fn stored(engine: &Engine) -> (Vec<(String, f64)>, Vec<EventId>) {
    let range = TimeRange::new(NOW.0 - NOW.0 % 60_000, NOW.0 + 60_000);
    let query = MetricQuery::of_all("count", range, Interval::HOUR, &[Aggregation::Sum]).by("of");
    let groups = engine.query(&query).unwrap().groups;
    let counted = groups.into_iter().map(|group| {
        let of = group.key.concat();
        (of, group.columns[0].iter().sum())
    });
    let filter = EventFilter { range, name: NameFilter::Any, user: None, tags: vec![] };
    let query = EventListQuery { filter, after: None, offset: 0, limit: 100 };
    let events = engine.list_events(&query).unwrap().events;
    (counted.collect(), events.into_iter().map(|event| event.id).collect())
}

fn counts(counts: &[(&str, f64)]) -> Vec<(String, f64)> {
    counts.iter().map(|(of, count)| ((*of).to_owned(), *count)).collect()
}

#[test]
fn a_write_that_could_be_neither_synced_nor_undone_counts_once_when_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let (ops, faults) = failing();
    let (engine, _) = open(dir.path(), ops);
    let before = write(&engine, "before", None).unwrap();
    // A new series, with a receipt and without one.
    let mut acknowledged = vec![before];
    for receipt in [receipt(7, 1, NOW), None] {
        faults.fail_syncs(1);
        faults.fail_cuts(1);
        assert!(matches!(write(&engine, "x", receipt.clone()), Err(Error::Unavailable(_))));
        acknowledged.push(write(&engine, "x", receipt).unwrap());
    }
    acknowledged.push(write(&engine, "after", None).unwrap());
    acknowledged.reverse();
    let expected = (counts(&[("after", 1.0), ("before", 1.0), ("x", 2.0)]), acknowledged);
    assert_eq!(stored(&engine), expected);
    drop(engine);
    for _ in 0..2 {
        let (engine, _) = open(dir.path(), FileOps::system());
        assert_eq!(stored(&engine), expected);
        assert_eq!(engine.damage(), [""; 0]);
        assert_eq!(engine.verify().unwrap().damaged, [""; 0]);
        assert!(engine.receipt(7).unwrap().is_some());
        engine.seal().unwrap();
        assert_eq!(stored(&engine), expected);
    }
}

#[test]
fn a_receipt_can_be_claimed_once_before_and_after_its_seal() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, clock) = open(dir.path(), FileOps::system());
    write(&engine, "x", receipt(7, 1, NOW)).unwrap();
    for _ in 0..2 {
        for fingerprint in [1, 2] {
            let again = write(&engine, "x", receipt(7, fingerprint, clock.now()));
            assert!(matches!(again, Err(Error::Refused(Refusal::Conflict))), "{again:?}");
        }
        engine.seal().unwrap();
    }
    assert_eq!(stored(&engine).0, counts(&[("x", 1.0)]));
    // The id can be reused once the receipt has expired and then counts, after a replay too.
    clock.set(TimestampMs(NOW.0 + RECEIPT_KEPT_MS_MIN));
    write(&engine, "x", receipt(7, 1, clock.now())).unwrap();
    clock.set(TimestampMs(NOW.0 + 2 * RECEIPT_KEPT_MS_MIN));
    write(&engine, "x", receipt(7, 1, clock.now())).unwrap();
    assert_eq!(stored(&engine).0, counts(&[("x", 3.0)]));
    drop(engine);
    let (engine, _) = open(dir.path(), FileOps::system());
    assert_eq!(stored(&engine).0, counts(&[("x", 3.0)]));
}

#[test]
fn a_replay_applies_a_duplicate_record_once() {
    for is_sealed_between in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (engine, _) = open(dir.path(), FileOps::system());
        let event = write(&engine, "x", receipt(7, 1, NOW)).unwrap();
        write(&engine, "other", receipt(8, 1, NOW)).unwrap();
        let copies = copies_of(&engine.inner().segments);
        if is_sealed_between {
            engine.seal().unwrap();
        }
        drop(engine);
        copies.write();
        let (engine, _) = open(dir.path(), FileOps::system());
        let (counted, events) = stored(&engine);
        assert_eq!(counted, counts(&[("other", 1.0), ("x", 1.0)]), "{is_sealed_between}");
        assert_eq!((events.len(), events.last()), (2, Some(&event)));
    }
}

#[test]
fn a_replayed_write_whose_earlier_receipt_is_corrupt_is_applied_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = open(dir.path(), FileOps::system());
    let event = write(&engine, "a", receipt(7, 1, NOW)).unwrap();
    engine.seal().unwrap();
    let telemetry = &engine.inner().telemetry;
    let replayed = |number| {
        let mut events = EventRows::default();
        let (name, tags) = ("a", &[][..]);
        let new = NewEvent { name, time: NOW, user: None, value: None, tags, properties: None };
        events.push(EventId::new(NOW, number), &new);
        let record = Record { events, receipt: receipt(7, 1, NOW), ..Record::default() };
        let mut damaged = Vec::new();
        telemetry.replay(Lsn(9), record, &mut damaged).unwrap();
        damaged
    };
    assert_eq!(replayed(50), [""; 0]);
    assert_eq!(stored(&engine).1, [event], "the write is repeated");
    let mut harm = Batch::new();
    let key = KeyOf::<keyspaces::Receipts>::encoded(&Receipt::key(7)).as_ref().to_vec();
    harm.put(Keyspace::Receipts, &key, vec![1]);
    telemetry.store().write(harm, Sync::Yes).unwrap();
    let damaged = replayed(51);
    assert!(
        damaged.iter().all(|line| line.contains("log record 9 has the same id")),
        "{damaged:?}"
    );
    assert_eq!((damaged.len(), stored(&engine).1.len()), (1, 2));
}
