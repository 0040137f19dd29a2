//! Group commit: one thread at a time writes the log, so that concurrent writers share a write and
//! a sync.
//!
//! ```text
//! writers ─submit─▶ queue ──▶ committing thread: take all ─┐
//!              └─ fast disk, nobody else writes: itself ──┴▶ append (+ sync) ─▶ apply to heads ─▶ respond
//! ```
//!
//! While one group is being synced the next one gathers, so each writer waits for at most two syncs
//! and the disk performs one operation per group; writers that will be there soon are waited for
//! ([`super::gathering`]). A record is applied in log order and before its
//! write is acknowledged: writers can read what was acknowledged to them.
//!
//! Who has the turn to write also claims receipts: of several writes with the same receipt, from any
//! clients and at any time, one is logged and the others are refused with [`Refusal::Conflict`].
//!
//! # Panics
//!
//! After a panic of whoever writes the heads may lack records that the log contains, so nothing is
//! written any more: queued and later writes are refused at once, and the next start replays the
//! log. The background syncing thread has no state in memory: its panic counts as a failed
//! sync, and it continues. A panic of a writer's callback affects only that writer.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::definition_copies::DefinitionCopies;
use super::gathering::TurnTimes;
use super::record::Definitions;
use super::segment::Segments;
use super::segment_file::Writes;
use super::write_queue::{Command, Queued, Submission, WriteQueue};
use super::writer::{FileOps, LogWriter};
use crate::clock::Clock;
use crate::documents::Receipt;
use crate::error::{Error, Refusal, Result};
use crate::limits::LOG_GROUP_BYTES_MAX;
use crate::model::{EventRows, Lsn, MetricId, PointBatch};
use crate::options::Durability;
use crate::panics::catch_panic;

/// Samples and events of one write, and the receipt of its response.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) points: PointBatch,
    pub(crate) events: EventRows,
    pub(crate) receipt: Option<Receipt>,
}

/// The effect of a record once it is durable.
#[derive(Debug)]
pub(crate) enum Applied {
    /// Adds samples and events to the heads, and stores the receipt.
    Write(Box<Written>),
    /// Removes a metric.
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

/// The destination of durable records. A trait because the log must not depend on the stores above
/// it; the tests of this file contain the second implementation.
pub(crate) trait Sink: Send + 'static {
    /// Returns whether the next group takes longer than its own size tells: [`Self::admit`] would
    /// wait, or many definitions are to be logged.
    fn takes_long(&self) -> bool;
    /// Refuses a write whose receipt is taken. Called in log order, before the write is in the log.
    fn claim(&mut self, receipt: &Receipt) -> Result<()>;
    /// Returns whether a group may be written now. May wait for memory to become free.
    fn admit(&mut self) -> Result<Admission>;
    /// Reports a new segment; the last record of the old one is `boundary`.
    fn rotated(&mut self, boundary: Lsn);
    /// Takes the definitions that are in the registry but not in the log.
    fn take_definitions(&mut self) -> Definitions;
    /// Reports that the definitions are in the log.
    fn logged(&mut self, definitions: &Definitions);
    /// Returns definitions that could not be written, to be written with the next group.
    fn not_logged(&mut self, definitions: Definitions);
    /// Applies a record that is in the log.
    fn apply(&mut self, applied: Applied);
    /// Reports a failed write.
    fn failed(&mut self, error: &Error);
    /// Reports that acknowledged records of the log may never reach the disk.
    fn durability_in_doubt(&mut self);
    /// Reports that whoever wrote the log has panicked: nothing is written any more.
    fn died(&mut self, reason: &str);
}

/// How a group may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// After the existing records.
    Go,
    /// To a new segment: the earlier records are about to be sealed.
    AfterRotation,
}

#[derive(Default)]
struct Shared {
    queue: WriteQueue,
    /// The file for the background sync under [`Durability::Interval`], if it has unsynced bytes.
    unsynced: Mutex<Option<Arc<File>>>,
    /// Why the last background sync failed, until it is reported to a writer.
    sync_failure: Mutex<Option<String>>,
    /// Wakes the syncing thread early, to stop it.
    tick: Condvar,
    /// Bytes of the definitions whose second copy is pending.
    copies_bytes: AtomicUsize,
}

/// The log, open for writes. Dropping it stops its threads after everything submitted is written.
pub(crate) struct Committer {
    shared: Arc<Shared>,
    writer: Arc<dyn WriteGroups>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for Committer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Committer").field("queued_bytes", &self.queued_bytes()).finish()
    }
}

impl Committer {
    /// Starts the thread. The first record it writes is `next`; the log has only one copy of the
    /// definitions in `defined_once`.
    pub(crate) fn start(
        segments: Segments,
        (next, defined_once): (Lsn, Definitions),
        durability: Durability,
        sink: impl Sink,
        ops: FileOps,
    ) -> Result<Self> {
        let writer = LogWriter::create(segments, next, Writes::of(durability), ops.clone())?;
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
        let writer: Arc<dyn WriteGroups> = Arc::new(Turns::new(worker));
        let committing = (Arc::clone(&shared), Arc::clone(&writer));
        threads.push(spawn("telltale-commit", Box::new(move || committing_thread(committing)))?);
        if let Durability::Interval(period) = durability {
            let shared = Arc::clone(&shared);
            threads
                .push(spawn("telltale-sync", Box::new(move || sync_every(&shared, period, &ops)))?);
        }
        Ok(Self { shared, writer, threads: Mutex::new(threads) })
    }

