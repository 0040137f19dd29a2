//! Healing: what happens when the database meets damage while it is open.
//!
//! RocksDB names the table that it complains about, in the error of a read or in its log. Such a *suspect* gets its old bytes
//! back from its guard, in place, and the read is tried again: RocksDB keeps nothing that failed its checksum. One
//! that has no guard, or more damage than a guard makes good, is taken out: what can still be read of its keys is
//! written anew above it, and it goes to a folder beside the database.
//!
//! A compaction that comes across damage makes RocksDB refuse all writes until it is opened again. So the store closes it, once
//! nobody reads, and opens it again; whoever writes waits for that.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rocksdb::{LiveFile, WriteBatch, WriteOptions};

use super::batch::Sync;
use super::failure::{failure, io_failure};
use super::findings::{mended, tables_named};
use super::guard::Health;
use super::handle::Database;
use super::keyspace::Keyspace;
use super::open;
use super::rescue::{keyspace_of, number_of, rows_of, take_out};
use super::store::{Store, family};
use crate::error::{Error, Result};

/// How long an attempt to open again waits for readers, and how often it looks.
const READERS_WAIT: Duration = Duration::from_millis(10);
const READERS_LOOKS: usize = 500;
/// Bytes of tables for which one look makes guards: the rest has its turn at the next look.
const GUARDED_BYTES_PER_LOOK: u64 = 128 << 20;
/// Times that RocksDB may complain of a table that its guard says is whole.
const COMPLAINTS_MAX: usize = 2;

/// Times that something is tried again after healing: a table is believed for as long before it is taken out, and there may be a
/// second one.
const HEALINGS_MAX: usize = 2 * (COMPLAINTS_MAX + 1);

/// What healing remembers from one time to the next.
#[derive(Debug, Default)]
pub(super) struct Healing {
    /// Background errors when last seen.
    errors: u64,
    /// Tables that have a guard.
    guarded: Option<BTreeSet<u64>>,
    /// Tables that had none when the store was opened, and were not read since.
    unread: BTreeSet<u64>,
    /// The bytes of the manifest when tables were guarded last.
    manifest_bytes: u64,
    /// How often RocksDB complained of tables that no guard can help.
    complaints: BTreeMap<u64, usize>,
}

impl Store {
    /// Looks after the files: heals what background work complained about, and guards new tables. To be called every now and then.
    pub(crate) fn tend(&self) -> Result<()> {
        if self.db.read().is_none() {
            self.reopen()?;
        }
        let errors = self.background_errors()?;
        let new = std::mem::replace(&mut self.healing.lock().errors, errors) != errors;
        if new || self.findings.has_suspects() {
            self.heal()?;
        }
        self.guard_tables(GUARDED_BYTES_PER_LOOK)
    }

    /// Heals what reads have come across. A start does so before anything is written: new rows in the range of a damaged page
    /// cannot be told from it by the next start.
    ///
    /// Answers whether there was anything to heal: what failed may be tried again then.
    pub(crate) fn heal_suspects(&self) -> Result<bool> {
        let any = !self.read_only && self.findings.has_suspects();
        if any {
            self.heal()?;
        }
        Ok(any)
    }

    /// Guards new tables, if there are any: the manifest has grown then. To be called often. A table without a guard is one that a single
    /// damage costs, and what it was made of is gone.
    pub(crate) fn guard_new(&self) -> Result<()> {
        let bytes = self.guards.manifest_bytes().map_err(|e| io_failure("guarding tables", e))?;
        if self.healing.lock().manifest_bytes == bytes {
            return Ok(());
        }
        self.guard_tables(GUARDED_BYTES_PER_LOOK)
    }

    /// Makes guards of all tables that have none.
    pub(super) fn guard_all(&self) -> Result<()> {
        self.guard_tables(u64::MAX)
    }

