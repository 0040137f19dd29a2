//! An open database, and how it is closed.

use std::ops::Deref;

use rocksdb::{DB, ErrorKind, WaitForCompactOptions};

/// An open database. Dropping it closes it.
pub(super) struct Database(DB);

impl Database {
    pub(super) fn new(db: DB) -> Self {
        Self(db)
    }

    /// Returns why background work has stopped, if it has. After a full disk RocksDB resumes by
    /// itself once there is space.
    pub(super) fn background_error(&self) -> Option<rocksdb::Error> {
        // No other call of the binding reports this error: waiting returns at once if there is one.
        let mut options = WaitForCompactOptions::default();
        options.set_timeout(1);
        let waited = self.0.wait_for_compact(&options);
        waited.err().filter(|error| error.kind() != ErrorKind::TimedOut)
    }
}

impl Deref for Database {
    type Target = DB;

    fn deref(&self) -> &DB {
        &self.0
    }
}

#[cfg(test)]
impl std::ops::DerefMut for Database {
    fn deref_mut(&mut self) -> &mut DB {
        &mut self.0
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Closing waits for a running recovery from a full disk, which may wait for a flush that
        // never runs. It only notices that the database closes if background work is cancelled
        // first.
        self.0.cancel_all_background_work(false);
    }
}
