//! The memory of compactions, for the memory account.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes that compactions of one kind of blocks hold. One compaction runs at a time.
#[derive(Debug, Default)]
pub(crate) struct CompactionMemory {
    current: AtomicUsize,
    peak: AtomicUsize,
}

impl CompactionMemory {
    /// Sets the bytes that the current compaction holds.
    pub(crate) fn set(&self, bytes: usize) {
        self.current.store(bytes, Ordering::Relaxed);
        self.peak.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes that the current compaction holds.
    pub(crate) fn current(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    /// Returns the largest number of bytes that a compaction has held since the engine was opened.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
}
