//! Repair of damage that is met while the database is open.
//!
//! RocksDB names the damaged table in the error of a read or in its log. Such a *suspect* is
//! repaired in place from its guard, and the read is retried: RocksDB caches nothing that failed
//! its checksum. A table without a guard, or with more damage than its guard can repair, is
//! removed: its readable entries are rewritten in a new table, and the file moves to a directory
//! beside the database.
//!
//! A compaction that meets damage makes RocksDB refuse all writes until it is reopened. So the
//! store closes and reopens it once it has no readers; writers wait for that.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rocksdb::{LiveFile, WriteBatch, WriteOptions};

use super::batch::Sync;
use super::database::Database;
use super::findings::{repaired_table, tables_named};
use super::guard::Health;
use super::keyspace::Keyspace;
use super::open;
use super::rocksdb_error::{failure, io_failure};
use super::store::{Store, family};
use super::table_removal::{keyspace_of, number_of, remove_tables, rows_of};
use crate::error::{Error, Result};

/// How long a reopen waits for readers between two checks, and how often it checks.
const READERS_WAIT: Duration = Duration::from_millis(10);
const READERS_CHECKS: usize = 500;
/// Bytes of tables for which one pass creates guards; the next pass continues.
const GUARDED_BYTES_PER_PASS: u64 = 128 << 20;
/// How often RocksDB may complain about a table that is intact according to its guard.
const COMPLAINTS_MAX: usize = 2;

/// How often an operation is retried after repairs: a table that is intact according to its guard
/// is kept for that long before it is removed, and there may be a second one.
const RETRIES_MAX: usize = 2 * (COMPLAINTS_MAX + 1);

/// State of repairs between calls.
#[derive(Debug, Default)]
pub(super) struct RepairState {
    /// The number of background errors at the last check.
    errors: u64,
    /// Tables that have a guard.
    guarded: Option<BTreeSet<u64>>,
    /// Tables that had no guard when the store was opened and have not been read since.
    unread: BTreeSet<u64>,
    /// The length of the manifest when tables were last guarded.
    manifest_bytes: u64,
    /// How often RocksDB complained about tables that are intact according to their guards.
    complaints: BTreeMap<u64, usize>,
}

impl Store {
    /// Repairs what background work complained about, and creates guards of new tables. Called
    /// periodically.
    pub(crate) fn tend(&self) -> Result<()> {
        if self.db.read().is_none() {
            self.reopen()?;
        }
        let errors = self.background_errors()?;
        let has_new_errors =
            std::mem::replace(&mut self.repair_state.lock().errors, errors) != errors;
        if has_new_errors || self.findings.has_suspects() {
            self.repair_damage()?;
        }
        self.guard_tables(GUARDED_BYTES_PER_PASS)
    }

    /// Repairs the tables that reads have complained about. A start does so before anything is
    /// written: the next start could not tell new rows in the range of a damaged page from the
    /// damaged ones.
    ///
    /// Returns whether there was anything to repair, in which case failed reads may be retried.
    pub(crate) fn repair_suspect_tables(&self) -> Result<bool> {
        let any = !self.read_only && self.findings.has_suspects();
        if any {
            self.repair_damage()?;
        }
        Ok(any)
    }

    /// Creates guards of new tables, if the manifest has grown and so there may be any. Called
    /// often: the first damage to a table without a guard is permanent, because the inputs of that
    /// table are deleted.
    pub(crate) fn guard_new_tables(&self) -> Result<()> {
        let bytes = self.guards.manifest_bytes().map_err(|e| io_failure("guarding tables", e))?;
        if self.repair_state.lock().manifest_bytes == bytes {
            return Ok(());
        }
        self.guard_tables(GUARDED_BYTES_PER_PASS)
    }

    /// Creates guards of all tables that have none, and removes those of deleted tables.
    pub(crate) fn guard_all(&self) -> Result<()> {
        self.guard_tables(u64::MAX)
    }

