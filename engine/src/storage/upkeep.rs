//! What is done to the database from time to time, and what it tells about itself.

use std::path::Path;
use std::sync::Arc;

use rocksdb::checkpoint::Checkpoint;
use rocksdb::{BottommostLevelCompaction, CompactOptions, FlushOptions, properties};

use super::batch::{Batch, Sync};
use super::failure::failure;
use super::handle::Database;
use super::keyspace::Keyspace;
use super::range::{KeyRange, just_below};
use super::store::{Store, family};
use crate::error::{Error, Result};

/// So many ranges give their disk space back at a time: each takes a table and a compaction of its own.
pub(super) const RANGES_RECLAIMED_MAX: usize = 16;

/// How much of what the database holds, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Memtables, those being flushed included.
    pub(crate) memtable_bytes: u64,
    /// The shared cache, memtables included.
    pub(crate) cache_bytes: u64,
    /// Table files that are in use, all keyspaces.
    pub(crate) table_bytes: u64,
    /// Failures of work in the background since the database was opened.
    pub(crate) background_errors: u64,
}

impl Store {
    /// Writes the memtables of all keyspaces to tables, so that the next open has no log to replay.
    pub(crate) fn flush(&self) -> Result<()> {
        Keyspace::ALL.into_iter().try_for_each(|keyspace| self.flush_keyspace(keyspace))?;
        self.guard_all()
    }

    /// Brings what seals and merges wrote from RocksDB's log to tables, and guards these.
    ///
    /// To be called before anything is deleted that they replaced. Tables get their bytes back when they are damaged; damage to
    /// RocksDB's log takes what it hits, and there a whole seal or merge is one batch.
    pub(crate) fn flush_blocks(&self) -> Result<()> {
        let kept_by_owner = |k: &Keyspace| matches!(k, Keyspace::Documents | Keyspace::Records);
        let mut written = Keyspace::ALL.into_iter().filter(|keyspace| !kept_by_owner(keyspace));
        written.try_for_each(|keyspace| self.flush_keyspace(keyspace))?;
        self.guard_all()
    }

    /// Removes every key of `range` and gives the disk space back before it returns: tables that lie
    /// inside are dropped unread, what shares a table with living keys is compacted away.
    ///
    /// The tombstone is synced first: dropping tables alone could bring back older values that lie deeper,
    /// should the process die in between. And the memtable is written out before it: in one table with
    /// the newest keys the tombstone would make that table reach over everything between them and the range,
    /// and the compaction rewrite it all.
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
        batch.delete_range(keyspace, range.clone());
        self.write(batch, Sync::Yes)?;
        // The binding takes an inclusive end: with `to` itself it would drop a table whose last key is `to`.
        let db = self.db()?;
        db.delete_file_in_range_cf(family(&db, keyspace), from, last.as_slice())
            .map_err(|error| failure("dropping tables", error))?;
        drop(db);
        self.compact(keyspace, &range)
    }

    /// Gives back the disk space of ranges whose keys have been deleted: of the first [`RANGES_RECLAIMED_MAX`] before it returns, of
    /// the others with the compactions to come.
    pub(crate) fn reclaim(&self, keyspace: Keyspace, ranges: &[KeyRange]) -> Result<()> {
        for range in ranges.iter().take(RANGES_RECLAIMED_MAX) {
            if let Some(to) = &range.to {
                self.delete_range_now(keyspace, &range.from, to)?;
            }
        }
        Ok(())
    }

    /// Rewrites the tables of `range` without what was deleted or replaced. Returns when done.
    pub(crate) fn compact(&self, keyspace: Keyspace, range: &KeyRange) -> Result<()> {
        let (from, to) = (range.from.as_slice(), range.to.as_deref());
        self.compact_by(keyspace, from, to, &mut CompactOptions::default())
    }

    /// Rewrites the tables between two keys, these included, also those at the bottom, where nothing was deleted or replaced.
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
        // Other compactions go on meanwhile.
        options.set_exclusive_manual_compaction(false);
        let errors = self.background_errors()?;
        let complaints = self.findings.complaints();
        let db = self.working_db("compaction")?;
        db.compact_range_cf_opt(family(&db, keyspace), Some(from), to, options);
        drop(db);
        // The binding drops the outcome of a manual compaction; a failed one counts as background error.
        if self.background_errors()? > errors {
            if self.findings.complaints() > complaints {
                // It came across damage. That is told where it is healed; the keyspace is compacted another time.
                return self.heal().map(|_| ());
            }
            let message = format!("compaction of {} failed", keyspace.name());
            return Err(Error::Unavailable(message));
        }
        Ok(())
    }

    /// A copy of the database as it is now in the new directory `target`, which must not exist, with the guards of its tables.
    /// Tables are linked, not copied, where `target` is on the same file system.
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

    /// Bytes that the shared cache holds, memtables and what is being read included.
    pub(crate) fn cache_bytes(&self) -> usize {
        self.shared.cache.get_usage()
    }

    /// What the database holds.
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

    /// Bytes of the table files of one keyspace that are in use.
    pub(crate) fn table_bytes(&self, keyspace: Keyspace) -> Result<u64> {
        self.property(keyspace, properties::LIVE_SST_FILES_SIZE)
    }

    pub(super) fn flush_keyspace(&self, keyspace: Keyspace) -> Result<()> {
        // What RocksDB calls corruption here is why its background work stopped, as in [`Self::write`].
        self.healing_damage(|| self.flush_once(keyspace))
    }

    fn flush_once(&self, keyspace: Keyspace) -> Result<()> {
        let mut options = FlushOptions::new();
        options.set_wait(true);
        let db = self.working_db("flush")?;
        db.flush_cf_opt(family(&db, keyspace), &options).map_err(|error| {
            self.findings.hear(error.as_ref());
            failure(&format!("flush of {}", keyspace.name()), error)
        })
    }

    /// The database, unless its background work has stopped. After a full disk RocksDB goes on by itself when there is room, with a
    /// flush of its own that it waits for; one of ours that it finds in the queue would be taken for that one and then dropped,
    /// and it would wait for ever.
    fn working_db(&self, context: &str) -> Result<Arc<Database>> {
        let db = self.db()?;
        let stopped = db.background_error().map(|error| failure(context, error));
        match stopped {
            // What damage stopped is healed where the outcome is seen.
            None | Some(Error::Corrupt(_)) => Ok(db),
            Some(error) => Err(error),
        }
    }

    pub(super) fn background_errors(&self) -> Result<u64> {
        // Counted for the whole database, under the default family.
        let count = self.db()?.property_int_value(properties::BACKGROUND_ERRORS);
        Ok(count.map_err(|error| failure("properties", error))?.unwrap_or(0))
    }

    fn property(&self, keyspace: Keyspace, name: &properties::PropName) -> Result<u64> {
        let db = self.db()?;
        let value = db.property_int_value_cf(family(&db, keyspace), name);
        Ok(value.map_err(|error| failure("properties", error))?.unwrap_or(0))
    }
}
