//! An open database, and how it is closed.

use std::ops::Deref;

use rocksdb::{DB, ErrorKind, WaitForCompactOptions};

/// An open database, which is closed when it is dropped.
pub(super) struct Database(DB);

impl Database {
    pub(super) fn new(db: DB) -> Self {
        Self(db)
    }

    /// Why background work has stopped, if it has. After a full disk RocksDB goes on by itself once there is room.
    pub(super) fn background_error(&self) -> Option<rocksdb::Error> {
        // The only question of the binding that is answered by it: waiting ends at once where there is one.
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
        // Closing waits for a recovery from a full disk that is under way, and that may wait for a flush that nobody does: it is
        // only heard that the database closes when that is said first.
        self.0.cancel_all_background_work(false);
    }
}
