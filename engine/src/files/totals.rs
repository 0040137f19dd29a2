//! How many files are stored, and their bytes.

use parking_lot::Mutex;

/// The totals of the stored files, kept up to date.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Count and bytes.
    stored: Mutex<(u64, u64)>,
}

impl Totals {
    pub(super) fn count(&self) -> u64 {
        self.stored.lock().0
    }

    pub(super) fn bytes(&self) -> u64 {
        self.stored.lock().1
    }

    /// Records that a file was stored, in place of one of `replaced` bytes if there was one.
    pub(super) fn add(&self, bytes: u64, replaced: Option<u64>) {
        let mut stored = self.stored.lock();
        match replaced {
            Some(replaced) => stored.1 = stored.1.saturating_sub(replaced),
            None => stored.0 += 1,
        }
        stored.1 += bytes;
    }

    /// Records that a file was deleted.
    pub(super) fn remove(&self, bytes: u64) {
        let mut stored = self.stored.lock();
        // Other programs may have deleted or changed files.
        stored.0 = stored.0.saturating_sub(1);
        stored.1 = stored.1.saturating_sub(bytes);
    }
}
