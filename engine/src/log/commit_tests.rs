//! Tests of groups, receipts, failures and panics of the committing thread, with a recording sink.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use super::*;
use crate::documents::Receipt;
use crate::error::Refusal;
use crate::log::read::testing::{scan_file, with_bounds};
use crate::log::record::{Record, encode_dropped, encode_write};
use crate::log::sink::{Admission, Applied, Written};
use crate::log::write_queue::Queued;
use crate::log::write_response::WriteResponse;
use crate::log::writer::testing::failing;
use crate::model::{MetricId, TimestampMs};

/// Records the metrics whose records it was given, and the failures.
#[derive(Clone, Default)]
struct Recorder {
    applied: Arc<Mutex<Vec<u32>>>,
    failed: Arc<Mutex<Vec<String>>>,
    doubts: Arc<Mutex<u32>>,
    died: Arc<Mutex<Vec<String>>>,
    is_full: Arc<AtomicBool>,
    unlogged_bytes: Arc<AtomicUsize>,
    /// The thread of the panic.
    panicked: Arc<Mutex<Option<std::thread::ThreadId>>>,
}

/// The metric at whose record the sink panics.
const POISON: u32 = u32::MAX;

impl Sink for Recorder {
    fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }
    fn unlogged_bytes(&self) -> usize {
        self.unlogged_bytes.load(Ordering::Relaxed)
    }
    fn claim(&mut self, _: &Receipt) -> Result<()> {
        Ok(())
    }
    fn admit(&mut self) -> Result<Admission> {
        Ok(Admission::Go)
    }
    fn rotated(&mut self, _: Lsn) {}
    fn take_definitions(&mut self) -> Definitions {
        Definitions::default()
    }
    fn logged(&mut self, _: &Definitions) {}
    fn not_logged(&mut self, _: Definitions) {}
    fn apply(&mut self, applied: Applied) {
        if let Applied::Dropped(metric) = applied {
            assert_ne!(metric.0, POISON, "the head is broken");
            self.applied.lock().push(metric.0);
        }
    }
    fn failed(&mut self, error: &Error) {
        self.failed.lock().push(error.to_string());
    }
    fn durability_in_doubt(&mut self) {
        *self.doubts.lock() += 1;
    }
    fn died(&mut self, reason: &str) {
        self.died.lock().push(reason.to_owned());
        *self.panicked.lock() = Some(std::thread::current().id());
    }
}

/// Returns the contents of the segments: for each, its records and their metrics.
fn logged(segments: &Segments) -> Vec<Vec<(Lsn, u32)>> {
    let mut logged = Vec::new();
    for (path, bounds) in with_bounds(segments) {
        let mut records = Vec::new();
        scan_file(&path, bounds, |lsn, payload| {
            records.push((lsn, Record::decode(payload)?.dropped[0].0));
            Ok(())
        })
        .unwrap();
        logged.push(records);
    }
    logged
}

fn run(durability: Durability) {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let sink = Recorder::default();
    let committer = Committer::start(
        segments.clone(),
        (Lsn(1), Definitions::default()),
        durability,
        sink.clone(),
        FileOps::system(),
    )
    .unwrap();
    let (response, responses) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (response, committer) = (response.clone(), &committer);
            scope.spawn(move || {
                for i in 0..50 {
                    let metric = MetricId(thread * 50 + i);
                    let response = response.clone();
                    committer.submit(Submission {
                        payload: encode_dropped(metric),
                        synced: false,
                        may_block: false,
                        applied: Applied::Dropped(metric),
                        done: Box::new(move |lsn| response.send((lsn.unwrap(), metric.0)).unwrap()),
                    });
                }
            });
        }
    });
    let (rotated, boundary) = std::sync::mpsc::channel();
    committer.rotate(move |lsn| rotated.send(lsn.unwrap()).unwrap());
    assert_eq!(boundary.recv().unwrap(), Lsn(200));
    committer.stop();
    drop(response);
    let mut acknowledged: Vec<(Lsn, u32)> = responses.iter().collect();
    acknowledged.sort_unstable();
    let logged = logged(&segments).concat();
    assert_eq!(logged, acknowledged);
    assert_eq!(*sink.applied.lock(), logged.iter().map(|(_, m)| *m).collect::<Vec<_>>());
    assert!(sink.failed.lock().is_empty());
}

