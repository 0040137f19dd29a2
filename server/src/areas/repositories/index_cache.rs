//! The indexes in memory: those that were asked lately, up to a number of bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use telltale_engine::{Engine, Error, FileDigest, MemoryOwner};

use super::error::RepositoryError;
use super::index::Index;
use super::repository::StoredFile;

/// The indexes in memory.
#[derive(Debug)]
pub(super) struct IndexCache {
    bytes_max: u64,
    /// Those that may be used again, the last used one at the end.
    entries: Mutex<Vec<Arc<LoadedIndex>>>,
    /// Held while an index is read, so that requests that want the same one read it once.
    loading: Mutex<()>,
    /// Bytes of all indexes in memory, also of those that are in use but not kept.
    bytes: Arc<AtomicU64>,
}

/// An index in memory.
#[derive(Debug)]
pub(super) struct LoadedIndex {
    digest: FileDigest,
    index: Index,
    bytes: u64,
    all: Arc<AtomicU64>,
}

impl IndexCache {
    /// Returns an empty cache.
    pub(super) fn new(bytes_max: u64) -> Self {
        Self {
            bytes_max,
            entries: Mutex::default(),
            loading: Mutex::default(),
            bytes: Arc::default(),
        }
    }

    /// Returns an index, which is read unless it is in memory. Blocks.
    pub(super) fn get(
        &self,
        engine: &Engine,
        file: StoredFile,
    ) -> Result<Arc<LoadedIndex>, RepositoryError> {
        if let Some(found) = self.find(file.digest) {
            return Ok(found);
        }
        let _loading = self.loading.lock();
        if let Some(found) = self.find(file.digest) {
            return Ok(found);
        }
        // Room is made and memory reserved first: an index takes somewhat more than its file.
        self.trim(file.bytes.saturating_mul(2));
        let _reserved = engine.memory().take(MemoryOwner::Answers, file.bytes.saturating_mul(2))?;
        let contents = match engine.files().read_sized(file.digest, file.bytes) {
            Ok(Some(contents)) => contents,
            Ok(None) => return Err(RepositoryError::IndexLost("the file is missing".to_owned())),
            Err(Error::Corrupt(what)) => return Err(RepositoryError::IndexLost(what)),
            Err(error) => return Err(error.into()),
        };
        let index = Index::open(contents)?;
        let bytes = index.memory_bytes();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let all = Arc::clone(&self.bytes);
        let loaded = Arc::new(LoadedIndex { digest: file.digest, index, bytes, all });
        self.entries.lock().push(Arc::clone(&loaded));
        self.trim(0);
        Ok(loaded)
    }

    /// Returns the bytes of all indexes in memory.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn find(&self, digest: FileDigest) -> Option<Arc<LoadedIndex>> {
        let mut entries = self.entries.lock();
        let at = entries.iter().position(|entry| entry.digest == digest)?;
        let found = entries.remove(at);
        entries.push(Arc::clone(&found));
        Some(found)
    }

    /// Forgets those that were not used for the longest time, until there is room for `bytes`.
    fn trim(&self, bytes: u64) {
        let mut entries = self.entries.lock();
        let mut kept: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let mut forgotten = 0;
        for entry in entries.iter() {
            if kept.saturating_add(bytes) <= self.bytes_max {
                break;
            }
            kept -= entry.bytes;
            forgotten += 1;
        }
        let forgotten: Vec<_> = entries.drain(..forgotten).collect();
        drop(entries);
        // Dropped without the lock: it takes a while.
        drop(forgotten);
    }
}

impl LoadedIndex {
    /// Returns the index.
    pub(super) fn index(&self) -> &Index {
        &self.index
    }
}

impl Drop for LoadedIndex {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