    /// Queues a write. Its `done` is called by the committing thread, or by this call if the write
    /// is refused, or if this thread writes it: where it may block, nobody else writes, and the disk
    /// is fast ([`super::gathering`]).
    pub(crate) fn submit(&self, submission: Submission) {
        if let Some(queued) = self.shared.queue.submit(submission) {
            self.writer.write_at_once(queued);
        }
    }

    /// Starts a new segment, then calls `done` with the last record of the old one.
    pub(crate) fn rotate(&self, done: impl FnOnce(Result<Lsn>) + Send + 'static) {
        self.shared.queue.rotate(done);
    }

    /// Returns the bytes queued.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.shared.queue.bytes()
    }

    /// Returns the memory of the definitions whose second copy is pending, in bytes.
    pub(crate) fn copies_bytes(&self) -> usize {
        self.shared.copies_bytes.load(Ordering::Relaxed)
    }

    /// Writes everything submitted, then stops the thread. Later submissions are refused.
    pub(crate) fn stop(&self) {
        self.shared.queue.stop();
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

/// Writes commands in turns.
trait WriteGroups: Send + Sync {
    /// Writes what the committing thread took, and ends its turn.
    fn write_all(&self, commands: Vec<Command>);
    /// Writes a record of the calling thread, or passes it on to the committing thread if that
    /// would take long, and ends the turn.
    fn write_at_once(&self, queued: Queued);
    /// Closes the log. Nobody has the turn any more.
    fn close(&self);
}

fn committing_thread((shared, writer): (Arc<Shared>, Arc<dyn WriteGroups>)) {
    while let Some(commands) = shared.queue.take() {
        writer.write_all(commands);
    }
    writer.close();
}

/// What writes, for whoever has the turn.
struct Turns<S> {
    shared: Arc<Shared>,
    /// `None` once the log is closed. Never contended: only who has the turn takes it.
    worker: Mutex<Option<Worker<S>>>,
}

impl<S: Sink> Turns<S> {
    fn new(worker: Worker<S>) -> Self {
        Self { shared: Arc::clone(&worker.shared), worker: Mutex::new(Some(worker)) }
    }

    /// Runs `work` and ends the turn. After a panic of `work`, queued writes are refused, and so
    /// are later ones.
    fn turn(&self, work: impl FnOnce(&mut Worker<S>)) {
        let mut worker = self.worker.lock();
        // Without a worker the commands are dropped, which refuses them.
        if let Some(worker) = worker.as_mut()
            && let Err(panic) = catch_panic("the writer of the log", || work(worker))
        {
            let reason = format!("{panic}; nothing is written before the next start");
            let waiting = self.shared.queue.fail(reason.clone());
            // Before any response, so that a client that then queries the reason gets it.
            let _reported = catch_panic("reporting a panic", || worker.sink.died(&reason));
            for command in waiting {
                let (Command::Write(Queued { response, .. }) | Command::Rotate(response)) = command;
                response.send(Err(Error::Unavailable(reason.clone())));
            }
        }
        drop(worker);
        self.shared.queue.end_turn();
    }
}

impl<S: Sink> WriteGroups for Turns<S> {
    fn write_all(&self, commands: Vec<Command>) {
        self.turn(|worker| worker.write_all(commands));
    }

    fn write_at_once(&self, queued: Queued) {
        self.turn(|worker| {
            if worker.takes_long(&queued) {
                worker.shared.queue.pass_on(queued);
            } else {
                worker.commit(vec![queued]);
            }
        });
    }

    fn close(&self) {
        drop(self.worker.lock().take());
    }
}

/// A group in the log.
struct Appended {
    /// The position of its first record.
    first: Lsn,
    /// How long the write took, with its sync.
    write: Duration,
    is_synced: bool,
}

struct Worker<S> {
    shared: Arc<Shared>,
    writer: LogWriter,
    copies: DefinitionCopies,
    durability: Durability,
    sink: S,
}

impl<S: Sink> Worker<S> {
    /// Returns whether a write takes longer than others: it waits for a seal, is written with many
    /// definitions, or makes the segment grow or starts another one.
    fn takes_long(&self, queued: &Queued) -> bool {
        self.sink.takes_long() || !self.writer.has_room(&queued.payload)
    }

    fn write_all(&mut self, commands: Vec<Command>) {
        let mut group = Vec::new();
        let mut bytes = 0;
        for command in commands {
            match command {
                Command::Write(queued) => {
                    bytes += queued.payload.len();
                    group.push(queued);
                    if bytes > LOG_GROUP_BYTES_MAX {
                        self.commit(std::mem::take(&mut group));
                        bytes = 0;
                    }
                }
                Command::Rotate(done) => {
                    self.commit(std::mem::take(&mut group));
                    bytes = 0;
                    let boundary = self.rotate();
                    done.send(boundary);
                }
            }
        }
        self.commit(group);
    }

    fn commit(&mut self, group: Vec<Queued>) {
        let group = self.claim(group);
        if group.is_empty() {
            return;
        }
        // What the disk takes is real time, whatever clock the engine has.
        let (clock, writers) = (Clock::system(), group.len());
        let started = clock.steady();
        match self.admit().and_then(|()| self.append(&group)) {
            Ok(Appended { first: mut lsn, write, is_synced }) => {
                for Queued { applied, response, .. } in group {
                    self.sink.apply(applied);
                    response.send(Ok(lsn));
                    lsn = lsn.next();
                }
                let turn = clock.steady().saturating_sub(started);
                self.shared.queue.written(writers, TurnTimes { write, turn }, is_synced);
            }
            Err(error) => {
                self.shared.queue.failed();
                self.sink.failed(&error);
                for queued in group {
                    queued.response.send(Err(same_failure(&error)));
                }
            }
        }
    }

    /// Refuses the writes whose receipts are taken, by a record in the log or by an earlier write
    /// of the group, and returns the others.
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
                Err(refused) => queued.response.send(Err(refused)),
            }
        }
        claimed
    }

    fn admit(&mut self) -> Result<()> {
        if self.sink.admit()? == Admission::AfterRotation {
            self.rotate()?;
        }
        Ok(())
    }

    fn rotate(&mut self) -> Result<Lsn> {
        self.write_pending_copies();
        if let Err(error) = self.writer.rotate() {
            self.report_doubtful();
            return Err(error);
        }
        self.copies.clear();
        self.shared.copies_bytes.store(0, Ordering::Relaxed);
        let boundary = Lsn(self.writer.next().0 - 1);
        self.sink.rotated(boundary);
        Ok(boundary)
    }

    /// Writes the pending second copies: records up to the boundary are sealed together, and
    /// definitions after it could belong to metrics dropped before it.
    fn write_pending_copies(&mut self) {
        let rest = self.copies.lay_out_rest(self.writer.position());
        let payloads: Vec<&[u8]> = rest.iter().map(Vec::as_slice).collect();
        if payloads.is_empty() {
            return;
        }
        if let Err(error) = self.writer.append(&payloads, false) {
            // The first copies exist and will soon be in blocks: the rotation must not wait for a
            // full disk.
            tracing::warn!(%error, "the second copies of definitions could not be written to the log");
            self.report_doubtful();
        }
    }

    /// After a failure, reports if records that were acknowledged before they were synced are in an
    /// abandoned segment.
    fn report_doubtful(&mut self) {
        if self.writer.is_abandoned() && self.durability != Durability::Sync {
            self.sink.durability_in_doubt();
        }
    }

    /// Writes a group after the definitions that it needs.
    fn append(&mut self, group: &[Queued]) -> Result<Appended> {
        let failure = self.shared.sync_failure.lock().take();
        if let Some(reason) = failure {
            // The contents of the file after a failed sync are unknown: nothing more is appended to
            // it.
            self.writer.abandon();
            self.report_doubtful();
            return Err(Error::Unavailable(format!("syncing the log: {reason}")));
        }
        let definitions = self.sink.take_definitions();
        let writes = || group.iter().map(|queued| queued.payload.as_slice());
        let layout = self.copies.lay_out(self.writer.position(), &definitions, writes());
        let mut payloads = layout.before();
        let first = Lsn(self.writer.next().0 + payloads.len() as u64);
        payloads.extend(writes().chain(layout.after()));
        let synced = self.durability == Durability::Sync;
        let sync = synced || group.iter().any(|queued| queued.synced);
        let clock = Clock::system();
        let started = clock.steady();
        if let Err(error) = self.writer.append(&payloads, sync) {
            self.sink.not_logged(definitions);
            if sync && !synced {
                // The failed sync also covered records acknowledged earlier.
                self.writer.abandon();
            }
            self.report_doubtful();
            return Err(error);
        }
        let write = clock.steady().saturating_sub(started);
        self.sink.logged(&definitions);
        self.copies.written(&layout, definitions);
        self.shared.copies_bytes.store(self.copies.bytes(), Ordering::Relaxed);
        if matches!(self.durability, Durability::Interval(_)) {
            *self.shared.unsynced.lock() = Some(self.writer.file());
        }
        Ok(Appended { first, write, is_synced: sync })
    }
}

/// Returns the same failure for each writer of a group.
fn same_failure(error: &Error) -> Error {
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
        let stopped = shared.queue.is_stopped();
        if let Some(file) = unsynced.take() {
            // The lock is not held during the sync: writers continue.
            let synced =
                MutexGuard::unlocked(&mut unsynced, || catch_panic("syncing", || ops.sync(&file)));
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
