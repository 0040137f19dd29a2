//! Recovery: reopens a database that stopped for a transient cause (a full disk, a failing device,
//! too many open files).
//!
//! RocksDB usually recovers from a full disk by itself after some seconds. After other failures,
//! above all a failed write of its log, it refuses writes until it is reopened. A stopped database
//! still serves reads, so it is not closed before the open is likely to succeed: first, files like
//! those it needs are created, synced and held open. Writes that failed are not applied by
//! reopening (`journal`).

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use super::database::Database;
use super::disk::disk_free;
use super::rocksdb_error::{io_failure, is_full};
use super::store::Store;
use crate::error::Result;

/// Consecutive successful file probes after which a stopped database is reopened.
const PROBES_PASSED_MIN: u32 = 2;
/// Name of the file created by a probe. Its content is never read.
const PROBE: &str = "PROBE";
/// Bytes written to the probe file.
const PROBE_BYTES: usize = 64 << 10;
/// Files that a start has open at once besides tables, estimated generously.
const FILES_NEEDED: usize = 64;
/// Minimum free bytes for reopening after a full disk.
const FREE_BYTES_MIN: u64 = 64 << 20;

/// State of recovery between checks.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// Whether it was reported that the database has stopped.
    reported: bool,
    /// Consecutive successful file probes.
    probes_passed: u32,
}

impl Store {
    /// Reopens the database if it has stopped and the cause has gone. Returns the reason while it
    /// does not work. Called every second.
    pub(crate) fn recover(&self) -> Result<Option<String>> {
        let stopped = self.why_stopped();
        let mut recovery = self.recovery.lock();
        let Some(why) = stopped else {
            if std::mem::take(&mut *recovery).reported {
                tracing::warn!("the database accepts writes again");
            }
            return Ok(None);
        };
        if !std::mem::replace(&mut recovery.reported, true) {
            tracing::error!("the database has stopped; reopening is tried every second: {why}");
        }
        let free_min = if is_full(&why) { FREE_BYTES_MIN } else { 0 };
        if let Err(error) = self.check_files(free_min) {
            recovery.probes_passed = 0;
            return Ok(Some(format!("{why} ({error})")));
        }
        recovery.probes_passed += 1;
        if recovery.probes_passed >= PROBES_PASSED_MIN && self.reopen()? {
            recovery.probes_passed = 0;
            return Ok(self.why_stopped());
        }
        Ok(Some(why))
    }

    /// Returns why writes are impossible, if they are.
    fn why_stopped(&self) -> Option<String> {
        let Ok(db) = self.db() else {
            return Some("the database is closed and could not be reopened".to_owned());
        };
        stopped(&db).map(|error| format!("the database has stopped: {}", error.into_string()))
    }

    /// Checks that files can be created, written, synced and held open as a start needs it.
    fn check_files(&self, free_min: u64) -> Result<()> {
        if disk_free(&self.dir)? < free_min {
            return Err(io_failure("free disk space", io::ErrorKind::StorageFull.into()));
        }
        probe(&self.dir).map_err(|error| io_failure("probing files of the database", error))
    }

    /// Reopens the database if it is closed or has stopped. Returns `false` if it was in use and so
    /// could not be reopened.
    ///
    /// Earlier failed writes stay failed: see `journal`.
    pub(crate) fn reopen(&self) -> Result<bool> {
        let Some(mut db) = self.without_readers() else { return Ok(false) };
        // Another thread may have reopened it in the meantime.
        if db.as_ref().is_some_and(|db| stopped(db).is_none()) {
            return Ok(true);
        }
        self.close_files(&mut db);
        *db = Some(Arc::new(self.open_files()?));
        tracing::warn!("the database had stopped and was reopened");
        Ok(true)
    }

    /// Closes the database, if it is open, in order to reopen it.
    pub(super) fn close_files(&self, db: &mut Option<Arc<Database>>) {
        if let Some(open) = db.take() {
            self.journal.closing(&open);
        }
    }
}

/// Returns why the database has stopped until it is reopened. Stops caused by damage are handled by
/// [`Store::tend`].
fn stopped(db: &Database) -> Option<rocksdb::Error> {
    db.background_error().filter(|error| error.kind() != rocksdb::ErrorKind::Corruption)
}

#[cfg(test)]
impl Store {
    /// Closes the database, as after a failed reopen.
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
