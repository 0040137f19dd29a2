//! Recovery: a database that has stopped for a cause that passes (a full disk, a failing device, no more files) is opened again.
//!
//! RocksDB recovers from a full disk by itself, mostly, and some seconds later. After other failures, a failed write of its log above all,
//! it refuses writes until it is opened again. While it is stopped it still answers reads, so it is not closed before it is likely that
//! it opens again: files like those that it needs are made, synced and held first. Writes that failed are not made true by it (`journal`).

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use super::disk::disk_free;
use super::failure::{io_failure, is_full};
use super::handle::Database;
use super::store::Store;
use crate::error::Result;

/// Looks in a row at which files could be worked on although the database had stopped, after which it is opened again.
const HOPEFUL_LOOKS: u32 = 2;
/// The file that is made to find out; nothing is in it that anybody reads.
const PROBE: &str = "PROBE";
/// Bytes written to it.
const PROBE_BYTES: usize = 64 << 10;
/// Files that a start has open at once besides tables, generously.
const FILES_NEEDED: usize = 64;
/// Bytes of room that opening asks for after a full disk.
const ROOM_BYTES_MIN: u64 = 64 << 20;

/// What recovery remembers from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// Whether it was said that the database has stopped.
    told: bool,
    /// Looks in a row at which files could be worked on.
    hopeful_looks: u32,
}

impl Store {
    /// Opens the database again if it has stopped and the cause is gone. Answers why it does not work, while it does not. To be
    /// called each second.
    pub(crate) fn recover(&self) -> Result<Option<String>> {
        let stopped = self.why_stopped();
        let mut recovery = self.recovery.lock();
        let Some(why) = stopped else {
            if std::mem::take(&mut *recovery).told {
                tracing::warn!("the database takes writes again");
            }
            return Ok(None);
        };
        if !std::mem::replace(&mut recovery.told, true) {
            tracing::error!("the database has stopped, and is tried again each second: {why}");
        }
        let room = if is_full(&why) { ROOM_BYTES_MIN } else { 0 };
        if let Err(error) = self.can_work_on_files(room) {
            recovery.hopeful_looks = 0;
            return Ok(Some(format!("{why} ({error})")));
        }
        recovery.hopeful_looks += 1;
        if recovery.hopeful_looks >= HOPEFUL_LOOKS && self.reopen()? {
            recovery.hopeful_looks = 0;
            return Ok(self.why_stopped());
        }
        Ok(Some(why))
    }

    /// Why nothing can be written, if that is so.
    fn why_stopped(&self) -> Option<String> {
        let Ok(db) = self.db() else {
            return Some("the database is closed, and could not be opened again".to_owned());
        };
        stopped(&db).map(|error| format!("the database has stopped: {}", error.into_string()))
    }

    /// Whether files can be made, written, synced and held as a start does.
    fn can_work_on_files(&self, room: u64) -> Result<()> {
        if disk_free(&self.dir)? < room {
            return Err(io_failure("room on the disk", io::ErrorKind::StorageFull.into()));
        }
        probe(&self.dir).map_err(|error| io_failure("trying files of the database", error))
    }

    /// Opens the database again if it is closed or has stopped. Returns whether it was not in use, so that this could be done.
    ///
    /// Writes that failed before stay failed: see `journal`.
    pub(crate) fn reopen(&self) -> Result<bool> {
        let Some(mut db) = self.without_readers() else { return Ok(false) };
        // Another thread may have opened it since this one saw that it has to be.
        if db.as_ref().is_some_and(|db| stopped(db).is_none()) {
            return Ok(true);
        }
        self.close_files(&mut db);
        *db = Some(Arc::new(self.open_files()?));
        tracing::warn!("the database was opened again: it had stopped");
        Ok(true)
    }

    /// Closes the database, if it is open, to open it again.
    pub(super) fn close_files(&self, db: &mut Option<Arc<Database>>) {
        if let Some(open) = db.take() {
            self.journal.closing(&open);
        }
    }
}

/// Why the database has stopped for good. What damage has stopped is for [`Store::tend`].
fn stopped(db: &Database) -> Option<rocksdb::Error> {
    db.background_error().filter(|error| error.kind() != rocksdb::ErrorKind::Corruption)
}

#[cfg(test)]
impl Store {
    /// Closes the database, as where it could not be opened again.
    pub(crate) fn close(&self) {
        self.close_files(&mut self.db.write());
    }
}

fn probe(dir: &Path) -> io::Result<()> {
    let path = dir.join(PROBE);
    let tried = try_files(&path);
    let removed = fs::remove_file(&path);
    tried.and(removed)
}

fn try_files(path: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&[0; PROBE_BYTES])?;
    file.sync_all()?;
    let held: io::Result<Vec<File>> = (0..FILES_NEEDED).map(|_| File::open(path)).collect();
    held.map(drop)
}