/// Writes a record and waits for the response.
fn write(committer: &Committer, metric: u32) -> Result<Lsn> {
    submit(committer, metric, false)
}

/// Does the same as [`write`] with a sync.
fn write_synced(committer: &Committer, metric: u32) -> Result<Lsn> {
    submit(committer, metric, true)
}

fn submit(committer: &Committer, metric: u32, synced: bool) -> Result<Lsn> {
    let (response, received) = std::sync::mpsc::channel();
    committer.submit(Submission {
        payload: encode_dropped(MetricId(metric)),
        synced,
        may_block: false,
        applied: Applied::Dropped(MetricId(metric)),
        done: Box::new(move |lsn| response.send(lsn).unwrap()),
    });
    received.recv().unwrap()
}

#[test]
fn a_failed_background_sync_is_reported_to_the_next_writer_and_its_segment_abandoned() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let sink = Recorder::default();
    let (ops, faults) = failing();
    faults.fail_syncs(1);
    let durability = Durability::Interval(Duration::from_millis(1));
    let committer = Committer::start(
        segments.clone(),
        (Lsn(1), Definitions::default()),
        durability,
        sink.clone(),
        ops,
    )
    .unwrap();
    // Writes are accepted until the sync of the first one has failed.
    let mut accepted = Vec::new();
    let reported = loop {
        match write(&committer, accepted.len() as u32) {
            Ok(lsn) => accepted.push((lsn, accepted.len() as u32)),
            Err(error) => break error,
        }
        assert!(accepted.len() < 1_000_000, "the failure was never reported");
    };
    assert!(matches!(&reported, Error::Unavailable(why) if why.contains("the disk is gone")));
    assert_eq!(*sink.failed.lock(), [reported.to_string()]);
    assert_eq!(*sink.doubts.lock(), 1);
    assert_eq!(logged(&segments), [accepted.clone()]);

    let next = accepted.last().unwrap().0.next();
    assert_eq!(write(&committer, 1_000_000).unwrap(), next);
    assert_eq!(logged(&segments), [accepted.clone(), vec![(next, 1_000_000)]]);
    let mut applied: Vec<u32> = accepted.iter().map(|(_, metric)| *metric).collect();
    applied.push(1_000_000);
    assert_eq!(*sink.applied.lock(), applied);
}

fn receipt(id: u128) -> Receipt {
    Receipt { id, fingerprint: 1, answer: Vec::new(), expires_at: TimestampMs(1) }
}

#[test]
fn one_of_several_writes_with_the_same_receipt_in_a_group_is_logged() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let shared = Arc::new(Shared::default());
    let writer =
        LogWriter::create(segments.clone(), Lsn(1), Writes::Cached, FileOps::system()).unwrap();
    let (sink, durability) = (Recorder::default(), Durability::Os);
    let copies = DefinitionCopies::new(Definitions::default());
    let mut worker = GroupWriter { shared, writer, copies, durability, sink };
    let (response, responses) = std::sync::mpsc::channel();
    let submission = |id| {
        let response = response.clone();
        let written = Written { receipt: Some(receipt(id)), ..Written::default() };
        Queued {
            payload: encode_write(&written.points, &written.events, written.receipt.as_ref()),
            synced: false,
            applied: Applied::Write(Box::new(written)),
            response: WriteResponse::new(Box::new(move |lsn| response.send((id, lsn)).unwrap())),
        }
    };
    worker.commit(vec![submission(7), submission(8), submission(7), submission(7)]);
    drop(response);
    let mut logged = 0;
    for (id, outcome) in responses {
        match outcome {
            Ok(lsn) => {
                assert_eq!(u128::from(lsn.0), id - 6);
                logged += 1;
            }
            Err(Error::Refused(Refusal::Conflict)) => assert_eq!(id, 7),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((logged, worker.writer.next()), (2, Lsn(3)));
}

#[test]
fn a_segment_whose_last_sync_fails_is_abandoned_and_its_records_reported_doubtful() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let (ops, faults) = failing();
    let sink = Recorder::default();
    let committer = Committer::start(
        segments.clone(),
        (Lsn(1), Definitions::default()),
        Durability::Os,
        sink.clone(),
        ops,
    )
    .unwrap();
    assert_eq!(write(&committer, 1).unwrap(), Lsn(1));
    faults.fail_syncs(1);
    let rotate = || {
        let (rotated, boundary) = std::sync::mpsc::channel();
        committer.rotate(move |lsn| rotated.send(lsn).unwrap());
        boundary.recv().unwrap()
    };
    assert!(rotate().is_err());
    assert_eq!(*sink.doubts.lock(), 1);
    assert_eq!(rotate().unwrap(), Lsn(1));
    assert_eq!(faults.syncs(), 1, "the second attempt does not sync the old file");
    assert_eq!(write(&committer, 2).unwrap(), Lsn(2));
    assert_eq!(logged(&segments), [vec![(Lsn(1), 1)], vec![(Lsn(2), 2)]]);
}

