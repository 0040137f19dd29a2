//! Repositories.

use telltale_engine::{FileDigest, TimestampMs};

use super::patterns::{PathPatterns, PatternError};
use crate::areas::repositories::git::{BranchName, RepositoryUrl};
use crate::areas::repositories::ids::{RepositoryId, SyncId};
use crate::areas::repositories::limits;
use crate::areas::repositories::object_id::ObjectId;

/// A repository.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::repositories) struct Repository {
    pub(in crate::areas::repositories) id: RepositoryId,
    pub(in crate::areas::repositories) name: String,
    pub(in crate::areas::repositories) url: RepositoryUrl,
    pub(in crate::areas::repositories) settings: RepositorySettings,
    /// The token that git needs, sealed.
    pub(in crate::areas::repositories) token: Option<String>,
    pub(in crate::areas::repositories) state: RepositoryState,
    /// What answers are about; `None` before the first sync has completed.
    pub(in crate::areas::repositories) indexed: Option<IndexedCommit>,
    pub(in crate::areas::repositories) created_by: String,
    pub(in crate::areas::repositories) created_at: TimestampMs,
}

/// What users set of a repository, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) struct RepositorySettings {
    /// `None` is the default branch of the remote repository.
    pub(in crate::areas::repositories) branch: Option<BranchName>,
    pub(in crate::areas::repositories) auto_sync: bool,
    pub(in crate::areas::repositories) include: Vec<String>,
    pub(in crate::areas::repositories) exclude: Vec<String>,
}

/// How the last sync of a repository is, or was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) enum RepositoryState {
    /// A sync waits or runs.
    Running(SyncId),
    /// The last sync completed.
    Synced,
    /// The last sync failed.
    Failed(SyncFailure),
}

/// Why a sync failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) struct SyncFailure {
    pub(in crate::areas::repositories) code: String,
    pub(in crate::areas::repositories) message: String,
    pub(in crate::areas::repositories) at: TimestampMs,
}

/// A commit whose files are indexed.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::repositories) struct IndexedCommit {
    pub(in crate::areas::repositories) commit: ObjectId,
    pub(in crate::areas::repositories) branch: BranchName,
    pub(in crate::areas::repositories) synced_at: TimestampMs,
    /// A hash of what selected the files, and of the versions of what was made of them: a commit is
    /// indexed anew when it differs.
    pub(in crate::areas::repositories) selection: u64,
    pub(in crate::areas::repositories) files: RepositoryFiles,
    pub(in crate::areas::repositories) files_indexed: u64,
    pub(in crate::areas::repositories) chunks_indexed: u64,
    pub(in crate::areas::repositories) wiki_pages: u64,
    pub(in crate::areas::repositories) diagrams: u64,
}

/// The files of the engine that belong to an indexed commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) struct RepositoryFiles {
    /// The index.
    pub(in crate::areas::repositories) index: StoredFile,
    /// The pages of the wiki and the diagrams.
    pub(in crate::areas::repositories) wiki: StoredFile,
}

/// A file of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) struct StoredFile {
    pub(in crate::areas::repositories) digest: FileDigest,
    pub(in crate::areas::repositories) bytes: u64,
    /// Bytes that its contents take in memory.
    pub(in crate::areas::repositories) memory_bytes: u64,
}

impl Repository {
    /// Returns the name of the state in the API. A repository is pending until its first sync has
    /// begun.
    pub(in crate::areas::repositories) fn status(
        &self,
        is_begun: impl FnOnce(SyncId) -> bool,
    ) -> &'static str {
        match &self.state {
            RepositoryState::Running(sync) => match self.indexed.is_some() || is_begun(*sync) {
                true => "syncing",
                false => "pending",
            },
            RepositoryState::Synced => "synced",
            RepositoryState::Failed(_) => "failed",
        }
    }

    /// Returns the sync that waits or runs.
    pub(in crate::areas::repositories) fn running(&self) -> Option<SyncId> {
        match self.state {
            RepositoryState::Running(sync) => Some(sync),
            _ => None,
        }
    }

    /// Returns why the last sync failed, if it did.
    pub(in crate::areas::repositories) fn failure(&self) -> Option<&SyncFailure> {
        match &self.state {
            RepositoryState::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// Returns whether the last sync failed.
    pub(in crate::areas::repositories) fn has_failed(&self) -> bool {
        self.failure().is_some()
    }

    /// Returns whether a token is stored.
    pub(in crate::areas::repositories) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Returns whether it is the same branch of the same remote repository.
    pub(in crate::areas::repositories) fn is_same_source(
        &self,
        url: &RepositoryUrl,
        branch: Option<&BranchName>,
    ) -> bool {
        self.url == *url && self.settings.branch.as_ref() == branch
    }
}

impl RepositorySettings {
    /// Returns the patterns of files that count.
    pub(in crate::areas::repositories) fn patterns(&self) -> Result<PathPatterns, PatternError> {
        PathPatterns::new(&self.include, &self.exclude)
    }

    /// Returns whether two settings select other files or commits.
    pub(in crate::areas::repositories) fn select_other_than(&self, other: &Self) -> bool {
        self.branch != other.branch
            || self.include != other.include
            || self.exclude != other.exclude
    }
}

impl RepositoryFiles {
    /// Returns all files.
    pub(in crate::areas::repositories) fn all(self) -> [StoredFile; 2] {
        [self.index, self.wiki]
    }
}

impl IndexedCommit {
    /// Returns the beginning of the name of the commit.
    pub(in crate::areas::repositories) fn short_commit(&self) -> String {
        self.commit.to_string().chars().take(limits::COMMIT_CHARS).collect()
    }
}