    fn guard_tables(&self, bytes_max: u64) -> Result<()> {
        let mut healing = self.healing.lock();
        if healing.guarded.is_none() {
            for number in self.guards.remove_damaged() {
                tracing::warn!(number, "the guard of a table was damaged, and is removed");
            }
            let guarded: BTreeSet<u64> = self.guards.guarded().into_iter().collect();
            healing.unread = self.live_tables()?.difference(&guarded).copied().collect();
            healing.guarded = Some(guarded);
        }
        let manifest_bytes = self.guards.manifest_bytes();
        let manifest_bytes = manifest_bytes.map_err(|e| io_failure("guarding tables", e))?;
        let files = self.db()?.live_files().map_err(|error| failure("tables", error))?;
        let live: BTreeSet<u64> = files.iter().filter_map(number_of).collect();
        let Healing { guarded, unread, .. } = &mut *healing;
        let guarded = guarded.get_or_insert_default();
        for gone in guarded.difference(&live).copied().collect::<Vec<_>>() {
            self.guards.remove(gone);
            guarded.remove(&gone);
        }
        let mut bytes = 0;
        for new in live.difference(guarded).copied().collect::<Vec<_>>() {
            // Not before it was read: a guard of a damaged table would say that it is whole.
            if unread.contains(&new) && !self.read_table(&files, new)? {
                continue;
            }
            unread.remove(&new);
            if self.findings.is_suspect(new) {
                continue;
            }
            match self.guards.make(new) {
                Ok(made) => bytes += made,
                // A compaction has replaced it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(io_failure("guarding tables", error)),
            }
            guarded.insert(new);
            if bytes >= bytes_max {
                break;
            }
        }
        if bytes < bytes_max {
            healing.manifest_bytes = manifest_bytes;
        }
        let db = self.db()?;
        let copied = self.guards.copy_manifest(|| db.background_error().is_none());
        copied.map_err(|error| io_failure("copying the manifest", error))
    }

    /// Reads what is in the range of a table, and answers whether that succeeded. What stands in the way, this table or another, is a
    /// suspect from then on.
    fn read_table(&self, files: &[LiveFile], number: u64) -> Result<bool> {
        let Some(file) = files.iter().find(|file| number_of(file) == Some(number)) else {
            return Ok(false);
        };
        let db = self.db()?;
        let (Some(keyspace), Some(mut raw)) = (keyspace_of(file), rows_of(&db, file)) else {
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
        Ok(files.iter().filter_map(number_of).collect())
    }

    /// Whether a read that failed is worth another try: a table was mended since.
    pub(super) fn mend_after(&self, error: &Error) -> bool {
        if self.read_only {
            return false;
        }
        // Not those that are kept: another thread may be mending this one just now, and the try is worth it all the same.
        let suspects = tables_named(&error.to_string()).collect();
        let mut healing = self.healing.lock();
        self.mend_suspects(&mut healing, suspects).0
    }

    /// Mends suspects. Answers whether one was mended, or found whole for the first time, and those that cannot be.
    fn mend_suspects(
        &self,
        healing: &mut Healing,
        suspects: BTreeSet<u64>,
    ) -> (bool, BTreeSet<u64>) {
        let mut any = false;
        let mut beyond = BTreeSet::new();
        for number in suspects {
            match self.guards.mend(number) {
                Ok(Health::Mendable(sectors)) => {
                    self.findings.report(mended(number, sectors));
                    any = true;
                }
                // Mended by another reader just now, or guarded when it was damaged already.
                Ok(Health::Whole) => {
                    let complaints = healing.complaints.entry(number).or_default();
                    *complaints += 1;
                    if *complaints <= COMPLAINTS_MAX {
                        any = true;
                    } else {
                        beyond.insert(number);
                    }
                }
                Ok(Health::Unguarded | Health::Beyond(_)) => {
                    beyond.insert(number);
                }
                Err(error) => tracing::error!(%error, number, "a damaged table cannot be mended"),
            }
        }
        for number in &beyond {
            // For the next look, which takes them out.
            self.findings.suspect(*number);
        }
        (any, beyond)
    }

    /// Does something that fails when background work came across damage, as often as healing helps.
    pub(super) fn healing_damage<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        for _ in 0..HEALINGS_MAX {
            match work() {
                Err(Error::Corrupt(_)) if self.heal()? => {}
                outcome => return outcome,
            }
        }
        work()
    }

