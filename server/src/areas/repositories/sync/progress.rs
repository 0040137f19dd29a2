//! The syncs that this process runs now, how far each is, and whether it is to end.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

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
pub(in crate::areas::repositories) struct RunningSyncs(Mutex<BTreeMap<SyncId, Running>>);

/// How far a sync is, and whether it is to end.
#[derive(Debug)]
struct Running {
    progress: SyncProgress,
    cancellation: CancellationToken,
}

/// A sync that runs. Ends when it is dropped.
#[derive(Debug)]
pub(super) struct RunningSync<'a> {
    id: SyncId,
    cancellation: CancellationToken,
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
        let progress = SyncProgress { step: SyncStep::Fetching, files_done: 0, files_total: 0 };
        let cancellation = CancellationToken::new();
        let mut running = self.0.lock();
        if running.contains_key(&id) {
            return None;
        }
        running.insert(id, Running { progress, cancellation: cancellation.clone() });
        drop(running);
        // Made after the lock is released: dropping it takes the lock.
        Some(RunningSync { id, cancellation, all: self })
    }

    /// Ends syncs that run: their repository is deleted.
    pub(in crate::areas::repositories) fn cancel(&self, ids: &[SyncId]) {
        let running = self.0.lock();
        for found in ids.iter().filter_map(|id| running.get(id)) {
            found.cancellation.cancel();
        }
    }

    /// Returns how far a sync is; `None` if it does not run.
    pub(in crate::areas::repositories) fn get(&self, id: SyncId) -> Option<SyncProgress> {
        self.0.lock().get(&id).map(|running| running.progress)
    }
}

impl RunningSync<'_> {
    /// Shows how far it is.
    pub(super) fn set(&self, progress: SyncProgress) {
        if let Some(running) = self.all.0.lock().get_mut(&self.id) {
            running.progress = progress;
        }
    }

    /// Waits until the sync is to end.
    pub(super) async fn cancelled(&self) {
        self.cancellation.cancelled().await;
    }
}

impl Drop for RunningSync<'_> {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.id);
    }
}
