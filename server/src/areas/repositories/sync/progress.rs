//! The syncs that this process runs now, and how far each is.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::areas::repositories::ids::SyncId;

/// How far a sync is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) struct SyncProgress {
    pub(super) step: SyncStep,
    /// Files that were read so far, and those that are to be read.
    pub(super) files_done: u64,
    pub(super) files_total: u64,
}

/// The steps of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) enum SyncStep {
    /// The commit is fetched.
    Fetching,
    /// Its files are read.
    Reading,
    /// The index is made and stored.
    Indexing,
}

/// The syncs that this process runs.
#[derive(Debug, Default)]
pub(in crate::areas::repositories) struct RunningSyncs(Mutex<BTreeMap<SyncId, SyncProgress>>);

/// A sync that runs. Ends when it is dropped.
#[derive(Debug)]
pub(super) struct RunningSync<'a> {
    id: SyncId,
    all: &'a RunningSyncs,
}

impl SyncStep {
    /// Returns the name in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fetching => "fetching",
            Self::Reading => "reading",
            Self::Indexing => "indexing",
        }
    }
}

impl RunningSyncs {
    /// Begins a sync; `None` if it runs already.
    pub(super) fn begin(&self, id: SyncId) -> Option<RunningSync<'_>> {
        let first = SyncProgress { step: SyncStep::Fetching, files_done: 0, files_total: 0 };
        let mut running = self.0.lock();
        if running.contains_key(&id) {
            return None;
        }
        running.insert(id, first);
        drop(running);
        // Made after the lock is released: dropping it takes the lock.
        Some(RunningSync { id, all: self })
    }

    /// Returns how far a sync is; `None` if it does not run.
    pub(in crate::areas::repositories) fn get(&self, id: SyncId) -> Option<SyncProgress> {
        self.0.lock().get(&id).copied()
    }
}

impl RunningSync<'_> {
    /// Shows how far it is.
    pub(super) fn set(&self, progress: SyncProgress) {
        self.all.0.lock().insert(self.id, progress);
    }
}

impl Drop for RunningSync<'_> {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.id);
    }
}
