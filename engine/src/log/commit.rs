//! Group commit: one thread writes the log, so that concurrent writers share a write and a sync.
//!
//! ```text
//! writers ──submit──▶ queue ──▶ committer: take all that waits ─▶ append (+ sync) ─▶ apply to the head ─▶ answer
//! ```
//!
//! While one group is being synced the next one gathers, so the sync costs each writer at most twice its time
//! and the disk one operation per group. A record is applied in the order of the log and before its writer is
//! answered: whoever was answered can read what he wrote.
//!
//! The committing thread is also where receipts are claimed: of writes with one receipt, whoever sends them and however
//! close together, one is logged and the others are refused with [`Refusal::Conflict`].
//!
//! # Panics
//!
//! After a panic in the committing thread the heads may lack records that the log has, so it does not begin anew: whoever waits
//! and whoever comes is refused at once, and the next start replays the log. The thread that syncs from beside
//! keeps nothing in memory: its panic counts as a sync that failed, and it goes on. A panic of a writer's own callback is
//! the writer's.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::record::{Definitions, encode_definitions, encode_padding};
use super::segment::{PAYLOAD_BYTES_MAX, SECTOR_BYTES, Segments};
use super::writer::{FileOps, LogWriter};
use crate::documents::Receipt;
use crate::error::{Error, Refusal, Result};
use crate::model::{EventRows, Lsn, MetricId, PointBatch};
use crate::options::Durability;
use crate::panics::caught;

/// Bytes that may wait to be written; beyond it writers are told to slow down.
const QUEUE_BYTES_MAX: usize = 64 << 20;
/// A group is closed at this size.
const GROUP_BYTES_MAX: usize = 8 << 20;

/// Points and events, and how their write was answered.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) points: PointBatch,
    pub(crate) events: EventRows,
    pub(crate) receipt: Option<Receipt>,
}

/// What a record does once it is durable.
#[derive(Debug)]
pub(crate) enum Applied {
    /// Adds points and events to the heads and remembers the answer.
    Write(Box<Written>),
    /// Forgets a metric.
    Dropped(MetricId),
}

impl Applied {
    fn receipt(&self) -> Option<&Receipt> {
        match self {
            Self::Write(written) => written.receipt.as_ref(),
            Self::Dropped(_) => None,
        }
    }
}

/// Where durable records go. A trait because the log must not know the rooms above it; the tests of this file
/// are the other implementation.
pub(crate) trait Sink: Send + 'static {
    /// Refuses a write whose receipt is taken. Called in the order of the log, before the write is in it.
    fn claim(&mut self, receipt: &Receipt) -> Result<()>;
    /// Whether a group may be written now. May wait for memory to become free.
    fn admit(&mut self) -> Result<Admission>;
    /// A new segment has begun; the last record of the old one is `boundary`.
    fn rotated(&mut self, boundary: Lsn);
    /// Takes what the registry learned and the log does not hold yet.
    fn take_definitions(&mut self) -> Definitions;
    /// The definitions are in the log.
    fn logged(&mut self, definitions: Definitions);
    /// The definitions could not be written: they go with the next group.
    fn not_logged(&mut self, definitions: Definitions);
    /// A record is in the log.
    fn apply(&mut self, applied: Applied);
    /// A write failed.
    fn failed(&mut self, error: &Error);
    /// Acknowledged records may never reach the disk by way of the log.
    fn doubtful(&mut self);
    /// The thread has panicked: nothing is written any more.
    fn died(&mut self, reason: &str);
}

/// How a group may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Behind the records before it.
    Go,
    /// Into a new segment: what came before is set aside to be sealed.
    AfterRotation,
}

type Done = Box<dyn FnOnce(Result<Lsn>) + Send>;

/// A write on its way.
pub(crate) struct Submission {
    /// The encoded record.
    pub(crate) payload: Vec<u8>,
    pub(crate) applied: Applied,
    /// Called once with the record's position, or why there is none.
    pub(crate) done: Done,
}

enum Command {
    Write(Queued),
    /// Begin a new segment, then call with the last record of the old one.
    Rotate(Answer),
}

/// A [`Submission`] that was taken.
struct Queued {
    payload: Vec<u8>,
    applied: Applied,
    answer: Answer,
}

