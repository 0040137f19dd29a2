//! Read-only access to a database: nothing is created, repaired, flushed or deleted.

use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rocksdb::{DB, DEFAULT_COLUMN_FAMILY_NAME};

use super::database::Database;
use super::findings::Findings;
use super::guard::Guards;
use super::journal::Journal;
use super::keyspace::Keyspace;
use super::open::{open_failure, stored_keyspaces};
use super::store::Store;
use super::tuning::{self, Shared, Strictness};
use crate::error::Result;

impl Store {
    /// Opens the database in `dir` for reading. Writes fail, and keyspaces that the database lacks
    /// because an older version wrote it are empty. The caller must ensure that no other process
    /// writes meanwhile.
    pub(crate) fn open_read_only(dir: &Path, cache_bytes: usize) -> Result<Self> {
        let findings = Arc::new(Findings::default());
        let shared = Shared::new(cache_bytes, 1, Arc::clone(&findings));
        let strictness = Strictness::Strict;
        let failed = |error| open_failure(dir, error);
        let mut options = tuning::database(&shared, strictness).map_err(failed)?;
        options.create_if_missing(false);
        options.create_missing_column_families(false);
        let stored = stored_keyspaces(dir, &options)?;
        let families = Keyspace::ALL
            .into_iter()
            .filter(|keyspace| stored.iter().any(|name| name == keyspace.name()))
            .map(|keyspace| (keyspace.name(), tuning::keyspace(keyspace, &shared, strictness)))
            .chain([(DEFAULT_COLUMN_FAMILY_NAME, tuning::unused(&shared, strictness))]);
        let db =
            DB::open_cf_with_opts_for_read_only(&options, dir, families, false).map_err(failed)?;
        let store = Self {
            dir: dir.to_owned(),
            db: RwLock::new(Some(Arc::new(Database::new(db)))),
            shared,
            read_only: true,
            findings,
            guards: Guards::new(dir),
            journal: Journal::new(dir),
            repair_state: Mutex::default(),
            recovery: Mutex::default(),
        };
        store.check_format_read(dir)?;
        Ok(store)
    }
}
