//! Group commit: one thread writes the log, so that concurrent writers share a write and a sync.
//!
//! ```text
//! writers ──submit──▶ queue ──▶ committer: take all that waits ─▶ append (+ sync) ─▶ apply to the head ─▶ answer
//! ```
//!
//! While one group is being synced the next one gathers, so the sync costs each writer at most twice its time and the disk one
//! operation per group. A record is applied in the order of the log and before its writer is answered: whoever was answered can
//! read what it wrote.
//!
//! The committing thread is also where receipts are claimed: of writes with one receipt, whoever sends them and however
//! close together, one is logged and the others are refused with [`Refusal::Conflict`].
//!
//! # Panics
//!
//! After a panic in the committing thread the heads may lack records that the log has, so it does not begin anew: whoever waits
//! and whoever comes is refused at once, and the next start replays the log. The thread that syncs from beside keeps nothing in
//! memory: its panic counts as a sync that failed, and it goes on. A panic of a writer's own callback is the writer's.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::answer::{Answer, Done};
use super::copies::DefinitionCopies;
use super::record::Definitions;
use super::segment::{PAYLOAD_BYTES_MAX, Segments};
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
    fn logged(&mut self, definitions: &Definitions);
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

/// A write on its way.
pub(crate) struct Submission {
    /// The encoded record.
    pub(crate) payload: Vec<u8>,
    /// Whether it is synced before it is answered, whatever [`Durability`] asks for.
    pub(crate) synced: bool,
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
    synced: bool,
    applied: Applied,
    answer: Answer,
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
    /// Bytes of the definitions that wait for their second copy.
    copies_bytes: AtomicUsize,
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
    /// Starts the thread; the first record it writes is `next`, and the log has only one copy of what `defined_once` says.
    pub(crate) fn start(
        segments: Segments,
        (next, defined_once): (Lsn, Definitions),
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
        let copies = DefinitionCopies::new(defined_once);
        shared.copies_bytes.store(copies.bytes(), Ordering::Relaxed);
        let worker = Worker { shared: Arc::clone(&shared), writer, copies, durability, sink };
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
                let Submission { payload, synced, applied, done } = submission;
                queue.bytes += payload.len();
                let answer = Answer::new(done);
                queue.commands.push(Command::Write(Queued { payload, synced, applied, answer }));
                self.shared.wake.notify_one();
                return;
            }
        };
        if let Some(error) = refused {
            (submission.done)(Err(error));
        }
    }

    /// Starts a new segment, then calls `done` with the last record of the old one.
    pub(crate) fn rotate(&self, done: impl FnOnce(Result<Lsn>) + Send + 'static) {
        let mut queue = self.shared.queue.lock();
        if let Some(refusal) = queue.refusal() {
            drop(queue);
            done(Err(refusal));
        } else {
            queue.commands.push(Command::Rotate(Answer::new(Box::new(done))));
            self.shared.wake.notify_one();
        }
    }

    /// Bytes that wait to be written.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.shared.queue.lock().bytes
    }

    /// Bytes of what is kept in memory to be written again.
    pub(crate) fn copies_bytes(&self) -> usize {
        self.shared.copies_bytes.load(Ordering::Relaxed)
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
    copies: DefinitionCopies,
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
        self.finish_copies();
        if let Err(error) = self.writer.rotate() {
            self.doubt();
            return Err(error);
        }
        self.copies.clear();
        self.shared.copies_bytes.store(0, Ordering::Relaxed);
        let boundary = Lsn(self.writer.next().0 - 1);
        self.sink.rotated(boundary);
        Ok(boundary)
    }

    /// Writes the second copies that are still to be written: records up to the boundary are sealed together, and definitions behind it
    /// could be of metrics that were dropped before.
    fn finish_copies(&mut self) {
        let rest = self.copies.lay_out_rest(self.writer.place());
        let payloads: Vec<&[u8]> = rest.iter().map(Vec::as_slice).collect();
        if payloads.is_empty() {
            return;
        }
        if let Err(error) = self.writer.append(&payloads, false) {
            // The first copies are there, and soon in blocks: that must not wait for a disk that takes nothing more.
            tracing::warn!(%error, "the second copies of definitions are not in the log");
            self.doubt();
        }
    }

    /// Tells, after a failure, when records that were acknowledged before they were synced are in a segment that was left.
    fn doubt(&mut self) {
        if self.writer.is_abandoned() && self.durability != Durability::Sync {
            self.sink.doubtful();
        }
    }

    /// Writes a group behind the definitions it needs; answers the position of its first record.
    fn append(&mut self, group: &[Queued]) -> Result<Lsn> {
        let failure = self.shared.sync_failure.lock().take();
        if let Some(reason) = failure {
            // What a failed sync left of the file is not known: nothing more goes behind it.
            self.writer.abandon();
            self.doubt();
            return Err(Error::Unavailable(format!("syncing the log: {reason}")));
        }
        let definitions = self.sink.take_definitions();
        let writes = || group.iter().map(|queued| queued.payload.as_slice());
        let layout = self.copies.lay_out(self.writer.place(), &definitions, writes());
        let mut payloads = layout.before();
        let first = Lsn(self.writer.next().0 + payloads.len() as u64);
        payloads.extend(writes().chain(layout.behind()));
        let synced = self.durability == Durability::Sync;
        let sync = synced || group.iter().any(|queued| queued.synced);
        if let Err(error) = self.writer.append(&payloads, sync) {
            self.sink.not_logged(definitions);
            if sync && !synced {
                // The sync that failed was also that of acknowledged records before.
                self.writer.abandon();
            }
            self.doubt();
            return Err(error);
        }
        self.sink.logged(&definitions);
        self.copies.written(&layout, definitions);
        self.shared.copies_bytes.store(self.copies.bytes(), Ordering::Relaxed);
        if matches!(self.durability, Durability::Interval(_)) {
            *self.shared.unsynced.lock() = Some(self.writer.file());
        }
        Ok(first)
    }
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
#[path = "commit_tests.rs"]
mod tests;
