//! The open database: opening, reads and writes.
//!
//! Opening takes RocksDB's lock on the directory, replays its log, adds missing keyspaces and
//! checks the format version. Dropping the store waits for background work and closes every file.
//! Nothing is lost by dropping it, with or without an earlier flush.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rocksdb::{
    ColumnFamily, DB, DEFAULT_COLUMN_FAMILY_NAME, ReadOptions, ReadTier, WriteBatch, WriteOptions,
};

use super::batch::{Batch, Change, Sync, copy_key};
use super::database::Database;
use super::fact::Fact;
use super::findings::Findings;
use super::guard::Guards;
use super::journal::Journal;
use super::keyspace::Keyspace;
use super::online_repair::RepairState;
use super::open;
use super::pinned::{HeldIterator, Pinned};
use super::range::KeyRange;
use super::recover::Recovery;
use super::rocksdb_error::failure;
use super::scan::{Caching, Direction, Gap, Scan, read_skipping_damage};
use super::schema::{KeyOf, Schema, keyspaces};
use super::tuning::Shared;
use super::typed_range::RangeOf;
use crate::brief;
use crate::damage::{DamageList, Finding};
use crate::error::{Error, Result};

/// The format version that this version of the program writes, and the newest that it reads. Stored
/// as [`Fact::Format`].
pub(crate) const FORMAT_VERSION: u32 = 5;

/// The open database. All methods can be called from any thread.
pub(crate) struct Store {
    pub(super) dir: PathBuf,
    /// `None` after it was closed to be reopened and the open failed.
    pub(super) db: RwLock<Option<Arc<Database>>>,
    pub(super) shared: Shared,
    pub(super) read_only: bool,
    pub(super) findings: Arc<Findings>,
    pub(super) guards: Guards,
    pub(super) journal: Journal,
    pub(super) repair_state: Mutex<RepairState>,
    pub(super) recovery: Mutex<Recovery>,
}

impl Store {
    /// Opens the database in the directory `dir`, which is created if it does not exist. RocksDB
    /// may use `cache_bytes` of memory for tables and memtables, and `threads` for background work.
    ///
    /// Damaged files are repaired or skipped as far as possible; the findings are reported by
    /// [`Self::report_damage_to`]. Fails with [`Error::Open`] when another process has the database
    /// open or a newer version wrote it.
    pub(crate) fn open(dir: &Path, cache_bytes: usize, threads: usize) -> Result<Self> {
        let findings = Arc::new(Findings::default());
        let shared = Shared::new(cache_bytes, threads, Arc::clone(&findings));
        let guards = Guards::new(dir);
        let journal = Journal::new(dir);
        let db = open::open(dir, &shared, &guards, &journal, &findings)?;
        let store = Self {
            dir: dir.to_owned(),
            db: RwLock::new(Some(Arc::new(db))),
            shared,
            read_only: false,
            findings,
            guards,
            journal,
            repair_state: Mutex::default(),
            recovery: Mutex::default(),
        };
        store.match_copies()?;
        store.check_format(dir)?;
        Ok(store)
    }