/// A callback that is called whatever happens: dropped, it says that the log has stopped.
struct Answer(Option<Done>);

impl Answer {
    fn give(mut self, outcome: Result<Lsn>) {
        self.call(outcome);
    }

    fn call(&mut self, outcome: Result<Lsn>) {
        if let Some(done) = self.0.take() {
            // It may be called while another panic unwinds; what a writer's callback does wrong is logged.
            let _called = caught("the callback of a write", || done(outcome));
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.call(Err(Error::Unavailable("the log has stopped".into())));
    }
}

#[derive(Default)]
struct Queue {
    commands: Vec<Command>,
    bytes: usize,
    stopped: bool,
    /// Why nothing is written any more.
    failure: Option<String>,
}

impl Queue {
    /// Why nothing more is taken, if that is so.
    fn refusal(&self) -> Option<Error> {
        let closing = self.stopped.then(|| "the engine is closing".to_owned());
        self.failure.clone().or(closing).map(Error::Unavailable)
    }
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// The file to sync from beside, under [`Durability::Interval`], when it has unsynced bytes.
    unsynced: Mutex<Option<Arc<File>>>,
    /// Why the last sync from beside failed, until a writer is told.
    sync_failure: Mutex<Option<String>>,
    /// Wakes the syncing thread early, to stop.
    tick: Condvar,
}

/// The handle of the committing thread. Dropping it stops the thread after what was submitted is written.
pub(crate) struct Committer {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for Committer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Committer").field("queued_bytes", &self.queued_bytes()).finish()
    }
}

