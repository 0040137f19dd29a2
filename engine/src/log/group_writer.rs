//! Writes groups of records to the log, in turns: one thread at a time.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::definition_copies::DefinitionCopies;
use super::sink::{Admission, Sink};
use super::write_queue::{Command, Queued, WriteQueue, WrittenGroup};
use super::writer::LogWriter;
use crate::clock::Clock;
use crate::error::{Error, Refusal, Result};
use crate::limits::LOG_GROUP_BYTES_MAX;
use crate::model::Lsn;
use crate::options::Durability;
use crate::panics::catch_panic;

/// Bytes in memory of definitions up to which a thread writes them inline, with its record: tens of
/// series.
const DEFINITIONS_INLINE_BYTES_MAX: usize = 16 << 10;
/// Bytes of a group beside payloads and definitions, as an estimate: headers of frames, and what
/// makes the copies of definitions begin in other sectors.
const PADDING_BYTES: usize = 16 << 10;

/// What the threads of the log share.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) queue: WriteQueue,
    /// The file for the background sync under [`Durability::Interval`], if it has unsynced bytes.
    pub(super) unsynced: Mutex<Option<Arc<File>>>,
    /// Why the last background sync failed, until it is reported to a writer.
    pub(super) sync_failure: Mutex<Option<String>>,
    /// Wakes the syncing thread early, to stop it.
    pub(super) tick: Condvar,
    /// Bytes of the definitions whose second copy is pending.
    pub(super) copies_bytes: AtomicUsize,
}

/// Writes commands in turns.
pub(super) trait WriteGroups: Send + Sync {
    /// Writes what the committing thread took, and ends its turn.
    fn write_all(&self, commands: Vec<Command>);
    /// Writes records on the thread that submitted one of them, or passes them on to the committing
    /// thread if that would take long, and ends the turn.
    fn write_inline(&self, group: Vec<Queued>);
    /// Closes the log. Nobody has the turn any more.
    fn close(&self);
}

/// What writes, for whoever has the turn.
pub(super) struct Turns<S> {
    shared: Arc<Shared>,
    /// `None` once the log is closed. Never contended: only who has the turn takes it.
    writer: Mutex<Option<GroupWriter<S>>>,
}

impl<S: Sink> Turns<S> {
    pub(super) fn new(writer: GroupWriter<S>) -> Self {
        Self { shared: Arc::clone(&writer.shared), writer: Mutex::new(Some(writer)) }
    }

    /// Runs `work` and ends the turn. After a panic of `work`, queued writes are refused, and so
    /// are later ones.
    fn turn(&self, work: impl FnOnce(&mut GroupWriter<S>)) {
        let mut writer = self.writer.lock();
        // Without a writer the commands are dropped, which refuses them.
        if let Some(writer) = writer.as_mut()
            && let Err(panic) = catch_panic("the writer of the log", || work(writer))
        {
            let reason = format!("{panic}; nothing is written before the next start");
            let waiting = self.shared.queue.fail(reason.clone());
            // Before any response, so that a client that then queries the reason gets it.
            let _reported = catch_panic("reporting a panic", || writer.sink.died(&reason));
            for command in waiting {
                let (Command::Write(Queued { response, .. }) | Command::Rotate(response)) = command;
                response.send(Err(Error::Unavailable(reason.clone())));
            }
        }
        drop(writer);
        self.shared.queue.end_turn();
    }
}

impl<S: Sink> WriteGroups for Turns<S> {
    fn write_all(&self, commands: Vec<Command>) {
        self.turn(|writer| writer.write_all(commands));
    }

    fn write_inline(&self, group: Vec<Queued>) {
        self.turn(|writer| {
            if writer.takes_long(&group) {
                writer.shared.queue.pass_on(group);
            } else {
                writer.commit(group);
            }
        });
    }

    fn close(&self) {
        drop(self.writer.lock().take());
    }
}

/// A group in the log.
struct Appended {
    /// The position of its first record.
    first: Lsn,
    /// How long the write took, with its sync.
    write_time: Duration,
    is_synced: bool,
}

/// Writes groups, one after the other.
pub(super) struct GroupWriter<S> {
    pub(super) shared: Arc<Shared>,
    pub(super) writer: LogWriter,
    pub(super) copies: DefinitionCopies,
    pub(super) durability: Durability,
    pub(super) sink: S,
}

impl<S: Sink> GroupWriter<S> {
    /// Returns whether a group takes longer than others: it waits for a seal, is written with many
    /// definitions, or makes the segment grow or starts another one.
    fn takes_long(&self, group: &[Queued]) -> bool {
        let definitions = self.sink.unlogged_bytes();
        if definitions > DEFINITIONS_INLINE_BYTES_MAX || self.sink.is_full() {
            return true;
        }
        // Definitions are written twice, and records begin at sectors.
        let payloads: usize = group.iter().map(|queued| queued.payload.len()).sum();
        let bytes = payloads + 2 * definitions + PADDING_BYTES;
        !self.writer.has_room(bytes)
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

    pub(super) fn commit(&mut self, group: Vec<Queued>) {
        // What the disk takes is real time, whatever clock the engine has.
        let clock = Clock::system();
        let started = clock.steady();
        let group = self.claim(group);
        if group.is_empty() {
            return;
        }
        let writers = group.len();
        match self.admit().and_then(|()| self.append(&group)) {
            Ok(Appended { first, write_time, is_synced }) => {
                let mut lsn = first;
                for Queued { applied, response, .. } in group {
                    self.sink.apply(applied);
                    response.send(Ok(lsn));
                    // The thread of the first write may wait for it: it goes on while this one
                    // applies the rest.
                    if lsn == first && writers > 1 {
                        self.shared.queue.wake_first();
                    }
                    lsn = lsn.next();
                }
                let turn_time = clock.steady().saturating_sub(started);
                let group = WrittenGroup { writers, is_synced, write_time, turn_time };
                self.shared.queue.written(&group);
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
        let write_time = clock.steady().saturating_sub(started);
        self.sink.logged(&definitions);
        self.copies.written(&layout, definitions);
        self.shared.copies_bytes.store(self.copies.bytes(), Ordering::Relaxed);
        if matches!(self.durability, Durability::Interval(_)) {
            *self.shared.unsynced.lock() = Some(self.writer.file());
        }
        Ok(Appended { first, write_time, is_synced: sync })
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
