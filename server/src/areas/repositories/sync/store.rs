//! The stored documents of syncs.
//!
//! The collection is `repository_syncs`, the key a sync's id.
//!
//! ```text
//! {"repository", "trigger", "attempts", "state", "started_at_ms"}
//! state: {"is": "started"}
//!        | {"is": "completed", "commit", "branch", "stats", "completed_at_ms"}
//!        | {"is": "failed", "code", "message", "failed_at_ms"}
//! stats: {"files_processed", "files_unchanged", "files_removed", "chunks_created",
//!         "pages_generated", "excluded", "too_large", "binary", "not_utf8", "generated", "links",
//!         "submodules", "invalid_paths"}
//! ```

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{CompletedSync, SkippedFiles, Sync, SyncState, SyncStats, SyncTrigger};
use crate::areas::repositories::documents::StoredResource;
use crate::areas::repositories::error::{RepositoryError, RepositoryKind};
use crate::areas::repositories::git::BranchName;
use crate::areas::repositories::ids::{RepositoryId, SyncId};
use crate::areas::repositories::limits;
use crate::areas::repositories::object_id::ObjectId;
use crate::areas::repositories::repository::SyncFailure;

/// A stored sync, without its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "SyncDocument", into = "SyncDocument")]
pub(in crate::areas::repositories) struct StoredSync(Sync);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SyncDocument {
    repository: String,
    trigger: String,
    attempts: u32,
    state: StateDocument,
    started_at_ms: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
enum StateDocument {
    Started,
    Completed { commit: String, branch: String, stats: StatsDocument, completed_at_ms: i64 },
    Failed { code: String, message: String, failed_at_ms: i64 },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StatsDocument {
    files_processed: u64,
    files_unchanged: u64,
    files_removed: u64,
    chunks_created: u64,
    pages_generated: u64,
    excluded: u64,
    too_large: u64,
    binary: u64,
    not_utf8: u64,
    generated: u64,
    links: u64,
    submodules: u64,
    invalid_paths: u64,
}

impl From<StatsDocument> for SyncStats {
    fn from(document: StatsDocument) -> Self {
        Self {
            files_processed: document.files_processed,
            files_unchanged: document.files_unchanged,
            files_removed: document.files_removed,
            chunks_created: document.chunks_created,
            pages_generated: document.pages_generated,
            skipped: SkippedFiles {
                excluded: document.excluded,
                too_large: document.too_large,
                binary: document.binary,
                not_utf8: document.not_utf8,
                generated: document.generated,
                links: document.links,
                submodules: document.submodules,
                invalid_paths: document.invalid_paths,
            },
        }
    }
}

impl From<SyncStats> for StatsDocument {
    fn from(stats: SyncStats) -> Self {
        let skipped = stats.skipped;
        Self {
            files_processed: stats.files_processed,
            files_unchanged: stats.files_unchanged,
            files_removed: stats.files_removed,
            chunks_created: stats.chunks_created,
            pages_generated: stats.pages_generated,
            excluded: skipped.excluded,
            too_large: skipped.too_large,
            binary: skipped.binary,
            not_utf8: skipped.not_utf8,
            generated: skipped.generated,
            links: skipped.links,
            submodules: skipped.submodules,
            invalid_paths: skipped.invalid_paths,
        }
    }
}

impl TryFrom<SyncDocument> for StoredSync {
    type Error = String;

    fn try_from(document: SyncDocument) -> Result<Self, String> {
        let state = match document.state {
            StateDocument::Started => SyncState::Started,
            StateDocument::Completed { commit, branch, stats, completed_at_ms } => {
                SyncState::Completed(CompletedSync {
                    at: TimestampMs(completed_at_ms),
                    commit: ObjectId::parse(&commit).map_err(|error| error.to_string())?,
                    branch: BranchName::parse(&branch).map_err(|error| error.to_string())?,
                    stats: stats.into(),
                })
            }
            StateDocument::Failed { code, message, failed_at_ms } => {
                SyncState::Failed(SyncFailure { code, message, at: TimestampMs(failed_at_ms) })
            }
        };
        Ok(Self(Sync {
            // The key of the document, which `from_stored` sets.
            id: SyncId(0),
            repository: RepositoryId::parse(&document.repository)
                .ok_or("repository is not valid")?,
            trigger: SyncTrigger::parse(&document.trigger).ok_or("trigger is not valid")?,
            attempts: document.attempts,
            state,
            started_at: TimestampMs(document.started_at_ms),
        }))
    }
}

impl From<StoredSync> for SyncDocument {
    fn from(StoredSync(sync): StoredSync) -> Self {
        let state = match sync.state {
            SyncState::Started => StateDocument::Started,
            SyncState::Completed(completed) => StateDocument::Completed {
                commit: completed.commit.to_string(),
                branch: completed.branch.to_string(),
                stats: completed.stats.into(),
                completed_at_ms: completed.at.0,
            },
            SyncState::Failed(SyncFailure { code, message, at }) => {
                StateDocument::Failed { code, message, failed_at_ms: at.0 }
            }
        };
        Self {
            repository: sync.repository.text(),
            trigger: sync.trigger.name().to_owned(),
            attempts: sync.attempts,
            state,
            started_at_ms: sync.started_at.0,
        }
    }
}

impl StoredResource for Sync {
    type Kind = RepositoryKind;
    type Error = RepositoryError;
    type Stored = StoredSync;
    const COLLECTION: Collection = Collection("repository_syncs");
    const KIND: RepositoryKind = RepositoryKind::Sync;
    const COUNT_MAX: usize = limits::SYNCS_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.text().into()
    }

    fn to_stored(&self) -> StoredSync {
        StoredSync(self.clone())
    }

    fn from_stored(id: String, StoredSync(sync): StoredSync) -> Self {
        Self { id: SyncId::of_document(&id), ..sync }
    }
}