    /// Returns whether the database was opened read-only: writes fail then.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Returns the value under `key`.
    pub(crate) fn get<S: Schema>(
        &self,
        keyspace: S,
        key: &(impl KeyOf<S> + ?Sized),
    ) -> Result<Option<Pinned<'_>>> {
        self.get_bytes(keyspace.keyspace(), key.encoded().as_ref())
    }

    fn get_bytes(&self, keyspace: Keyspace, key: &[u8]) -> Result<Option<Pinned<'_>>> {
        let mut found = self.get_once(keyspace, key);
        if let Err(error @ Error::Corrupt(_)) = &found
            && self.repair_after(error)
        {
            found = self.get_once(keyspace, key);
        }
        match (found, keyspace.copied_as()) {
            (Err(Error::Corrupt(_)), Some(prefix)) => {
                self.get_once(Keyspace::Copies, &copy_key(prefix, key))
            }
            (found, _) => found,
        }
    }

    /// Returns whether the database has a keyspace. It lacks one only if a version of the program
    /// wrote it that did not know the keyspace, and it is open for reading only.
    pub(super) fn has_keyspace(&self, keyspace: Keyspace) -> Result<bool> {
        Ok(self.db()?.cf_handle(keyspace.name()).is_some())
    }

    /// Returns the value under `key` without repairs and without its copy.
    pub(super) fn get_once(&self, keyspace: Keyspace, key: &[u8]) -> Result<Option<Pinned<'_>>> {
        let db = self.db()?;
        let found = if brief::is_brief() {
            let mut options = ReadOptions::default();
            options.set_read_tier(ReadTier::BlockCache);
            db.get_pinned_cf_opt(family(&db, keyspace), key, &options)
        } else {
            db.get_pinned_cf(family(&db, keyspace), key)
        };
        let found = found.map_err(|error| read_failure(keyspace, error))?;
        Ok(found.map(|slice| Pinned::hold(&db, slice)))
    }

    /// Returns the number that is stored as `fact`: u64.
    pub(crate) fn number(&self, fact: Fact) -> Result<Option<u64>> {
        let Some(stored) = self.get(keyspaces::Meta, &fact)? else { return Ok(None) };
        let bytes = <[u8; 8]>::try_from(&*stored);
        let number = bytes.map_err(|_| Error::Corrupt(format!("{fact:?} is not eight bytes")))?;
        Ok(Some(u64::from_le_bytes(number)))
    }

    /// Returns the number that is stored as `fact`. If there must be one and there is none, appends
    /// a line to `damaged`.
    pub(crate) fn expected_number(
        &self,
        fact: Fact,
        must_exist: bool,
        damaged: &mut Vec<String>,
    ) -> Result<Option<u64>> {
        let number = self.number(fact)?;
        if number.is_none() && must_exist {
            damaged.push(format!("meta: the number {fact:?} is lost"));
        }
        Ok(number)
    }

    /// Returns the values under `keys`, in the same order, each with its own result. Keys in
    /// ascending order are read together, table by table, without sorting.
    pub(crate) fn multi_get<S: Schema, K: KeyOf<S> + AsRef<[u8]>>(
        &self,
        keyspace: S,
        keys: &[K],
    ) -> Vec<Result<Option<Pinned<'_>>>> {
        let keyspace = keyspace.keyspace();
        let db = if brief::is_brief() { Err(brief::exceed()) } else { self.db() };
        let db = match db {
            Ok(db) => db,
            Err(error) => {
                let failed = |_: &K| Err(Error::Storage(error.to_string()));
                return keys.iter().map(failed).collect();
            }
        };
        let sorted = keys.is_sorted_by(|a, b| a.as_ref() <= b.as_ref());
        let found = db.batched_multi_get_cf(family(&db, keyspace), keys, sorted);
        let found = found.into_iter().zip(keys);
        found
            .map(|(value, key)| match value {
                Ok(value) => Ok(value.map(|slice| Pinned::hold(&db, slice))),
                Err(error) => match read_failure(keyspace, error) {
                    // Read separately, so that its table is repaired and one damaged value does not
                    // fail the others.
                    Error::Corrupt(_) => self.get_bytes(keyspace, key.as_ref()),
                    other => Err(other),
                },
            })
            .collect()
    }

    /// Returns the entries of `range` as of now; later writes are not visible.
    pub(crate) fn scan<S: Schema>(
        &self,
        range: RangeOf<S>,
        direction: Direction,
        caching: Caching,
    ) -> Scan<'_> {
        Scan::new(self, range.keyspace.keyspace(), range.keys, direction, caching)
    }

    /// Returns an iterator over a range, or `None` when the database is not open, or when this
    /// thread must not wait for the disk.
    pub(super) fn iterator(
        &self,
        keyspace: Keyspace,
        range: &KeyRange,
        caching: Caching,
    ) -> Option<HeldIterator> {
        if brief::is_brief() {
            drop(brief::exceed());
            return None;
        }
        let mut options = ReadOptions::default();
        options.fill_cache(caching == Caching::Keep);
        options.set_iterate_lower_bound(range.from.as_slice());
        if let Some(to) = &range.to {
            // RocksDB's bounds must not cross.
            options.set_iterate_upper_bound(to.max(&range.from).as_slice());
        }
        let db = self.db().ok()?;
        Some(HeldIterator::new(&db, |db| db.raw_iterator_cf_opt(family(db, keyspace), options)))
    }

    /// Visits all readable entries of `range` in ascending order and returns what is wrong with the
    /// rest. For readers that prefer most of the entries to none.
    pub(crate) fn read_skipping_damage<S: Schema>(
        &self,
        range: RangeOf<S>,
        caching: Caching,
        visit: impl FnMut(Box<[u8]>, Box<[u8]>),
    ) -> Result<Option<Gap>> {
        let RangeOf { keyspace, keys } = range;
        let scan = |to| Scan::new(self, keyspace.keyspace(), keys.clone(), to, caching);
        read_skipping_damage(scan, visit)
    }

    /// Applies all of `batch` or, on an error, nothing of it that later reads would see.
    ///
    /// After [`Error::Unavailable`] (the disk is full) the same batch may be tried again later: the
    /// database resumes by itself within seconds once there is space. A database that refuses
    /// writes because background work met damage is repaired and reopened, and the batch is retried
    /// a few times. After any other error writes fail until [`Self::recover`] has reopened the
    /// database, which drops the batch if it is in the log. Only if the process ends before that
    /// may the next start find the batch applied, as a whole.
    pub(crate) fn write(&self, batch: Batch, sync: Sync) -> Result<()> {
        // Here RocksDB reports corruption when its background work stopped before this batch.
        self.retry_after_repair(|| self.write_once(&batch, sync))
    }

    fn write_once(&self, batch: &Batch, sync: Sync) -> Result<()> {
        let db = self.db()?;
        let mut writes = WriteBatch::with_capacity_bytes(batch.bytes());
        self.journal.stamp(&mut writes);
        for change in batch.changes() {
            match change {
                Change::Put { keyspace, key, value } => {
                    writes.put_cf(family(&db, *keyspace), key, value);
                }
                Change::Delete { keyspace, key } => writes.delete_cf(family(&db, *keyspace), key),
                Change::DeleteRange { keyspace, from, to } => {
                    writes.delete_range_cf(family(&db, *keyspace), from, to);
                }
            }
        }
        let mut options = WriteOptions::default();
        options.set_sync(sync == Sync::Yes);
        let entries = writes.len();
        let started = self.journal.start(&db, sync);
        db.write_opt(writes, &options).map_err(|error| {
            self.findings.note_message(error.as_ref());
            failure("write", error)
        })?;
        started.done(&db, entries);
        Ok(())
    }

    /// Reports that data which was read from the database is lost.
    pub(crate) fn report_loss(&self, what: String) {
        self.findings.report(Finding::Lost(what));
    }

    /// Reports all damage found so far, and later damage, to `list`.
    pub(crate) fn report_damage_to(&self, list: Arc<DamageList>) {
        self.findings.report_to(list);
    }

    /// Returns the database. Callers must release it soon: it can only be reopened when nobody
    /// holds it.
    pub(super) fn db(&self) -> Result<Arc<Database>> {
        let db = self.db.read();
        let closed = || Error::Unavailable("the database could not be reopened".to_owned());
        db.as_ref().map(Arc::clone).ok_or_else(closed)
    }

    /// Refuses a database written by a newer version. Raises the format version of an older one,
    /// which older versions of the program then refuse.
    fn check_format(&self, dir: &Path) -> Result<()> {
        if self.check_format_read(dir)?.is_some_and(|stored| stored == FORMAT_VERSION) {
            return Ok(());
        }
        let mut batch = Batch::new();
        batch.put(keyspaces::Meta, &Fact::Format, FORMAT_VERSION);
        self.write(batch, Sync::Yes)
    }

    /// Returns the stored format version. Fails if it is newer than this version of the program.
    pub(super) fn check_format_read(&self, dir: &Path) -> Result<Option<u32>> {
        let stored = self.get(keyspaces::Meta, &Fact::Format)?.map(|bytes| bytes.to_vec());
        let Some(stored) = stored else { return Ok(None) };
        let Ok(version) = <[u8; 4]>::try_from(stored).map(u32::from_le_bytes) else {
            return Err(Error::Corrupt("format version is not four bytes".to_owned()));
        };
        if version > FORMAT_VERSION {
            let how = format!("it has format {version}, this one reads up to {FORMAT_VERSION}");
            return Err(open::newer(dir, &how));
        }
        Ok(Some(version))
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("dir", &self.dir).finish_non_exhaustive()
    }
}

pub(super) fn family(db: &DB, keyspace: Keyspace) -> &ColumnFamily {
    // A keyspace may be missing, see [`Store::has_keyspace`]: the default one is always empty.
    let family = db.cf_handle(keyspace.name());
    match family.or_else(|| db.cf_handle(DEFAULT_COLUMN_FAMILY_NAME)) {
        Some(family) => family,
        None => {
            unreachable!("every keyspace is opened with the database, none is ever dropped")
        }
    }
}

fn read_failure(keyspace: Keyspace, error: rocksdb::Error) -> Error {
    if brief::is_brief() {
        // Not in the cache, or damaged: neither waiting nor repairing is brief.
        return brief::exceed();
    }
    failure(&format!("read of {}", keyspace.name()), error)
}
