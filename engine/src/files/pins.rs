//! Pins: which files must not be deleted although nothing refers to them yet.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::digest::FileDigest;

/// The number of pins of each pinned file.
#[derive(Debug, Default)]
pub(super) struct Pins {
    counts: Mutex<HashMap<FileDigest, usize>>,
}

/// A stored file that is not deleted as long as this exists. It is not cloned: store the contents
/// again for another one.
#[must_use = "the file may be deleted once this is dropped"]
pub struct PinnedFile {
    pins: Arc<Pins>,
    digest: FileDigest,
}

impl Pins {
    /// Pins a file.
    pub(super) fn pin(self: &Arc<Self>, digest: FileDigest) -> PinnedFile {
        *self.counts.lock().entry(digest).or_default() += 1;
        PinnedFile { pins: Arc::clone(self), digest }
    }

    /// Returns whether a pin of the file exists.
    pub(super) fn has(&self, digest: FileDigest) -> bool {
        self.counts.lock().contains_key(&digest)
    }
}

impl PinnedFile {
    /// Returns the name of the file.
    pub fn digest(&self) -> FileDigest {
        self.digest
    }

    /// Keeps the file until the engine is closed: for when it is not known whether a change that
    /// names it will be found at the next start.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for PinnedFile {
    fn drop(&mut self) {
        let mut counts = self.pins.counts.lock();
        if let Some(count) = counts.get_mut(&self.digest) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.digest);
            }
        }
    }
}

impl fmt::Debug for PinnedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PinnedFile").field(&self.digest).finish()
    }
}
