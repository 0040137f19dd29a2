//! The indexes in memory: those that were asked lately, up to a number of bytes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use telltale_engine::{Cancellation, Engine, Error, FileDigest, MemoryOwner};

use super::error::RepositoryError;
use super::index::Index;
use super::limits;
use super::repository::StoredFile;

/// The indexes in memory.
#[derive(Debug)]
pub(super) struct IndexCache {
    bytes_max: u64,
    /// Those that may be used again, the last used one at the end.
    entries: Mutex<Vec<Arc<LoadedIndex>>>,
    /// Held while an index is read, so that requests that want the same one read it once.
    loading: Mutex<HashMap<FileDigest, Arc<Mutex<()>>>>,
    /// Files of repositories that could not be read, until they are made anew.
    lost: Mutex<HashSet<FileDigest>>,
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
            lost: Mutex::default(),
            bytes: Arc::default(),
        }
    }

    /// Returns how many bytes indexes may take together.
    pub(super) fn bytes_max(&self) -> u64 {
        self.bytes_max
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
        let loading = Arc::clone(self.loading.lock().entry(file.digest).or_default());
        let held = loading.lock();
        let loaded = match self.find(file.digest) {
            Some(found) => Ok(found),
            None => self.load(engine, file),
        };
        drop(held);
        drop(loading);
        // Others that wait have the lock, too.
        self.loading.lock().retain(|_, lock| Arc::strong_count(lock) > 1);
        if matches!(loaded, Err(RepositoryError::IndexLost(_))) {
            self.set_lost(file.digest);
        }
        loaded
    }

    /// Remembers that a file cannot be read, so that the next sync makes it anew.
    pub(super) fn set_lost(&self, digest: FileDigest) {
        self.lost.lock().insert(digest);
    }

    /// Forgets that a file could not be read: it was made anew.
    pub(super) fn forget_lost(&self, digest: FileDigest) {
        self.lost.lock().remove(&digest);
    }

    /// Returns whether a file could not be read.
    pub(super) fn is_lost(&self, digest: FileDigest) -> bool {
        self.lost.lock().contains(&digest)
    }

    fn load(&self, engine: &Engine, file: StoredFile) -> Result<Arc<LoadedIndex>, RepositoryError> {
        // Room is made and memory reserved first.
        let bytes = file.memory_bytes.saturating_mul(limits::INDEX_READING_FACTOR);
        self.trim(bytes);
        let _reserved = engine.memory().take(MemoryOwner::Answers, bytes)?;
        let contents = match engine.files().read_sized(file.digest, file.bytes) {
            Ok(Some(contents)) => contents,
            Ok(None) => return Err(RepositoryError::IndexLost("the file is missing".to_owned())),
            Err(Error::Corrupt(what)) => return Err(RepositoryError::IndexLost(what)),
            Err(error) => return Err(error.into()),
        };
        Ok(self.keep(file.digest, Index::open(contents)?))
    }

    /// Keeps the opened index of a file: a sync has just stored it, and the first question does not
    /// have to read it.
    pub(super) fn keep(&self, digest: FileDigest, index: Index) -> Arc<LoadedIndex> {
        let index = index.with_stop(|| Cancellation::check_current().is_err());
        let bytes = index.memory_bytes();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let all = Arc::clone(&self.bytes);
        let loaded = Arc::new(LoadedIndex { digest, index, bytes, all });
        let mut entries = self.entries.lock();
        let same = entries.iter().position(|entry| entry.digest == digest);
        let replaced = same.map(|at| entries.remove(at));
        entries.push(Arc::clone(&loaded));
        drop(entries);
        // Dropped without the lock: it takes a while.
        drop(replaced);
        self.trim(0);
        loaded
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

    /// Forgets those that were not used for the longest time, until there is room for `bytes`. The
    /// last used one is kept: a sync stores none that is larger than all may be together.
    fn trim(&self, bytes: u64) {
        let mut entries = self.entries.lock();
        let mut kept: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let mut forgotten = 0;
        for entry in entries.iter().rev().skip(1).rev() {
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