    /// Mends what can be, takes out what cannot, and opens the database again if it refuses writes. Answers whether it may be
    /// worth another try to write.
    pub(super) fn heal(&self) -> Result<bool> {
        let mut healing = self.healing.lock();
        let mut suspects = self.findings.take_suspects();
        if suspects.is_empty() && self.refuses_writes()? {
            // Of damage to some parts of a table RocksDB does not say whose it is.
            suspects = self.doubtful_tables()?;
        }
        // Such a table stays open as it is, whatever its file holds by now.
        let misread = self.findings.take_misread();
        let (mended, beyond) = self.mend_suspects(&mut healing, suspects);
        let live = self.live_tables()?;
        let beyond: BTreeSet<u64> = beyond.intersection(&live).copied().collect();
        if beyond.is_empty() && !misread && !self.refuses_writes()? {
            self.findings.take_suspects();
            return Ok(mended);
        }
        let Some(mut db) = self.without_readers() else {
            tracing::warn!("damage was found; healing waits for a moment without readers");
            return Ok(false);
        };
        self.close_files(&mut db);
        self.findings.take_suspects();
        if !beyond.is_empty() {
            let set_aside = || open::set_aside(&self.dir);
            let taken = (self.journal.mend(&self.findings, set_aside))
                .and_then(|_read| set_aside())
                .map_err(|error| io_failure("setting damaged files aside", error))
                .and_then(|aside| {
                    take_out(&self.dir, &self.shared, &self.findings, &beyond, &aside)
                });
            if let Err(error) = taken {
                tracing::error!(%error, "damaged tables cannot be taken out");
            }
        }
        *db = Some(Arc::new(self.open_files()?));
        drop(db);
        healing.errors = self.background_errors()?;
        tracing::warn!("the database was opened again after damage");
        Ok(true)
    }

    pub(super) fn open_files(&self) -> Result<Database> {
        open::open(&self.dir, &self.shared, &self.guards, &self.journal, &self.findings)
    }

    /// The tables that are not as their guards say; if there is none, those that have no guard.
    fn doubtful_tables(&self) -> Result<BTreeSet<u64>> {
        let (mut damaged, mut unguarded) = (BTreeSet::new(), BTreeSet::new());
        for number in self.live_tables()? {
            match self.guards.check(number) {
                Ok(Health::Whole) => {}
                Ok(Health::Unguarded) => {
                    unguarded.insert(number);
                }
                // One that cannot be read at all is as doubtful.
                Ok(Health::Mendable(_) | Health::Beyond(_)) | Err(_) => {
                    damaged.insert(number);
                }
            }
        }
        Ok(if damaged.is_empty() { unguarded } else { damaged })
    }

    /// Background work that came across damage stops writes, and no property says so but the number of its errors.
    fn refuses_writes(&self) -> Result<bool> {
        let db = self.db()?;
        let mut nothing = WriteBatch::default();
        self.journal.stamp(&mut nothing);
        nothing.delete_cf(family(&db, Keyspace::Quarantine), b"");
        let mut options = WriteOptions::default();
        options.set_sync(false);
        let _begun = self.journal.begin(&db, Sync::No);
        Ok(db
            .write_opt(nothing, &options)
            .is_err_and(|e| e.kind() == rocksdb::ErrorKind::Corruption))
    }

    /// The sole right to the database, if all others let go of it soon.
    pub(super) fn without_readers(
        &self,
    ) -> Option<parking_lot::RwLockWriteGuard<'_, Option<Arc<Database>>>> {
        let waiting = Mutex::new(());
        let passing = parking_lot::Condvar::new();
        for _ in 0..READERS_LOOKS {
            let db = self.db.write();
            if db.as_ref().is_none_or(|db| Arc::strong_count(db) == 1) {
                return Some(db);
            }
            // Whoever has a value may need another one before it lets go.
            drop(db);
            passing.wait_for(&mut waiting.lock(), READERS_WAIT);
        }
        None
    }
}

impl Store {
    /// Compares every table with its guard, and what is kept twice, and reads the log. Changes nothing; adds a line for what is damaged.
    pub(crate) fn verify_files(&self, damaged: &mut Vec<String>) -> Result<()> {
        for number in self.live_tables()? {
            match self.guards.check(number) {
                Ok(Health::Mendable(sectors)) => damaged.push(format!(
                    "table {number:06}.sst of the database: {sectors} sectors of 4 KB are damaged, and will be mended"
                )),
                Ok(Health::Beyond(sectors)) => damaged.push(format!(
                    "table {number:06}.sst of the database: {sectors} sectors of 4 KB are damaged, more than can be mended"
                )),
                Ok(Health::Whole | Health::Unguarded) => {}
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
