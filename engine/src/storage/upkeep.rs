//! Maintenance of the database, and its figures.

use std::path::Path;
use std::sync::Arc;

use rocksdb::checkpoint::Checkpoint;
use rocksdb::{BottommostLevelCompaction, CompactOptions, FlushOptions, properties};

use super::batch::{Batch, Sync};
use super::database::Database;
use super::keyspace::Keyspace;
use super::range::{KeyRange, just_below};
use super::rocksdb_error::failure;
use super::schema::Schema;
use super::store::{Store, family};
use super::typed_range::RangeOf;
use crate::error::{Error, Result};
use crate::limits;

/// Sizes of parts of the database, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Memtables, including those being flushed.
    pub(crate) memtable_bytes: u64,
    /// The shared cache, including memtables.
    pub(crate) cache_bytes: u64,
    /// Live table files of all keyspaces.
    pub(crate) table_bytes: u64,
    /// Number of background failures since the database was opened.
    pub(crate) background_errors: u64,
}

impl Store {
    /// Flushes the memtables of all keyspaces to tables, so that the next open has no log to
    /// replay.
    pub(crate) fn flush(&self) -> Result<()> {
        Keyspace::ALL.into_iter().try_for_each(|keyspace| self.flush_keyspace(keyspace))?;
        self.guard_all()
    }

    /// Flushes what seals and compactions wrote from RocksDB's log to tables, and creates their
    /// guards.
    ///
    /// Must be called before anything that they replaced is deleted. Damaged tables can be
    /// repaired, whereas damage to RocksDB's log loses every batch it hits, and there a whole seal
    /// or compaction is one batch.
    pub(crate) fn flush_blocks(&self) -> Result<()> {
        let kept_by_owner = |k: &Keyspace| matches!(k, Keyspace::Documents | Keyspace::Records);
        let mut written = Keyspace::ALL.into_iter().filter(|keyspace| !kept_by_owner(keyspace));
        written.try_for_each(|keyspace| self.flush_keyspace(keyspace))?;
        self.guard_all()
    }

    /// Deletes every key of `range` and frees the disk space before it returns: tables inside the
    /// range are dropped without being read, and tables that also contain live keys are compacted.
    ///
    /// The tombstone is synced first: if tables were only dropped and the process died in between,
    /// older values in deeper levels could reappear. The memtable is flushed before it: a table
    /// with both the newest keys and the tombstone would span everything between them and the
    /// range, and the compaction would rewrite all of it.
    pub(super) fn delete_range_now(
        &self,
        keyspace: Keyspace,
        from: &[u8],
        to: &[u8],
    ) -> Result<()> {
        let range = KeyRange::between(from, to);
        let Some(last) = just_below(to).filter(|_| !range.is_empty()) else {
            return Ok(());
        };
        self.flush_keyspace(keyspace)?;
        let mut batch = Batch::new();
        batch.delete_range_bytes(keyspace, range.clone());
        self.write(batch, Sync::Yes)?;
        // The binding takes an inclusive end: with `to` itself it would drop a table whose last key
        // is `to`.
        let db = self.db()?;
        db.delete_file_in_range_cf(family(&db, keyspace), from, last.as_slice())
            .map_err(|error| failure("dropping tables", error))?;
        drop(db);
        self.compact(keyspace, &range)
    }

    /// Frees the disk space of ranges whose keys have been deleted: that of the first
    /// [`limits::RANGES_RECLAIMED_MAX`] before it returns, that of the others in later compactions.
    pub(crate) fn reclaim<S: Schema>(&self, ranges: &[RangeOf<S>]) -> Result<()> {
        for RangeOf { keyspace, keys } in ranges.iter().take(limits::RANGES_RECLAIMED_MAX) {
            if let Some(to) = &keys.to {
                self.delete_range_now(keyspace.keyspace(), &keys.from, to)?;
            }
        }
        Ok(())
    }

    /// Rewrites all tables without deleted and replaced entries. Returns when done.
    pub(crate) fn compact_all(&self) -> Result<()> {
        Keyspace::ALL.into_iter().try_for_each(|k| self.compact(k, &KeyRange::all()))
    }

    /// Rewrites the tables of `range` without deleted and replaced entries. Returns when done.
    pub(super) fn compact(&self, keyspace: Keyspace, range: &KeyRange) -> Result<()> {
        let (from, to) = (range.from.as_slice(), range.to.as_deref());
        self.compact_by(keyspace, from, to, &mut CompactOptions::default())
    }

    /// Rewrites the tables between two keys, both inclusive, including tables at the bottom level
    /// in which nothing was deleted or replaced.
    pub(super) fn compact_bottom(&self, keyspace: Keyspace, from: &[u8], to: &[u8]) -> Result<()> {
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        self.compact_by(keyspace, from, Some(to), &mut options)
    }