impl Committer {
    /// Starts the thread; the first record it writes is `next`.
    pub(crate) fn start(
        segments: Segments,
        next: Lsn,
        durability: Durability,
        sink: impl Sink,
        ops: FileOps,
    ) -> Result<Self> {
        let writer = LogWriter::create(segments, next, ops.clone())?;
        let shared = Arc::new(Shared::default());
        let mut threads = Vec::new();
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(work)
                .map_err(|source| Error::Io { context: format!("starting {name}"), source })
        };
        let worker = Worker { shared: Arc::clone(&shared), writer, durability, sink };
        threads.push(spawn("telltale-commit", Box::new(move || worker.run()))?);
        if let Durability::Interval(period) = durability {
            let shared = Arc::clone(&shared);
            threads
                .push(spawn("telltale-sync", Box::new(move || sync_every(&shared, period, &ops)))?);
        }
        Ok(Self { shared, threads: Mutex::new(threads) })
    }

    /// Queues a write. Its `done` is called from the committing thread, or from here when it is refused.
    pub(crate) fn submit(&self, submission: Submission) {
        let refused = {
            let mut queue = self.shared.queue.lock();
            if let Some(refusal) = queue.refusal() {
                Some(refusal)
            } else if submission.payload.len() > PAYLOAD_BYTES_MAX {
                Some(Error::Overloaded("one write is larger than the log takes".into()))
            } else if queue.bytes > QUEUE_BYTES_MAX {
                Some(Error::Overloaded("too many bytes wait for the log".into()))
            } else {
                let Submission { payload, applied, done } = submission;
                queue.bytes += payload.len();
                let answer = Answer(Some(done));
                queue.commands.push(Command::Write(Queued { payload, applied, answer }));
                self.shared.wake.notify_one();
                return;
            }
        };
        if let Some(error) = refused {
            (submission.done)(Err(error));
        }
    }

    /// Begins a new segment, then calls `done` with the last record of the old one.
    pub(crate) fn rotate(&self, done: impl FnOnce(Result<Lsn>) + Send + 'static) {
        let mut queue = self.shared.queue.lock();
        if let Some(refusal) = queue.refusal() {
            drop(queue);
            done(Err(refusal));
        } else {
            queue.commands.push(Command::Rotate(Answer(Some(Box::new(done)))));
            self.shared.wake.notify_one();
        }
    }

    /// Bytes that wait to be written.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.shared.queue.lock().bytes
    }

    /// Writes what was submitted, then stops. Later submissions are refused.
    pub(crate) fn stop(&self) {
        self.shared.queue.lock().stopped = true;
        self.shared.wake.notify_all();
        self.shared.tick.notify_all();
        for thread in self.threads.lock().drain(..) {
            // They catch their panics.
            let _joined = thread.join();
        }
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Worker<S> {
    shared: Arc<Shared>,
    writer: LogWriter,
    durability: Durability,
    sink: S,
}

impl<S: Sink> Worker<S> {
    /// Works until it is stopped, or panics: then whoever waits hears of it, and nobody waits again.
    fn run(mut self) {
        let Err(panic) = caught("the committing thread", || self.work()) else { return };
        let reason = format!("{panic}; nothing is written before the next start");
        let waiting = {
            let mut queue = self.shared.queue.lock();
            queue.failure = Some(reason.clone());
            queue.bytes = 0;
            std::mem::take(&mut queue.commands)
        };
        // Before anybody is answered, so that whoever asks then why is told.
        let _told = caught("telling of a panic", || self.sink.died(&reason));
        for command in waiting {
            let (Command::Write(Queued { answer, .. }) | Command::Rotate(answer)) = command;
            answer.give(Err(Error::Unavailable(reason.clone())));
        }
    }

    fn work(&mut self) {
        while let Some(commands) = self.wait() {
            let mut group = Vec::new();
            let mut bytes = 0;
            for command in commands {
                match command {
                    Command::Write(queued) => {
                        bytes += queued.payload.len();
                        group.push(queued);
                        if bytes > GROUP_BYTES_MAX {
                            self.commit(std::mem::take(&mut group));
                            bytes = 0;
                        }
                    }
                    Command::Rotate(done) => {
                        self.commit(std::mem::take(&mut group));
                        bytes = 0;
                        let boundary = self.rotate();
                        done.give(boundary);
                    }
                }
            }
            self.commit(group);
        }
    }

    fn wait(&self) -> Option<Vec<Command>> {
        let mut queue = self.shared.queue.lock();
        while queue.commands.is_empty() {
            if queue.stopped {
                return None;
            }
            self.shared.wake.wait(&mut queue);
        }
        queue.bytes = 0;
        Some(std::mem::take(&mut queue.commands))
    }

    fn commit(&mut self, group: Vec<Queued>) {
        let group = self.claim(group);
        if group.is_empty() {
            return;
        }
        match self.make_way().and_then(|()| self.append(&group)) {
            Ok(mut lsn) => {
                for Queued { applied, answer, .. } in group {
                    self.sink.apply(applied);
                    answer.give(Ok(lsn));
                    lsn = lsn.next();
                }
            }
            Err(error) => {
                self.sink.failed(&error);
                for queued in group {
                    queued.answer.give(Err(again(&error)));
                }
            }
        }
    }

    /// Answers the writes whose receipts are taken, by a record in the log or by a write before them in the group, and
    /// leaves the others.
    fn claim(&mut self, group: Vec<Queued>) -> Vec<Queued> {
        if group.iter().all(|queued| queued.applied.receipt().is_none()) {
            return group;
        }
        let mut taken = HashSet::new();
        let mut claimed = Vec::with_capacity(group.len());
        for queued in group {
            let outcome = match queued.applied.receipt() {
                None => Ok(()),
                Some(receipt) if taken.insert(receipt.id) => self.sink.claim(receipt),
                Some(_) => Err(Refusal::Conflict.into()),
            };
            match outcome {
                Ok(()) => claimed.push(queued),
                Err(refused) => queued.answer.give(Err(refused)),
            }
        }
        claimed
    }

    fn make_way(&mut self) -> Result<()> {
        if self.sink.admit()? == Admission::AfterRotation {
            self.rotate()?;
        }
        Ok(())
    }

    fn rotate(&mut self) -> Result<Lsn> {
        if let Err(error) = self.writer.rotate() {
            self.doubt();
            return Err(error);
        }
        let boundary = Lsn(self.writer.next().0 - 1);
        self.sink.rotated(boundary);
        Ok(boundary)
    }

    /// Tells, after a failure, when records that were acknowledged before they were synced are in a segment that was left.
    fn doubt(&mut self) {
        if self.writer.is_abandoned() && self.durability != Durability::Sync {
            self.sink.doubtful();
        }
    }

    /// Writes a group behind the definitions it needs and before a copy of them; answers the position of its first record.
    fn append(&mut self, group: &[Queued]) -> Result<Lsn> {
        let failure = self.shared.sync_failure.lock().take();
        if let Some(reason) = failure {
            // What a failed sync left of the file is not known: nothing more goes behind it.
            self.writer.abandon();
            self.doubt();
            return Err(Error::Unavailable(format!("syncing the log: {reason}")));
        }
        let definitions = self.sink.take_definitions();
        let encoded = encode_definitions(&definitions);
        let padding = padding_between(&encoded, group);
        let defined = || encoded.iter().map(Vec::as_slice);
        let writes = group.iter().map(|queued| queued.payload.as_slice());
        let payloads: Vec<&[u8]> =
            defined().chain(writes).chain(padding.as_deref()).chain(defined()).collect();
        let first = Lsn(self.writer.next().0 + encoded.len() as u64);
        let sync = self.durability == Durability::Sync;
        if let Err(error) = self.writer.append(&payloads, sync) {
            self.sink.not_logged(definitions);
            self.doubt();
            return Err(error);
        }
        self.sink.logged(definitions);
        if matches!(self.durability, Durability::Interval(_)) {
            *self.shared.unsynced.lock() = Some(self.writer.file());
        }
        Ok(first)
    }
}

/// What keeps both copies of a group's definitions from having a part in one sector, where the writes between them do not: much
/// relies on definitions, and one damage must not take them.
fn padding_between(definitions: &[Vec<u8>], group: &[Queued]) -> Option<Vec<u8>> {
    let between: usize = group.iter().map(|queued| queued.payload.len()).sum();
    (!definitions.is_empty() && between < SECTOR_BYTES).then(|| encode_padding(SECTOR_BYTES))
}

/// The same failure for every writer of a group.
fn again(error: &Error) -> Error {
    match error {
        Error::Overloaded(reason) => Error::Overloaded(reason.clone()),
        Error::Unavailable(reason) => Error::Unavailable(reason.clone()),
        other => Error::Unavailable(other.to_string()),
    }
}

fn sync_every(shared: &Shared, period: Duration, ops: &FileOps) {
    let mut unsynced = shared.unsynced.lock();
    loop {
        shared.tick.wait_for(&mut unsynced, period);
        let stopped = shared.queue.lock().stopped;
        if let Some(file) = unsynced.take() {
            // The lock is not held during the sync: writers go on.
            let synced =
                MutexGuard::unlocked(&mut unsynced, || caught("syncing", || ops.sync(&file)));
            let failure = match synced {
                Ok(synced) => synced.err().map(|error| error.to_string()),
                Err(panic) => Some(panic),
            };
            if let Some(failure) = failure {
                *shared.sync_failure.lock() = Some(failure);
            }
        }
        if stopped {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::log::read::testing::behind;
    use crate::log::record::{Record, encode_dropped, encode_write};
    use crate::log::scan::scan;
    use crate::log::writer::testing::failing;
    use crate::model::TimestampMs;

    /// Remembers the metrics whose records it was given, and how many writes failed.
    #[derive(Clone, Default)]
    struct Recorder {
        applied: Arc<Mutex<Vec<u32>>>,
        failed: Arc<Mutex<Vec<String>>>,
        doubts: Arc<Mutex<u32>>,
        died: Arc<Mutex<Vec<String>>>,
    }

    /// The metric whose record the sink panics at.
    const POISON: u32 = u32::MAX;

    impl Sink for Recorder {
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
        fn logged(&mut self, _: Definitions) {}
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
        fn doubtful(&mut self) {
            *self.doubts.lock() += 1;
        }
        fn died(&mut self, reason: &str) {
            self.died.lock().push(reason.to_owned());
        }
    }

    /// What the segments hold, a list of records and their metrics for each.
    fn logged(segments: &Segments) -> Vec<Vec<(Lsn, u32)>> {
        let mut logged = Vec::new();
        for (path, behind) in behind(segments) {
            let mut records = Vec::new();
            scan(&path, behind, |lsn, payload| {
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
        let committer =
            Committer::start(segments.clone(), Lsn(1), durability, sink.clone(), FileOps::system())
                .unwrap();
        let (answer, answers) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (answer, committer) = (answer.clone(), &committer);
                scope.spawn(move || {
                    for i in 0..50 {
                        let metric = MetricId(thread * 50 + i);
                        let answer = answer.clone();
                        committer.submit(Submission {
                            payload: encode_dropped(metric),
                            applied: Applied::Dropped(metric),
                            done: Box::new(move |lsn| {
                                answer.send((lsn.unwrap(), metric.0)).unwrap()
                            }),
                        });
                    }
                });
            }
        });
        let (rotated, boundary) = std::sync::mpsc::channel();
        committer.rotate(move |lsn| rotated.send(lsn.unwrap()).unwrap());
        assert_eq!(boundary.recv().unwrap(), Lsn(200));
        committer.stop();
        drop(answer);
        let mut answered: Vec<(Lsn, u32)> = answers.iter().collect();
        answered.sort_unstable();
        let logged = logged(&segments).concat();
        assert_eq!(logged, answered);
        assert_eq!(*sink.applied.lock(), logged.iter().map(|(_, m)| *m).collect::<Vec<_>>());
        assert!(sink.failed.lock().is_empty());
    }

    /// Writes a record and waits for the answer.
    fn write(committer: &Committer, metric: u32) -> Result<Lsn> {
        let (answer, answered) = std::sync::mpsc::channel();
        committer.submit(Submission {
            payload: encode_dropped(MetricId(metric)),
            applied: Applied::Dropped(MetricId(metric)),
            done: Box::new(move |lsn| answer.send(lsn).unwrap()),
        });
        answered.recv().unwrap()
    }

    #[test]
    fn a_failed_sync_from_beside_is_told_to_the_next_writer_and_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let sink = Recorder::default();
        let (ops, faults) = failing();
        faults.fail_syncs(1);
        let durability = Durability::Interval(Duration::from_millis(1));
        let committer =
            Committer::start(segments.clone(), Lsn(1), durability, sink.clone(), ops).unwrap();
        // Writes are taken until the sync of the first one has failed.
        let mut taken = Vec::new();
        let told = loop {
            match write(&committer, taken.len() as u32) {
                Ok(lsn) => taken.push((lsn, taken.len() as u32)),
                Err(error) => break error,
            }
            assert!(taken.len() < 1_000_000, "nobody was told");
        };
        assert!(matches!(&told, Error::Unavailable(why) if why.contains("the disk is gone")));
        assert_eq!(*sink.failed.lock(), [told.to_string()]);
        assert_eq!(*sink.doubts.lock(), 1);
        assert_eq!(logged(&segments), [taken.clone()]);

        let next = taken.last().unwrap().0.next();
        assert_eq!(write(&committer, 1_000_000).unwrap(), next);
        assert_eq!(logged(&segments), [taken.clone(), vec![(next, 1_000_000)]]);
        let mut applied: Vec<u32> = taken.iter().map(|(_, metric)| *metric).collect();
        applied.push(1_000_000);
        assert_eq!(*sink.applied.lock(), applied);
    }

    fn receipt(id: u128) -> Receipt {
        Receipt { id, fingerprint: 1, answer: Vec::new(), expires_at: TimestampMs(1) }
    }

    #[test]
    fn of_writes_with_one_receipt_in_a_group_one_is_logged() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let shared = Arc::new(Shared::default());
        let writer = LogWriter::create(segments.clone(), Lsn(1), FileOps::system()).unwrap();
        let (sink, durability) = (Recorder::default(), Durability::Os);
        let mut worker = Worker { shared, writer, durability, sink };
        let (answer, answers) = std::sync::mpsc::channel();
        let submission = |id| {
            let answer = answer.clone();
            let written = Written { receipt: Some(receipt(id)), ..Written::default() };
            Queued {
                payload: encode_write(&written.points, &written.events, written.receipt.as_ref()),
                applied: Applied::Write(Box::new(written)),
                answer: Answer(Some(Box::new(move |lsn| answer.send((id, lsn)).unwrap()))),
            }
        };
        worker.commit(vec![submission(7), submission(8), submission(7), submission(7)]);
        drop(answer);
        let mut logged = 0;
        for (id, outcome) in answers {
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
    fn a_segment_that_cannot_be_synced_at_its_end_is_left_behind_and_its_records_are_doubtful() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let (ops, faults) = failing();
        let sink = Recorder::default();
        let committer =
            Committer::start(segments.clone(), Lsn(1), Durability::Os, sink.clone(), ops).unwrap();
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
        assert_eq!(faults.syncs(), 1, "the second attempt asks nothing of the old file");
        assert_eq!(write(&committer, 2).unwrap(), Lsn(2));
        assert_eq!(logged(&segments), [vec![(Lsn(1), 1)], vec![(Lsn(2), 2)]]);
    }

    fn start(
        segments: &Segments,
        durability: Durability,
        sink: Recorder,
        ops: FileOps,
    ) -> Committer {
        Committer::start(segments.clone(), Lsn(1), durability, sink, ops).unwrap()
    }

    #[test]
    fn a_panic_is_told_to_whoever_waits_and_whoever_comes_and_nobody_waits_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let sink = Recorder::default();
        let committer = start(&segments, Durability::Os, sink.clone(), FileOps::system());
        assert_eq!(write(&committer, 1).unwrap(), Lsn(1));
        let (answer, answers) = std::sync::mpsc::channel();
        // A whole group, and a rotation behind it: what is in the same group as the poison, and what waits.
        for metric in [2, POISON, 3, 4] {
            let (answer, metric) = (answer.clone(), MetricId(metric));
            committer.submit(Submission {
                payload: encode_dropped(metric),
                applied: Applied::Dropped(metric),
                done: Box::new(move |lsn| answer.send((metric.0, lsn)).unwrap()),
            });
        }
        let rotated = answer.clone();
        committer.rotate(move |lsn| rotated.send((0, lsn)).unwrap());
        drop(answer);
        let mut outcomes: Vec<(u32, bool)> = Vec::new();
        for _ in 0..5 {
            let (metric, outcome) = answers.recv_timeout(Duration::from_secs(30)).unwrap();
            assert!(matches!(outcome, Ok(_) | Err(Error::Unavailable(_))), "{metric}: {outcome:?}");
            outcomes.push((metric, outcome.is_ok()));
        }
        outcomes.sort_unstable();
        assert_eq!(outcomes, [(0, false), (2, true), (3, false), (4, false), (POISON, false)]);
        assert!(matches!(write(&committer, 5), Err(Error::Unavailable(_))));
        let (tell, told) = std::sync::mpsc::channel();
        committer.rotate(move |lsn| tell.send(lsn).unwrap());
        let told = told.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(
            matches!(&told, Err(Error::Unavailable(why)) if why.contains("the head is broken"))
        );
        committer.stop();
        assert_eq!(sink.died.lock().len(), 1);
        assert_eq!(*sink.applied.lock(), [1, 2]);
    }

    #[test]
    fn a_sync_from_beside_that_panics_failed_and_the_thread_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let panics = AtomicBool::new(true);
        let (synced, syncs) = std::sync::mpsc::channel();
        let sync = move |file: &File| {
            assert!(!panics.swap(false, Ordering::Relaxed), "the disk is odd");
            // Nobody counts those after the first.
            let _counted = synced.send(());
            file.sync_data()
        };
        let durability = Durability::Interval(Duration::from_millis(1));
        let sink = Recorder::default();
        let committer = start(&segments, durability, sink, FileOps::new(sync, File::set_len));
        let mut taken = 0;
        let told = loop {
            match write(&committer, taken) {
                Ok(_) => taken += 1,
                Err(error) => break error,
            }
            assert!(taken < 1_000_000, "nobody was told");
        };
        assert!(matches!(&told, Error::Unavailable(why) if why.contains("the disk is odd")));
        write(&committer, taken + 1).unwrap();
        syncs.recv_timeout(Duration::from_secs(30)).unwrap();
    }

    #[test]
    fn a_callback_that_panics_takes_nobody_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let sink = Recorder::default();
        let committer = start(&segments, Durability::Os, sink.clone(), FileOps::system());
        committer.submit(Submission {
            payload: encode_dropped(MetricId(1)),
            applied: Applied::Dropped(MetricId(1)),
            done: Box::new(|_| panic!("a careless host")),
        });
        assert_eq!(write(&committer, 2).unwrap(), Lsn(2));
        assert_eq!(*sink.applied.lock(), [1, 2]);
    }

    #[test]
    fn what_is_answered_is_logged_and_applied_in_order() {
        run(Durability::Sync);
        run(Durability::Interval(Duration::from_millis(1)));
        run(Durability::Os);
    }
}
