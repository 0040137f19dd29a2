//! The directory of now, which is read again after a change of the configuration.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::directory::Directory;
use crate::app::App;
use crate::areas::alerting::error::AlertingError;

/// Remembers the directory that was read last.
#[derive(Debug, Default)]
pub(in crate::areas::alerting) struct CurrentDirectory {
    latest: Mutex<Latest>,
    /// What it takes in memory, for readers that must not wait.
    bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Latest {
    /// The generation of the documents before they were read; `None` before the first time.
    generation: Option<u64>,
    directory: Arc<Directory>,
}

impl CurrentDirectory {
    /// Returns the directory with all changes that were committed before the call. Blocks.
    pub(in crate::areas::alerting) fn get(
        &self,
        app: &App,
    ) -> Result<Arc<Directory>, AlertingError> {
        let mut latest = self.latest.lock();
        let generation = Some(app.alerting().documents().generation());
        if latest.generation != generation {
            latest.directory = Arc::new(Directory::load(app, &latest.directory)?);
            latest.generation = generation;
            self.bytes.store(latest.directory.memory_bytes(), Ordering::Relaxed);
        }
        Ok(Arc::clone(&latest.directory))
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::alerting) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}
