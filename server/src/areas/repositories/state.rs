//! What the area keeps in memory, and git.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use telltale_engine::{Engine, FileDigest};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use super::chat::Sessions;
use super::directory::Directory;
use super::documents::DocumentLock;
use super::error::RepositoriesSetupError;
use super::git::{Git, GitSettings};
use super::ids::SyncId;
use super::index_cache::IndexCache;
use super::limits;
use super::llm::{LanguageModel, LlmSettings};
use super::settings::RepositoriesSettings;
use super::sync::{RunningSyncs, SyncProgress};
use crate::areas::AreaParts;
use crate::platform::outbound::{OutboundDialler, OutboundPolicy};
use crate::platform::sealing::SecretStore;

/// The folder of the directories of git, in the data directory.
const DIRECTORIES: &str = "repositories";

/// The state of repositories.
#[derive(Debug)]
pub struct Repositories {
    documents: DocumentLock,
    secrets: Arc<SecretStore>,
    settings: RepositoriesSettings,
    git: Git,
    directory: Directory,
    indexes: IndexCache,
    running: RunningSyncs,
    sessions: Sessions,
    language_model: Option<LanguageModel>,
    /// Places for requests that read many files of an index, so that others find query slots.
    long_reads: Arc<Semaphore>,
    /// Whether there may be directories of git that no repository uses.
    has_directory_waste: AtomicBool,
}

impl Repositories {
    /// Reads what is stored. Blocks.
    pub fn open(
        parts: AreaParts<'_>,
        settings: &RepositoriesSettings,
        llm: &LlmSettings,
    ) -> Result<Self, RepositoriesSetupError> {
        let dialler = Arc::new(OutboundDialler::new(OutboundPolicy::new(parts.outbound)));
        // Git runs in a directory of its own.
        let root = std::path::absolute(parts.engine.directory().join(DIRECTORIES))?;
        let directory = Directory::open(parts.engine)?;
        directory.check_files(parts.engine);
        // New syncs are the newest also if the clock was ahead when others were made.
        let sessions = Sessions::open(parts.engine)?;
        parts.ids.continue_after(directory.greatest_id().max(sessions.greatest_id()));
        Ok(Self {
            documents: DocumentLock::default(),
            secrets: Arc::clone(parts.secrets),
            git: Git::new(git_settings(settings)?, dialler, root),
            directory,
            indexes: IndexCache::new(index_memory(parts.engine, settings)),
            running: RunningSyncs::default(),
            sessions,
            language_model: LanguageModel::new(llm)?,
            long_reads: Arc::new(Semaphore::new(limits::LONG_READS_AT_ONCE)),
            has_directory_waste: AtomicBool::new(true),
            settings: settings.clone(),
        })
    }

    /// Returns the lock that every change of the area's documents holds.
    pub(super) fn documents(&self) -> &DocumentLock {
        &self.documents
    }

    /// Returns the key for secrets.
    pub(super) fn secrets(&self) -> &SecretStore {
        &self.secrets
    }

    /// Returns the settings.
    pub(super) fn settings(&self) -> &RepositoriesSettings {
        &self.settings
    }

    /// Returns git.
    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    /// Returns the directory of all repositories.
    pub(super) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Returns the indexes in memory.
    pub(super) fn indexes(&self) -> &IndexCache {
        &self.indexes
    }

    /// Returns the syncs that this process runs.
    pub(super) fn running(&self) -> &RunningSyncs {
        &self.running
    }

    /// Returns the directory of all chat sessions.
    pub(super) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Returns the language model, if there is one.
    pub(super) fn language_model(&self) -> Option<&LanguageModel> {
        self.language_model.as_ref()
    }

    /// Waits for a place to read many files of an index.
    pub(super) async fn long_read(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.long_reads).acquire_owned().await
    }

    /// Returns whether this process runs a sync now.
    pub(super) fn is_running(&self, id: SyncId) -> bool {
        self.progress(id).is_some()
    }

    /// Returns how far a sync is that this process runs.
    pub(super) fn progress(&self, id: SyncId) -> Option<SyncProgress> {
        self.running.get(id)
    }

    /// Remembers that directories of git may have become superfluous.
    pub(super) fn set_directory_waste(&self) {
        self.has_directory_waste.store(true, Ordering::Release);
    }

    /// Returns whether directories of git may have become superfluous since the last call.
    pub(super) fn take_directory_waste(&self) -> bool {
        self.has_directory_waste.swap(false, Ordering::AcqRel)
    }

    /// Returns whether a file of the engine belongs to a repository.
    pub(in crate::areas) fn uses_file(&self, digest: FileDigest) -> bool {
        self.directory.uses_file(digest)
    }

    /// Returns the bytes of the files of the engine that belong to repositories.
    pub(in crate::areas) fn file_bytes(&self) -> u64 {
        self.directory.file_bytes()
    }

    /// Returns roughly how much memory the area takes, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.directory.memory_bytes() + self.indexes.memory_bytes() + self.sessions.memory_bytes()
    }
}

/// Returns how much memory indexes may take. Data and requests need the rest.
fn index_memory(engine: &Engine, settings: &RepositoriesSettings) -> u64 {
    settings.index_memory.bytes().min(engine.memory().limit() / limits::INDEX_MEMORY_SHARE)
}

fn git_settings(settings: &RepositoriesSettings) -> io::Result<GitSettings> {
    Ok(GitSettings {
        schemes: settings.schemes.clone(),
        ca_file: settings.ca_file.get().map(Path::to_owned),
        fetch_timeout: settings.fetch_timeout.duration(),
        bytes_max: settings.git_bytes_max.bytes(),
        total_bytes_max: settings.git_total_bytes_max.bytes(),
        disk_free_bytes: settings.disk_free_bytes.bytes(),
        files_max: settings.files_max,
        // This program, which git starts to ask for the token.
        askpass: std::env::current_exe()?,
    })
}
