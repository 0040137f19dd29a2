//! A database that is looked at and not changed: nothing is created, repaired, flushed or deleted.

use std::path::Path;

use rocksdb::{DB, DEFAULT_COLUMN_FAMILY_NAME};

use super::keyspace::Keyspace;
use super::store::{Store, open_failure, stored_keyspaces};
use super::tuning::{self, Shared};
use crate::error::Result;

impl Store {
    /// Opens the database in `dir` for reading. Writes fail; keyspaces that an older program did not have are empty. Somebody
    /// must see to it that no other process writes meanwhile.
    pub(crate) fn open_read_only(dir: &Path, cache_bytes: usize) -> Result<Self> {
        let shared = Shared::new(cache_bytes, 1);
        let mut options = tuning::database(&shared).map_err(|error| open_failure(dir, error))?;
        options.create_if_missing(false);
        options.create_missing_column_families(false);
        let stored = stored_keyspaces(dir, &options)?;
        let families = Keyspace::ALL
            .into_iter()
            .filter(|keyspace| stored.iter().any(|name| name == keyspace.name()))
            .map(|keyspace| (keyspace.name(), tuning::keyspace(keyspace, &shared)))
            .chain([(DEFAULT_COLUMN_FAMILY_NAME, tuning::unused(&shared))]);
        let db = DB::open_cf_with_opts_for_read_only(&options, dir, families, false)
            .map_err(|error| open_failure(dir, error))?;
        let store = Self { db, shared, read_only: true };
        store.check_format_read(dir)?;
        Ok(store)
    }
}