    fn guard_tables(&self, bytes_max: u64) -> Result<()> {
        let mut repair_state = self.repair_state.lock();
        let is_first = repair_state.guarded.is_none();
        if is_first {
            let listing = |error| io_failure("listing the guards of tables", error);
            for number in self.guards.remove_damaged().map_err(listing)? {
                tracing::warn!(number, "the guard of a table was damaged and is removed");
            }
            let guarded = self.guards.guarded().map_err(listing)?;
            repair_state.unread = self.live_tables()?.difference(&guarded).copied().collect();
            repair_state.guarded = Some(guarded);
        }
        let manifest_bytes = self.guards.manifest_bytes();
        let manifest_bytes = manifest_bytes.map_err(|e| io_failure("guarding tables", e))?;
        let files = self.db()?.live_files().map_err(|error| failure("tables", error))?;
        let live: BTreeSet<u64> = files.iter().map(number_of).collect();
        let RepairState { guarded, unread, .. } = &mut *repair_state;
        let guarded = guarded.get_or_insert_default();
        let storing = |error| io_failure("guarding tables", error);
        let mut change = self.guards.change();
        if is_first {
            change.move_small().map_err(storing)?;
        }
        guarded.difference(&live).for_each(|gone| change.remove(*gone));
        let (mut bytes, mut made) = (0, Vec::new());
        let mut failed = None;
        for new in live.difference(guarded).copied() {
            // Not before it was read: the guard of a damaged table would certify it as intact.
            if unread.contains(&new) {
                match self.read_table(&files, new) {
                    Ok(true) => drop(unread.remove(&new)),
                    Ok(false) => continue,
                    Err(error) => {
                        failed = Some(error);
                        continue;
                    }
                }
            }
            if self.findings.is_suspect(new) {
                continue;
            }
            match change.make(new) {
                Ok(table_bytes) => bytes += table_bytes,
                // A compaction has replaced it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    failed = Some(storing(error));
                    break;
                }
            }
            made.push(new);
            if bytes >= bytes_max {
                break;
            }
        }
        // Guards that were made count in any case: made again later, they could certify damage.
        if let Err(error) = change.store() {
            *guarded = self.guards.guarded().map_err(storing)?;
            return Err(storing(error));
        }
        guarded.retain(|number| live.contains(number));
        guarded.extend(made);
        if let Some(error) = failed {
            return Err(error);
        }
        if bytes < bytes_max {
            repair_state.manifest_bytes = manifest_bytes;
        }
        let db = self.db()?;
        let copied = self.guards.copy_manifest(|| db.background_error().is_none());
        let copied = copied.map_err(|error| io_failure("copying the manifest", error))?;
        self.findings.note_manifest(copied);
        Ok(())
    }

    /// Reads all entries in the range of a table, and returns whether that succeeded. Tables that
    /// make it fail, this one or others, become suspects.
    fn read_table(&self, files: &[LiveFile], number: u64) -> Result<bool> {
        let Some(file) = files.iter().find(|file| number_of(file) == number) else {
            unreachable!("table {number} is one of the listed files")
        };
        let db = self.db()?;
        let (Some(keyspace), Some(mut raw)) = (keyspace_of(file), rows_of(&db, file)) else {
            // A table without keys.
            return Ok(true);
        };
        raw.seek_to_first();
        while raw.valid() {
            raw.next();
        }
        if let Err(error) = raw.status() {
            tracing::error!(%error, number, "a table of {} without a guard cannot be read", keyspace.name());
            let named: Vec<u64> = tables_named(error.as_ref()).collect();
            let suspects = if named.is_empty() { vec![number] } else { named };
            suspects.into_iter().for_each(|suspect| self.findings.suspect(suspect));
            return Ok(false);
        }
        Ok(true)
    }

    fn live_tables(&self) -> Result<BTreeSet<u64>> {
        let files = self.db()?.live_files().map_err(|error| failure("tables", error))?;
        Ok(files.iter().map(number_of).collect())
    }

    /// Repairs the tables named by the error of a read. Returns whether the read should be retried.
    pub(super) fn repair_after(&self, error: &Error) -> bool {
        if self.read_only {
            return false;
        }
        // Not the recorded suspects: another thread may be repairing this table right now, and a
        // retry is still worthwhile.
        let suspects = tables_named(&error.to_string()).collect();
        let mut repair_state = self.repair_state.lock();
        self.repair_suspects(&mut repair_state, suspects).0
    }

    /// Repairs suspects. Returns whether one was repaired, or found intact for the first few times,
    /// and those that cannot be repaired.
    fn repair_suspects(
        &self,
        repair_state: &mut RepairState,
        suspects: BTreeSet<u64>,
    ) -> (bool, BTreeSet<u64>) {
        let mut any = false;
        let mut unrepairable = BTreeSet::new();
        for number in suspects {
            match self.guards.repair(number) {
                Ok(Health::Repairable(sectors)) => {
                    self.findings.report(repaired_table(number, sectors));
                    any = true;
                }
                // Repaired by another reader just now, or already damaged when the guard was made.
                Ok(Health::Intact) => {
                    let complaints = repair_state.complaints.entry(number).or_default();
                    *complaints += 1;
                    if *complaints <= COMPLAINTS_MAX {
                        any = true;
                    } else {
                        unrepairable.insert(number);
                    }
                }
                Ok(Health::Unguarded | Health::BeyondRepair(_)) => {
                    unrepairable.insert(number);
                }
                Err(error) => tracing::error!(%error, number, "a damaged table cannot be repaired"),
            }
        }
        for number in &unrepairable {
            // For the next pass, which removes them.
            self.findings.suspect(*number);
        }
        (any, unrepairable)
    }

    /// Runs `work`, and repairs and retries as long as background work has met damage and repairs
    /// help.
    pub(super) fn retry_after_repair<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        for _ in 0..RETRIES_MAX {
            match work() {
                Err(Error::Corrupt(_)) if self.repair_damage()? => {}
                outcome => return outcome,
            }
        }
        work()
    }

    /// Repairs suspects, removes tables that cannot be repaired, and reopens the database if it
    /// refuses writes. Returns whether a failed write may be retried.
    pub(super) fn repair_damage(&self) -> Result<bool> {
        let mut repair_state = self.repair_state.lock();
        let mut suspects = self.findings.take_suspects();
        if suspects.is_empty() && self.refuses_writes()? {
            // RocksDB does not name the table for damage to some parts of it.
            suspects = self.doubtful_tables()?;
        }
        // Such a table stays open and misread, whatever its file contains by now.
        let misread = self.findings.take_misread();
        let (repaired, unrepairable) = self.repair_suspects(&mut repair_state, suspects);
        let live = self.live_tables()?;
        let unrepairable: BTreeSet<u64> = unrepairable.intersection(&live).copied().collect();
        if unrepairable.is_empty() && !misread && !self.refuses_writes()? {
            self.findings.take_suspects();
            return Ok(repaired);
        }
        let Some(mut db) = self.without_readers() else {
            tracing::warn!("damage was found; the repair waits until the database has no readers");
            return Ok(false);
        };
        self.close_files(&mut db);
        self.findings.take_suspects();
        if !unrepairable.is_empty() {
            let set_aside = || open::set_aside(&self.dir);
            let taken = (self.journal.repair(&self.findings, set_aside))
                .and_then(|_read| set_aside())
                .map_err(|error| io_failure("moving damaged files", error))
                .and_then(|aside| {
                    let of = (self.dir.as_path(), &self.guards);
                    remove_tables(of, &self.shared, &self.findings, &unrepairable, &aside)
                });
            if let Err(error) = taken {
                tracing::error!(%error, "damaged tables cannot be removed");
            }
        }
        *db = Some(Arc::new(self.open_files()?));
        drop(db);
        repair_state.errors = self.background_errors()?;
        tracing::warn!("the database was reopened after damage");
        Ok(true)
    }

    pub(super) fn open_files(&self) -> Result<Database> {
        open::open(&self.dir, &self.shared, &self.guards, &self.journal, &self.findings)
    }

    /// Returns the tables that differ from their guards or, if there are none, those that have no
    /// guard.
    fn doubtful_tables(&self) -> Result<BTreeSet<u64>> {
        let (mut damaged, mut unguarded) = (BTreeSet::new(), BTreeSet::new());
        for number in self.live_tables()? {
            match self.guards.check(number) {
                Ok(Health::Intact) => {}
                Ok(Health::Unguarded) => {
                    unguarded.insert(number);
                }
                // A table that cannot be read at all is as doubtful.
                Ok(Health::Repairable(_) | Health::BeyondRepair(_)) | Err(_) => {
                    damaged.insert(number);
                }
            }
        }
        Ok(if damaged.is_empty() { unguarded } else { damaged })
    }

    /// Returns whether RocksDB refuses writes. It does so after background work met damage, and no
    /// property but the number of background errors shows it.
    fn refuses_writes(&self) -> Result<bool> {
        let db = self.db()?;
        let mut nothing = WriteBatch::default();
        self.journal.stamp(&mut nothing);
        nothing.delete_cf(family(&db, Keyspace::Quarantine), b"");
        let mut options = WriteOptions::default();
        options.set_sync(false);
        let _begun = self.journal.start(&db, Sync::No);
        Ok(db
            .write_opt(nothing, &options)
            .is_err_and(|e| e.kind() == rocksdb::ErrorKind::Corruption))
    }

    /// Returns exclusive access to the database, if all readers release it soon.
    pub(super) fn without_readers(
        &self,
    ) -> Option<parking_lot::RwLockWriteGuard<'_, Option<Arc<Database>>>> {
        let waiting = Mutex::new(());
        let passing = parking_lot::Condvar::new();
        for _ in 0..READERS_CHECKS {
            let db = self.db.write();
            if db.as_ref().is_none_or(|db| Arc::strong_count(db) == 1) {
                return Some(db);
            }
            // A reader that holds a value may need another one before it releases the first.
            drop(db);
            passing.wait_for(&mut waiting.lock(), READERS_WAIT);
        }
        None
    }
}

impl Store {
    /// Compares every table with its guard and every copied keyspace with its copy, and reads the
    /// log. Changes nothing; adds one line to `damaged` per damaged part.
    pub(crate) fn verify_files(&self, damaged: &mut Vec<String>) -> Result<()> {
        for number in self.live_tables()? {
            match self.guards.check(number) {
                Ok(Health::Repairable(sectors)) => damaged.push(format!(
                    "table {number:06}.sst of the database: {sectors} sectors of 4 KB are damaged and will be repaired"
                )),
                Ok(Health::BeyondRepair(sectors)) => damaged.push(format!(
                    "table {number:06}.sst of the database: {sectors} sectors of 4 KB are damaged, more than can be repaired"
                )),
                Ok(Health::Intact | Health::Unguarded) => {}
                // A compaction has replaced it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(io_failure("reading tables", error)),
            }
        }
        let checked = self.journal.check(damaged);
        checked.map_err(|error| io_failure("reading the database's log", error))?;
        damaged.extend(self.compare_copies()?);
        Ok(())
    }
}
