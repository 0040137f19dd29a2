//! The stored documents of repositories.
//!
//! The collection is `repositories`, the key a repository's id.
//!
//! ```text
//! {"name", "url", "branch"?, "auto_sync", "include", "exclude", "token"?, "state", "indexed"?,
//!  "created_by", "created_at_ms"}
//! state:   {"is": "running", "sync"} | {"is": "synced"}
//!          | {"is": "failed", "code", "message", "failed_at_ms"}
//! indexed: {"commit", "branch", "synced_at_ms", "selection", "index": <file>, "wiki": <file>,
//!           "files_indexed", "chunks_indexed", "wiki_pages", "diagrams"}
//! file:    {"digest", "bytes", "memory_bytes"}
//! ```
//!
//! `token` is sealed for the collection, the id and the field `token`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{
    IndexedCommit, Repository, RepositoryFiles, RepositorySettings, RepositoryState, StoredFile,
    SyncFailure,
};
use crate::areas::repositories::documents::StoredResource;
use crate::areas::repositories::error::{RepositoryError, RepositoryKind};
use crate::areas::repositories::git::{BranchName, RepositoryUrl};
use crate::areas::repositories::ids::{RepositoryId, SyncId};
use crate::areas::repositories::limits;
use crate::areas::repositories::object_id::ObjectId;
use crate::platform::sealing::SealContext;

const COLLECTION: Collection = Collection("repositories");

/// A stored repository, without its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "RepositoryDocument", into = "RepositoryDocument")]
pub(in crate::areas::repositories) struct StoredRepository(Repository);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RepositoryDocument {
    name: String,
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    auto_sync: bool,
    include: Vec<String>,
    exclude: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    state: StateDocument,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    indexed: Option<IndexedDocument>,
    created_by: String,
    created_at_ms: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
enum StateDocument {
    Running { sync: String },
    Synced,
    Failed { code: String, message: String, failed_at_ms: i64 },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct IndexedDocument {
    commit: String,
    branch: String,
    synced_at_ms: i64,
    selection: u64,
    index: FileDocument,
    wiki: FileDocument,
    files_indexed: u64,
    chunks_indexed: u64,
    wiki_pages: u64,
    diagrams: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct FileDocument {
    digest: String,
    bytes: u64,
    #[serde(default)]
    memory_bytes: u64,
}

impl TryFrom<FileDocument> for StoredFile {
    type Error = String;

    fn try_from(document: FileDocument) -> Result<Self, String> {
        let FileDocument { digest, bytes, memory_bytes } = document;
        let digest = digest.parse().map_err(|error| format!("digest: {error}"))?;
        Ok(Self { digest, bytes, memory_bytes: memory_bytes.max(bytes) })
    }
}

impl From<StoredFile> for FileDocument {
    fn from(StoredFile { digest, bytes, memory_bytes }: StoredFile) -> Self {
        Self { digest: digest.to_string(), bytes, memory_bytes }
    }
}

impl TryFrom<IndexedDocument> for IndexedCommit {
    type Error = String;

    fn try_from(document: IndexedDocument) -> Result<Self, String> {
        Ok(Self {
            commit: ObjectId::parse(&document.commit).map_err(|error| error.to_string())?,
            branch: BranchName::parse(&document.branch).map_err(|error| error.to_string())?,
            synced_at: TimestampMs(document.synced_at_ms),
            selection: document.selection,
            files: RepositoryFiles {
                index: document.index.try_into()?,
                wiki: document.wiki.try_into()?,
            },
            files_indexed: document.files_indexed,
            chunks_indexed: document.chunks_indexed,
            wiki_pages: document.wiki_pages,
            diagrams: document.diagrams,
        })
    }
}

impl From<IndexedCommit> for IndexedDocument {
    fn from(indexed: IndexedCommit) -> Self {
        Self {
            commit: indexed.commit.to_string(),
            branch: indexed.branch.to_string(),
            synced_at_ms: indexed.synced_at.0,
            selection: indexed.selection,
            index: indexed.files.index.into(),
            wiki: indexed.files.wiki.into(),
            files_indexed: indexed.files_indexed,
            chunks_indexed: indexed.chunks_indexed,
            wiki_pages: indexed.wiki_pages,
            diagrams: indexed.diagrams,
        }
    }
}

impl TryFrom<StateDocument> for RepositoryState {
    type Error = String;

    fn try_from(document: StateDocument) -> Result<Self, String> {
        Ok(match document {
            StateDocument::Running { sync } => {
                Self::Running(SyncId::parse(&sync).ok_or("sync is not valid")?)
            }
            StateDocument::Synced => Self::Synced,
            StateDocument::Failed { code, message, failed_at_ms } => {
                Self::Failed(SyncFailure { code, message, at: TimestampMs(failed_at_ms) })
            }
        })
    }
}

impl From<RepositoryState> for StateDocument {
    fn from(state: RepositoryState) -> Self {
        match state {
            RepositoryState::Running(sync) => Self::Running { sync: sync.text() },
            RepositoryState::Synced => Self::Synced,
            RepositoryState::Failed(SyncFailure { code, message, at }) => {
                Self::Failed { code, message, failed_at_ms: at.0 }
            }
        }
    }
}

impl TryFrom<RepositoryDocument> for StoredRepository {
    type Error = String;

    fn try_from(document: RepositoryDocument) -> Result<Self, String> {
        let branch = document.branch.as_deref().map(BranchName::parse).transpose();
        let settings = RepositorySettings {
            branch: branch.map_err(|error| error.to_string())?,
            auto_sync: document.auto_sync,
            include: document.include,
            exclude: document.exclude,
        };
        Ok(Self(Repository {
            // The key of the document, which `from_stored` sets.
            id: RepositoryId(0),
            name: document.name,
            url: RepositoryUrl::of_stored(&document.url).map_err(|error| error.to_string())?,
            settings,
            token: document.token,
            state: document.state.try_into()?,
            indexed: document.indexed.map(TryInto::try_into).transpose()?,
            created_by: document.created_by,
            created_at: TimestampMs(document.created_at_ms),
        }))
    }
}

impl From<StoredRepository> for RepositoryDocument {
    fn from(StoredRepository(repository): StoredRepository) -> Self {
        let settings = repository.settings;
        Self {
            name: repository.name,
            url: repository.url.to_string(),
            branch: settings.branch.map(|branch| branch.to_string()),
            auto_sync: settings.auto_sync,
            include: settings.include,
            exclude: settings.exclude,
            token: repository.token,
            state: repository.state.into(),
            indexed: repository.indexed.map(Into::into),
            created_by: repository.created_by,
            created_at_ms: repository.created_at.0,
        }
    }
}

impl StoredResource for Repository {
    type Kind = RepositoryKind;
    type Error = RepositoryError;
    type Stored = StoredRepository;
    const COLLECTION: Collection = COLLECTION;
    const KIND: RepositoryKind = RepositoryKind::Repository;
    const COUNT_MAX: usize = limits::REPOSITORIES_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.text().into()
    }

    fn to_stored(&self) -> StoredRepository {
        StoredRepository(self.clone())
    }

    fn from_stored(id: String, StoredRepository(repository): StoredRepository) -> Self {
        Self { id: RepositoryId::of_document(&id), ..repository }
    }
}

/// Returns the place of the token of a repository.
pub(super) fn seal_context(id: &str) -> SealContext<'_> {
    SealContext { collection: COLLECTION.0, id, field: "token" }
}
