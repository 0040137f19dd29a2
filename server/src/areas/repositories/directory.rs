//! What is known in memory of all repositories: the files that each uses, its syncs, and the one
//! that waits or runs.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::RwLock;
use telltale_engine::{Engine, FileDigest, Versioned};

use super::documents;
use super::error::RepositoryError;
use super::ids::{RepositoryId, SyncId};
use super::repository::{Repository, RepositoryFiles};
use super::sync::Sync;

/// Bytes of memory of a repository and of a sync.
const REPOSITORY_BYTES: u64 = 400;
const SYNC_BYTES: u64 = 32;

/// All repositories.
#[derive(Debug, Default)]
pub(super) struct Directory(RwLock<BTreeMap<RepositoryId, Entry>>);

/// A repository.
#[derive(Debug, Default)]
struct Entry {
    files: Option<RepositoryFiles>,
    syncs: BTreeSet<SyncId>,
    running: Option<SyncId>,
    auto_sync: bool,
}

impl Directory {
    /// Reads what is stored. Blocks.
    pub(super) fn open(engine: &Engine) -> Result<Self, RepositoryError> {
        let directory = Self::default();
        documents::select(engine, |found: Versioned<Repository>| {
            directory.put(&found.value);
            None::<()>
        })?;
        documents::select(engine, |found: Versioned<Sync>| {
            directory.add_sync(found.value.repository, found.value.id);
            None::<()>
        })?;
        Ok(directory)
    }

    /// Shows a repository as it is stored now.
    pub(super) fn put(&self, repository: &Repository) {
        let mut entries = self.0.write();
        let entry = entries.entry(repository.id).or_default();
        entry.files = repository.indexed.as_ref().map(|indexed| indexed.files);
        entry.running = repository.running();
        entry.auto_sync = repository.settings.auto_sync;
        entry.syncs.extend(entry.running);
    }

    /// Removes a repository with its syncs.
    pub(super) fn remove(&self, id: RepositoryId) {
        self.0.write().remove(&id);
    }

    /// Adds a sync of a repository.
    fn add_sync(&self, repository: RepositoryId, sync: SyncId) {
        self.0.write().entry(repository).or_default().syncs.insert(sync);
    }

    /// Removes syncs of a repository.
    pub(super) fn remove_syncs(&self, repository: RepositoryId, syncs: &[SyncId]) {
        if let Some(entry) = self.0.write().get_mut(&repository) {
            entry.syncs.retain(|id| !syncs.contains(id));
        }
    }

    /// Returns the syncs of a repository, newest first.
    pub(super) fn syncs(&self, repository: RepositoryId) -> Vec<SyncId> {
        let entries = self.0.read();
        entries
            .get(&repository)
            .map_or_else(Vec::new, |entry| entry.syncs.iter().rev().copied().collect())
    }

    /// Returns the syncs that wait or run.
    pub(super) fn unfinished(&self) -> Vec<SyncId> {
        self.0.read().values().filter_map(|entry| entry.running).collect()
    }

    /// Returns the repositories that are synced when their branches have moved, and whose syncs
    /// have ended.
    pub(super) fn automatic(&self) -> Vec<RepositoryId> {
        let entries = self.0.read();
        let is_idle = |entry: &Entry| entry.auto_sync && entry.running.is_none();
        entries.iter().filter(|(_, entry)| is_idle(entry)).map(|(id, _)| *id).collect()
    }

    /// Returns whether a repository exists.
    pub(super) fn contains(&self, id: RepositoryId) -> bool {
        self.0.read().contains_key(&id)
    }

    /// Returns whether a repository uses a file of the engine.
    pub(super) fn uses_file(&self, digest: FileDigest) -> bool {
        let uses = |entry: &Entry| {
            entry.files.is_some_and(|files| files.all().iter().any(|file| file.digest == digest))
        };
        self.0.read().values().any(uses)
    }

    /// Returns the bytes of all files of repositories.
    pub(super) fn file_bytes(&self) -> u64 {
        let entries = self.0.read();
        let files = entries.values().filter_map(|entry| entry.files);
        files.flat_map(RepositoryFiles::all).map(|file| file.bytes).sum()
    }

    /// Reports files that are missing. Blocks.
    pub(super) fn check_files(&self, engine: &Engine) {
        let entries = self.0.read();
        let of_entry = |(id, entry): (&RepositoryId, &Entry)| {
            let name = id.text();
            let files = entry.files.map_or_else(Vec::new, |files| files.all().to_vec());
            files.into_iter().map(move |file| (file.digest, name.clone()))
        };
        engine.files().check_stored(entries.iter().flat_map(of_entry));
    }

    /// Returns the greatest number of an id, so that new ids are greater.
    pub(super) fn greatest_id(&self) -> u128 {
        let entries = self.0.read();
        let of_entry = |(id, entry): (&RepositoryId, &Entry)| {
            id.0.max(entry.syncs.last().map_or(0, |sync| sync.0))
        };
        entries.iter().map(of_entry).max().unwrap_or(0)
    }

    /// Returns roughly how much memory this takes, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let entries = self.0.read();
        let bytes = |entry: &Entry| REPOSITORY_BYTES + entry.syncs.len() as u64 * SYNC_BYTES;
        entries.values().map(bytes).sum()
    }
}
