//! What an open engine consists of, shared by the clones of its handle. Dropping it ends the
//! threads.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;

use crate::damage::DamageList;
use crate::documents::Documents;
use crate::files::Files;
use crate::log::{Committer, Segments};
use crate::maintenance::MaintenanceWorker;
use crate::records::Records;
use crate::storage::Store;
use crate::telemetry::{MaintenanceState, Telemetry};
use crate::trusted_time::TrustedClock;

/// The parts of an open engine.
#[derive(Debug)]
pub(crate) struct EngineInner {
    pub(crate) dir: PathBuf,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) documents: Arc<Documents>,
    pub(crate) trusted: Arc<TrustedClock>,
    pub(crate) records: Records,
    pub(crate) files: Files,
    pub(crate) store: Arc<Store>,
    pub(crate) segments: Segments,
    pub(crate) committer: Arc<Committer>,
    pub(crate) worker: Arc<MaintenanceWorker>,
    pub(crate) maintenance_state: Arc<MaintenanceState>,
    /// What was found damaged and no operator has seen yet.
    pub(crate) damage: Arc<DamageList>,
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
    /// Keeps others out of the directory.
    pub(crate) _lock: File,
}

impl EngineInner {
    /// Ends the threads and waits for them.
    pub(crate) fn stop(&self) {
        self.maintenance_state.stop();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // A panic there has been reported by its own thread.
            let _joined = thread.join();
        }
        self.committer.stop();
    }
}

impl Drop for EngineInner {
    fn drop(&mut self) {
        self.stop();
    }
}