#[test]
fn a_write_that_requires_a_sync_fails_with_it_whatever_the_durability() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let (ops, faults) = failing();
    let sink = Recorder::default();
    let committer = start(&segments, Durability::Os, sink.clone(), ops);
    assert_eq!(write(&committer, 1).unwrap(), Lsn(1));
    assert_eq!(faults.syncs(), 0);
    assert_eq!(write_synced(&committer, 2).unwrap(), Lsn(2));
    assert_eq!(faults.syncs(), 1);
    faults.fail_syncs(1);
    assert!(write_synced(&committer, 3).is_err());
    // The sync also covered the earlier records, which have been acknowledged.
    assert_eq!(*sink.doubts.lock(), 1);
    assert_eq!(write(&committer, 4).unwrap(), Lsn(3));
    let first = vec![(Lsn(1), 1), (Lsn(2), 2)];
    assert_eq!(logged(&segments), [first, vec![(Lsn(3), 4)]]);
}

fn start(segments: &Segments, durability: Durability, sink: Recorder, ops: FileOps) -> Committer {
    Committer::start(segments.clone(), (Lsn(1), Definitions::default()), durability, sink, ops)
        .unwrap()
}

#[test]
fn a_panic_is_reported_to_queued_and_later_writers_and_nobody_waits_forever() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let sink = Recorder::default();
    let committer = start(&segments, Durability::Os, sink.clone(), FileOps::system());
    assert_eq!(write(&committer, 1).unwrap(), Lsn(1));
    let (response, responses) = std::sync::mpsc::channel();
    // A whole group, and a rotation after it: writes in the same group as the poison, and a queued
    // command.
    for metric in [2, POISON, 3, 4] {
        let (response, metric) = (response.clone(), MetricId(metric));
        committer.submit(Submission {
            payload: encode_dropped(metric),
            synced: false,
            may_block: false,
            applied: Applied::Dropped(metric),
            done: Box::new(move |lsn| response.send((metric.0, lsn)).unwrap()),
        });
    }
    let rotated = response.clone();
    committer.rotate(move |lsn| rotated.send((0, lsn)).unwrap());
    drop(response);
    let mut outcomes: Vec<(u32, bool)> = Vec::new();
    for _ in 0..5 {
        let (metric, outcome) = responses.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(matches!(outcome, Ok(_) | Err(Error::Unavailable(_))), "{metric}: {outcome:?}");
        outcomes.push((metric, outcome.is_ok()));
    }
    outcomes.sort_unstable();
    assert_eq!(outcomes, [(0, false), (2, true), (3, false), (4, false), (POISON, false)]);
    assert!(matches!(write(&committer, 5), Err(Error::Unavailable(_))));
    let (rotated, boundary) = std::sync::mpsc::channel();
    committer.rotate(move |lsn| rotated.send(lsn).unwrap());
    let refused = boundary.recv_timeout(Duration::from_secs(30)).unwrap();
    assert!(matches!(&refused, Err(Error::Unavailable(why)) if why.contains("the head is broken")));
    committer.stop();
    assert_eq!(sink.died.lock().len(), 1);
    assert_eq!(*sink.applied.lock(), [1, 2]);
}

/// Writes a record and returns whether this thread wrote it.
fn writes_inline(committer: &Committer, metric: u32) -> bool {
    let (response, received) = std::sync::mpsc::channel();
    let here = std::thread::current().id();
    committer.submit(Submission {
        payload: encode_dropped(MetricId(metric)),
        synced: false,
        may_block: true,
        applied: Applied::Dropped(MetricId(metric)),
        done: Box::new(move |lsn| {
            response.send((lsn.is_ok(), std::thread::current().id() == here)).unwrap();
        }),
    });
    let (is_written, is_inline) = received.recv_timeout(Duration::from_secs(30)).unwrap();
    assert!(is_written);
    is_inline
}

