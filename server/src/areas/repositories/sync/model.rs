//! Syncs of repositories.

use telltale_engine::TimestampMs;

use crate::app::App;
use crate::areas::repositories::git::BranchName;
use crate::areas::repositories::ids::{RepositoryId, SyncId};
use crate::areas::repositories::object_id::ObjectId;
use crate::areas::repositories::repository::SyncFailure;

/// A sync of a repository.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::repositories) struct Sync {
    pub(in crate::areas::repositories) id: SyncId,
    pub(in crate::areas::repositories) repository: RepositoryId,
    pub(in crate::areas::repositories) trigger: SyncTrigger,
    /// How often it was begun.
    pub(in crate::areas::repositories) attempts: u32,
    pub(in crate::areas::repositories) state: SyncState,
    pub(in crate::areas::repositories) started_at: TimestampMs,
}

/// Why a sync began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) enum SyncTrigger {
    /// The repository was created.
    Created,
    /// A user asked for it.
    Requested,
    /// The settings of the repository were changed.
    Changed,
    /// The branch has moved.
    Automatic,
}

/// How far a sync is.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::repositories) enum SyncState {
    /// It waits or runs.
    Started,
    /// It ended well.
    Completed(CompletedSync),
    /// It changed nothing.
    Failed(SyncFailure),
}

/// A sync that ended well.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::repositories) struct CompletedSync {
    pub(in crate::areas::repositories) at: TimestampMs,
    pub(in crate::areas::repositories) commit: ObjectId,
    pub(in crate::areas::repositories) branch: BranchName,
    pub(in crate::areas::repositories) stats: SyncStats,
}

/// What a sync has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::repositories) struct SyncStats {
    /// Files that were read: new and changed ones.
    pub(in crate::areas::repositories) files_processed: u64,
    /// Files that are as before.
    pub(in crate::areas::repositories) files_unchanged: u64,
    /// Files that are not in the index any more.
    pub(in crate::areas::repositories) files_removed: u64,
    /// Chunks of the files that were read.
    pub(in crate::areas::repositories) chunks_created: u64,
    /// Pages of the wiki and diagrams that were made.
    pub(in crate::areas::repositories) pages_generated: u64,
    pub(in crate::areas::repositories) skipped: SkippedFiles,
}

/// The files that are not indexed, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::repositories) struct SkippedFiles {
    /// By the patterns.
    pub(in crate::areas::repositories) excluded: u64,
    pub(in crate::areas::repositories) too_large: u64,
    pub(in crate::areas::repositories) binary: u64,
    pub(in crate::areas::repositories) not_utf8: u64,
    pub(in crate::areas::repositories) generated: u64,
    /// Symbolic links.
    pub(in crate::areas::repositories) links: u64,
    pub(in crate::areas::repositories) submodules: u64,
    /// Paths that are not UTF-8, too long, or lead elsewhere.
    pub(in crate::areas::repositories) invalid_paths: u64,
}

impl Sync {
    /// Returns a sync that is to be stored.
    pub(in crate::areas::repositories) fn new(
        app: &App,
        repository: RepositoryId,
        trigger: SyncTrigger,
    ) -> Self {
        Self {
            id: SyncId(app.new_number()),
            repository,
            trigger,
            attempts: 0,
            state: SyncState::Started,
            started_at: app.now(),
        }
    }
}

impl SyncTrigger {
    /// Returns the name in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Requested => "requested",
            Self::Changed => "changed",
            Self::Automatic => "automatic",
        }
    }

    /// Parses a name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let all = [Self::Created, Self::Requested, Self::Changed, Self::Automatic];
        all.into_iter().find(|trigger| trigger.name() == name)
    }
}

impl SyncState {
    /// Returns the name in the API.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns whether it will not change any more.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, Self::Started)
    }
}
