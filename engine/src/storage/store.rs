//! The open database: reads, writes, and how it is opened.
//!
//! Opening takes RocksDB's lock on the directory, replays its log, adds keyspaces that are missing and checks
//! the format. Dropping the store waits for work in the background and closes every file; nothing
//! is lost by it, with or without a flush before.

use std::fmt;
use std::ops::Deref;
use std::path::Path;

use rocksdb::{
    ColumnFamily, DB, DBPinnableSlice, DEFAULT_COLUMN_FAMILY_NAME, ReadOptions, WriteBatch,
    WriteOptions,
};

use super::batch::{Batch, Change, Sync};
use super::failure::failure;
use super::keyspace::Keyspace;
use super::range::KeyRange;
use super::scan::{Caching, Direction, Gap, Scan, read_around_damage};
use super::tuning::{self, Shared};
use crate::error::{Error, Result};

/// The version of everything on disk that this program writes, and the newest that it reads. Stored under
/// `format` in [`Keyspace::Meta`], four bytes, little-endian.
pub(crate) const FORMAT_VERSION: u32 = 2;

const FORMAT_KEY: &[u8] = b"format";

/// The open database. All methods may be called from any thread.
pub(crate) struct Store {
    pub(super) db: DB,
    pub(super) shared: Shared,
    pub(super) read_only: bool,
}

/// Bytes of a value, where RocksDB keeps them: nothing is copied when they are in the cache. Holds that part
/// of the cache until dropped.
pub(crate) struct Pinned<'a>(DBPinnableSlice<'a>);

impl Store {
    /// Opens the database in the directory `dir`, which is made if it is missing. RocksDB may take
    /// `cache_bytes` of memory for tables and memtables, and `threads` for work in the background.
    ///
    /// Fails with [`Error::Open`] when another process has it open or a newer version wrote it, and with
    /// [`Error::Corrupt`] when its files are damaged.
    pub(crate) fn open(dir: &Path, cache_bytes: usize, threads: usize) -> Result<Self> {
        let shared = Shared::new(cache_bytes, threads);
        let options = tuning::database(&shared).map_err(|error| open_failure(dir, error))?;
        refuse_unknown_keyspaces(dir, &options)?;
        let families = Keyspace::ALL.map(|k| (k.name(), tuning::keyspace(k, &shared)));
        let unused = (DEFAULT_COLUMN_FAMILY_NAME, tuning::unused(&shared));
        let families = families.into_iter().chain([unused]);
        let db = DB::open_cf_with_opts(&options, dir, families)
            .map_err(|error| open_failure(dir, error))?;
        let store = Self { db, shared, read_only: false };
        store.check_format(dir)?;
        Ok(store)
    }

