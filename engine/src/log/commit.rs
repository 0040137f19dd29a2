//! Group commit: one thread at a time writes the log, so that concurrent writers share a write and
//! a sync.
//!
//! ```text
//! writers ─submit─▶ queue ──▶ committing thread: take all ─┐
//!              └─ fast disk, few writers: inline ──────────┴▶ append (+ sync) ─▶ apply ─▶ respond
//! ```
//!
//! While one group is being synced the next one gathers, so each writer waits for at most two syncs
//! and the disk performs one operation per group; writers that will be there soon are waited for
//! ([`super::gathering`]). A record is applied to the heads in log order and before its write is
//! acknowledged: writers can read what was acknowledged to them.
//!
//! Who has the turn to write ([`super::group_writer`]) also claims receipts: of several writes with
//! the same receipt, from any clients and at any time, one is logged and the others are refused
//! with [`crate::Refusal::Conflict`].
//!
//! # Panics
//!
//! After a panic of whoever writes the heads may lack records that the log contains, so nothing is
//! written any more: queued and later writes are refused at once, and the next start replays the
//! log. The background syncing thread has no state in memory: its panic counts as a failed sync,
//! and it continues. A panic of a writer's callback affects only that writer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use super::definition_copies::DefinitionCopies;
use super::group_writer::{GroupWriter, Shared, Turns, WriteGroups};
use super::record::Definitions;
use super::segment::Segments;
use super::segment_file::Writes;
use super::sink::Sink;
use super::write_queue::Submission;
use super::writer::{FileOps, LogWriter};
use crate::error::{Error, Result};
use crate::model::Lsn;
use crate::options::Durability;
use crate::panics::catch_panic;

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
        let writer = GroupWriter { shared: Arc::clone(&shared), writer, copies, durability, sink };
        let writer: Arc<dyn WriteGroups> = Arc::new(Turns::new(writer));
        let committing = (Arc::clone(&shared), Arc::clone(&writer));
        threads.push(spawn("telltale-commit", Box::new(move || committing_thread(committing)))?);
        if let Durability::Interval(period) = durability {
            let shared = Arc::clone(&shared);
            threads
                .push(spawn("telltale-sync", Box::new(move || sync_every(&shared, period, &ops)))?);
        }
        Ok(Self { shared, writer, threads: Mutex::new(threads) })
    }

    /// Queues a write. Its `done` is called by the thread that writes it, or by this call if it is
    /// refused. That is the committing thread or, on a fast disk, one that submits a write and may
    /// block, as this one may ([`super::inline`]).
    pub(crate) fn submit(&self, submission: Submission) {
        if let Some(group) = self.shared.queue.submit(submission) {
            self.writer.write_inline(group);
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

fn committing_thread((shared, writer): (Arc<Shared>, Arc<dyn WriteGroups>)) {
    while let Some(commands) = shared.queue.take() {
        writer.write_all(commands);
    }
    writer.close();
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