#[test]
fn a_lone_writer_writes_itself_unless_it_would_wait() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let sink = Recorder::default();
    // Without the disk, whose speed is not part of this test.
    let ops = FileOps::new(File::write_all_at, |_| Ok(()), File::set_len);
    let committer = start(&segments, Durability::Os, sink.clone(), ops);
    assert!(!writes_inline(&committer, 0), "the speed of the disk is unknown");
    let mut written = 1;
    let mut write = |count: u32| {
        let metrics = written..written + count;
        written += count;
        metrics.filter(|metric| writes_inline(&committer, *metric)).count()
    };
    // Another process may use the disk or the processor for a while.
    while write(1) == 0 {}
    sink.is_full.store(true, Ordering::Relaxed);
    assert_eq!(write(20), 0, "the memory is full");
    sink.is_full.store(false, Ordering::Relaxed);
    while write(1) == 0 {}
    sink.unlogged_bytes.store(1 << 20, Ordering::Relaxed);
    assert_eq!(write(20), 0, "many definitions are written with it");
    sink.unlogged_bytes.store(0, Ordering::Relaxed);
    while write(1) == 0 {}
    committer.stop();
    let metrics: Vec<u32> = (0..written).collect();
    assert_eq!(*sink.applied.lock(), metrics);
    assert_eq!(logged(&segments).concat().len(), metrics.len());
}

#[test]
fn a_panic_of_a_writer_that_writes_itself_refuses_later_writes() {
    let here = std::thread::current().id();
    // A pause of this thread in the turn before makes the committing thread write the poison.
    let is_here = (0..100).any(|_| {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let sink = Recorder::default();
        let committer = start(&segments, Durability::Os, sink.clone(), FileOps::system());
        while !writes_inline(&committer, 1) {}
        let (response, received) = std::sync::mpsc::channel();
        committer.submit(Submission {
            payload: encode_dropped(MetricId(POISON)),
            synced: false,
            may_block: true,
            applied: Applied::Dropped(MetricId(POISON)),
            done: Box::new(move |lsn| response.send(lsn).unwrap()),
        });
        let refused = received.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(matches!(refused, Err(Error::Unavailable(_))));
        assert!(matches!(write(&committer, 2), Err(Error::Unavailable(_))));
        // The committing thread has ended, or does so now.
        committer.stop();
        assert_eq!(sink.died.lock().len(), 1);
        *sink.panicked.lock() == Some(here)
    });
    assert!(is_here);
}

#[test]
fn a_panicking_background_sync_counts_as_failed_and_the_thread_continues() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let panics = AtomicBool::new(true);
    let (synced, syncs) = std::sync::mpsc::channel();
    let sync = move |file: &File| {
        assert!(!panics.swap(false, Ordering::Relaxed), "the disk is odd");
        // Syncs after the first one are not received.
        let _counted = synced.send(());
        file.sync_data()
    };
    let durability = Durability::Interval(Duration::from_millis(1));
    let sink = Recorder::default();
    let committer =
        start(&segments, durability, sink, FileOps::new(File::write_all_at, sync, File::set_len));
    let mut accepted = 0;
    let reported = loop {
        match write(&committer, accepted) {
            Ok(_) => accepted += 1,
            Err(error) => break error,
        }
        assert!(accepted < 1_000_000, "the failure was never reported");
    };
    assert!(matches!(&reported, Error::Unavailable(why) if why.contains("the disk is odd")));
    write(&committer, accepted + 1).unwrap();
    syncs.recv_timeout(Duration::from_secs(30)).unwrap();
}

#[test]
fn a_panicking_callback_affects_no_other_writer() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let sink = Recorder::default();
    let committer = start(&segments, Durability::Os, sink.clone(), FileOps::system());
    committer.submit(Submission {
        payload: encode_dropped(MetricId(1)),
        synced: false,
        may_block: false,
        applied: Applied::Dropped(MetricId(1)),
        done: Box::new(|_| panic!("a faulty callback")),
    });
    assert_eq!(write(&committer, 2).unwrap(), Lsn(2));
    assert_eq!(*sink.applied.lock(), [1, 2]);
}

#[test]
fn acknowledged_writes_are_logged_and_applied_in_order() {
    run(Durability::Sync);
    run(Durability::Interval(Duration::from_millis(1)));
    run(Durability::Os);
}