    /// Whether it was opened for reading only: then writes fail.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The value under `key`.
    pub(crate) fn get(&self, keyspace: Keyspace, key: &[u8]) -> Result<Option<Pinned<'_>>> {
        let found = self.db.get_pinned_cf(self.family(keyspace), key);
        found.map(|value| value.map(Pinned)).map_err(|error| read_failure(keyspace, error))
    }

    /// A number under `key` of [`Keyspace::Meta`]: u64, little-endian.
    pub(crate) fn number(&self, key: &[u8]) -> Result<Option<u64>> {
        let Some(stored) = self.get(Keyspace::Meta, key)? else { return Ok(None) };
        let bytes = <[u8; 8]>::try_from(&*stored);
        let number = bytes.map_err(|_| Error::Corrupt(format!("{key:?} is not eight bytes")))?;
        Ok(Some(u64::from_le_bytes(number)))
    }

    /// The values under `keys`, in their order, each with its own outcome. Ascending keys are read together,
    /// table by table, and need not be sorted again.
    pub(crate) fn multi_get<K: AsRef<[u8]>>(
        &self,
        keyspace: Keyspace,
        keys: &[K],
    ) -> Vec<Result<Option<Pinned<'_>>>> {
        let sorted = keys.is_sorted_by(|a, b| a.as_ref() <= b.as_ref());
        let found = self.db.batched_multi_get_cf(self.family(keyspace), keys, sorted);
        found
            .into_iter()
            .map(|value| match value {
                Ok(value) => Ok(value.map(Pinned)),
                Err(error) => Err(read_failure(keyspace, error)),
            })
            .collect()
    }

    /// The entries of `range` as they are now; later writes do not show.
    pub(crate) fn scan(
        &self,
        keyspace: Keyspace,
        range: &KeyRange,
        direction: Direction,
        caching: Caching,
    ) -> Scan<'_> {
        let mut options = ReadOptions::default();
        options.fill_cache(caching == Caching::Keep);
        options.set_iterate_lower_bound(range.from.as_slice());
        if let Some(to) = &range.to {
            // RocksDB's bounds must not cross.
            options.set_iterate_upper_bound(to.max(&range.from).as_slice());
        }
        let raw = self.db.raw_iterator_cf_opt(self.family(keyspace), options);
        Scan::new(raw, keyspace, direction)
    }

    /// Visits all entries of `range` that can be read, ascending, and tells what is wrong with the rest: for
    /// readers to whom most of the entries are worth more than none.
    pub(crate) fn read_around_damage(
        &self,
        keyspace: Keyspace,
        range: &KeyRange,
        caching: Caching,
        visit: impl FnMut(Box<[u8]>, Box<[u8]>),
    ) -> Result<Option<Gap>> {
        read_around_damage(|direction| self.scan(keyspace, range, direction, caching), visit)
    }

    /// Applies all of `batch` or, with an error, nothing of it that later reads would see.
    ///
    /// After [`Error::Unavailable`] (the disk is full) the same may be tried again later: the database goes
    /// on by itself within seconds after there is room. After any other error writes fail until a restart,
    /// and only that tells whether the batch reached the disk.
    pub(crate) fn write(&self, batch: Batch, sync: Sync) -> Result<()> {
        let mut writes = WriteBatch::with_capacity_bytes(batch.bytes());
        for change in batch.into_changes() {
            match change {
                Change::Put { keyspace, key, value } => {
                    writes.put_cf(self.family(keyspace), key, value);
                }
                Change::Delete { keyspace, key } => writes.delete_cf(self.family(keyspace), key),
                Change::DeleteRange { keyspace, from, to } => {
                    writes.delete_range_cf(self.family(keyspace), from, to);
                }
            }
        }
        let mut options = WriteOptions::default();
        options.set_sync(sync == Sync::Yes);
        self.db.write_opt(writes, &options).map_err(|error| failure("write", error))
    }

    pub(super) fn family(&self, keyspace: Keyspace) -> &ColumnFamily {
        // Read-only, a keyspace may be missing: the default one is always empty.
        let family = self.db.cf_handle(keyspace.name());
        match family.or_else(|| self.db.cf_handle(DEFAULT_COLUMN_FAMILY_NAME)) {
            Some(family) => family,
            None => {
                unreachable!("every keyspace is opened with the database, none is ever dropped")
            }
        }
    }

    /// Refuses what a newer program wrote, and raises the version of what an older one did, which cannot read it any more.
    fn check_format(&self, dir: &Path) -> Result<()> {
        if self.check_format_read(dir)?.is_some_and(|stored| stored == FORMAT_VERSION) {
            return Ok(());
        }
        let mut batch = Batch::new();
        batch.put(Keyspace::Meta, FORMAT_KEY, FORMAT_VERSION.to_le_bytes().to_vec());
        self.write(batch, Sync::Yes)
    }

    /// The version that is stored. Refuses what a newer program wrote.
    pub(super) fn check_format_read(&self, dir: &Path) -> Result<Option<u32>> {
        let stored = self.get(Keyspace::Meta, FORMAT_KEY)?.map(|bytes| bytes.to_vec());
        let Some(stored) = stored else { return Ok(None) };
        let Ok(version) = <[u8; 4]>::try_from(stored).map(u32::from_le_bytes) else {
            return Err(Error::Corrupt("format version is not four bytes".to_owned()));
        };
        if version > FORMAT_VERSION {
            return Err(newer(
                dir,
                &format!("it has format {version}, this one reads up to {FORMAT_VERSION}"),
            ));
        }
        Ok(Some(version))
    }
}

impl Deref for Pinned<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Pinned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned({} bytes)", self.len())
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("dir", &self.db.path()).finish_non_exhaustive()
    }
}

/// RocksDB's own refusal of a keyspace that it is not told of would not say what to do about it.
fn refuse_unknown_keyspaces(dir: &Path, options: &rocksdb::Options) -> Result<()> {
    match dir.join("CURRENT").exists() {
        true => stored_keyspaces(dir, options).map(drop),
        false => Ok(()),
    }
}

/// The names of the keyspaces of a database. Refuses those that this program does not know.
pub(super) fn stored_keyspaces(dir: &Path, options: &rocksdb::Options) -> Result<Vec<String>> {
    let known = |name: &str| {
        name == DEFAULT_COLUMN_FAMILY_NAME
            || Keyspace::ALL.iter().any(|keyspace| keyspace.name() == name)
    };
    let stored = DB::list_cf(options, dir).map_err(|error| open_failure(dir, error))?;
    match stored.iter().find(|name| !known(name)) {
        Some(unknown) => Err(newer(dir, &format!("it has a keyspace {unknown:?}"))),
        None => Ok(stored),
    }
}

fn newer(dir: &Path, how: &str) -> Error {
    let reason = format!("it was written by a newer version of this program: {how}");
    Error::Open { path: dir.to_owned(), reason }
}

pub(super) fn open_failure(dir: &Path, error: rocksdb::Error) -> Error {
    match failure(&format!("opening {}", dir.display()), error) {
        Error::Storage(reason) => Error::Open { path: dir.to_owned(), reason },
        other => other,
    }
}

fn read_failure(keyspace: Keyspace, error: rocksdb::Error) -> Error {
    failure(&format!("read of {}", keyspace.name()), error)
}
