//! How much memory a merge takes, for whoever adds up what the process takes.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes that merges of one kind of blocks hold. One merge runs at a time.
#[derive(Debug, Default)]
pub(crate) struct MergeMemory {
    current: AtomicUsize,
    peak: AtomicUsize,
}

impl MergeMemory {
    /// Sets what the merge holds now.
    pub(crate) fn set(&self, bytes: usize) {
        self.current.store(bytes, Ordering::Relaxed);
        self.peak.fetch_max(bytes, Ordering::Relaxed);
    }

    /// What it holds.
    pub(crate) fn current(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    /// The most that any merge held since the engine was opened.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
}