    fn compact_by(
        &self,
        keyspace: Keyspace,
        from: &[u8],
        to: Option<&[u8]>,
        options: &mut CompactOptions,
    ) -> Result<()> {
        // Other compactions may run meanwhile.
        options.set_exclusive_manual_compaction(false);
        let errors = self.background_errors()?;
        let complaints = self.findings.complaints();
        let db = self.working_db("compaction")?;
        db.compact_range_cf_opt(family(&db, keyspace), Some(from), to, options);
        drop(db);
        // The binding does not return the outcome of a manual compaction; a failure counts as a
        // background error.
        if self.background_errors()? > errors {
            if self.findings.complaints() > complaints {
                // It met damage. The repair reports that, and the keyspace is compacted another
                // time.
                return self.repair_damage().map(|_| ());
            }
            let message = format!("compaction of {} failed", keyspace.name());
            return Err(Error::Unavailable(message));
        }
        Ok(())
    }

    /// Creates a copy of the database as of now, with the guards of its tables, in the new
    /// directory `target`, which must not exist. Tables are hard-linked, not copied, if `target` is
    /// on the same file system.
    pub(crate) fn checkpoint(&self, target: &Path) -> Result<()> {
        let db = self.working_db("checkpoint")?;
        let copied = Checkpoint::new(&db).and_then(|copy| copy.create_checkpoint(target));
        copied.map_err(|error| failure(&format!("checkpoint to {}", target.display()), error))?;
        drop(db);
        self.guard_all()?;
        self.guards.copy_to(target).map_err(|source| Error::Io {
            context: format!("copying the guards of tables to {}", target.display()),
            source,
        })
    }

    /// Returns the bytes in the shared cache, including memtables and data being read.
    pub(crate) fn cache_bytes(&self) -> usize {
        self.shared.cache.get_usage()
    }

    /// Returns the figures of the database.
    pub(crate) fn figures(&self) -> Result<Figures> {
        let mut table_bytes = 0;
        for keyspace in Keyspace::ALL {
            table_bytes += self.table_bytes(keyspace)?;
        }
        Ok(Figures {
            memtable_bytes: self.shared.memtables.get_usage() as u64,
            cache_bytes: self.cache_bytes() as u64,
            table_bytes,
            background_errors: self.background_errors()?,
        })
    }

    /// Returns the total size of the live table files of one keyspace, in bytes.
    pub(crate) fn table_bytes(&self, keyspace: Keyspace) -> Result<u64> {
        self.property(keyspace, properties::LIVE_SST_FILES_SIZE)
    }

    pub(super) fn flush_keyspace(&self, keyspace: Keyspace) -> Result<()> {
        // Here RocksDB reports corruption when its background work has stopped, as in
        // [`Self::write`].
        self.retry_after_repair(|| self.flush_once(keyspace))
    }

    fn flush_once(&self, keyspace: Keyspace) -> Result<()> {
        let mut options = FlushOptions::new();
        options.set_wait(true);
        let db = self.working_db("flush")?;
        db.flush_cf_opt(family(&db, keyspace), &options).map_err(|error| {
            self.findings.note_message(error.as_ref());
            failure(&format!("flush of {}", keyspace.name()), error)
        })
    }

    /// Returns the database unless its background work has stopped. After a full disk RocksDB
    /// resumes by itself with a flush that it waits for. If it found one of our flushes in the
    /// queue, it would mistake that for its own and drop it, and would wait forever.
    fn working_db(&self, context: &str) -> Result<Arc<Database>> {
        let db = self.db()?;
        let stopped = db.background_error().map(|error| failure(context, error));
        match stopped {
            // The caller repairs the damage that stopped it.
            None | Some(Error::Corrupt(_)) => Ok(db),
            Some(error) => Err(error),
        }
    }

    pub(super) fn background_errors(&self) -> Result<u64> {
        // Counted for the whole database, under the default column family.
        known(self.db()?.property_int_value(properties::BACKGROUND_ERRORS))
    }

    fn property(&self, keyspace: Keyspace, name: &properties::PropName) -> Result<u64> {
        let db = self.db()?;
        known(db.property_int_value_cf(family(&db, keyspace), name))
    }
}

/// Returns the value of a property of the database. A property that RocksDB does not know is an
/// error: zero would mean that there are no errors or no tables.
fn known(value: Result<Option<u64>, rocksdb::Error>) -> Result<u64> {
    let value = value.map_err(|error| failure("properties", error))?;
    value.ok_or_else(|| Error::Storage("a property is unknown to RocksDB".to_owned()))
}
