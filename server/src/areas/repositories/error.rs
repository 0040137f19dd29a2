//! The errors of the area and their error codes.

use telltale_engine::{Error, MemoryFull};

use super::git::GitUrlError;
use super::ids::{RepositoryId, SessionId, SyncId};
use super::index::IndexError;
use super::limits;
use super::llm::LlmSetupError;
use super::repository::PatternError;
use crate::http::{ApiError, ErrorCode, PathParam, Resource};
use crate::limits::{OVERLOADED_RETRY_SECONDS, UNAVAILABLE_RETRY_SECONDS};
use crate::platform::documents::DocumentError;
use crate::platform::fields::Invalid;
use crate::platform::sealing::{KeyFileError, SealError, UnsealError};

/// The code of a question about a repository that has no index yet.
pub(super) const NOT_SYNCED: ErrorCode = ErrorCode::AreaConflict("repository_not_synced");
/// The code of a repository that is there already.
pub(super) const EXISTS: ErrorCode = ErrorCode::AreaConflict("repository_exists");
/// A file of a repository, in errors.
pub(super) const FILE: &Resource = &Resource::new("file_not_found", "file");
/// A page of a wiki, in errors.
pub(super) const PAGE: &Resource = &Resource::new("page_not_found", "page");

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// No resource of this kind has this id.
    #[error("there is no such resource {1:?}")]
    NotFound(RepositoryKind, String),
    /// The revision of the resource does not match the caller's `If-Match`.
    #[error("the resource has changed: If-Match does not name its current ETag")]
    Changed,
    /// The limit on resources of a kind is reached.
    #[error("the limit of {max} {} is reached", kind.plural())]
    TooMany {
        /// The resources.
        kind: RepositoryKind,
        /// The limit.
        max: usize,
    },
    /// The branch of the remote repository is there already.
    #[error("this branch of this URL is the repository {0}")]
    Exists(String),
    /// Nothing of the repository is indexed yet.
    #[error("the repository is not synced yet")]
    NotSynced,
    /// The commit that is indexed has no such file, or it was left out.
    #[error("the indexed commit has no such file, or it was left out")]
    NoFile,
    /// A session has as many turns as it may.
    #[error(
        "the session has {} questions, as many as it may: begin another one",
        limits::SESSION_TURNS_MAX
    )]
    SessionFull,
    /// The wiki has no such page.
    #[error("the wiki has no such page")]
    NoPage,
    /// A field is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The index is missing or damaged; the next sync makes a new one.
    #[error("the index of the repository cannot be read: sync the repository")]
    IndexLost(String),
    /// Memory for an index is not available.
    #[error(transparent)]
    MemoryFull(#[from] MemoryFull),
    /// The key for secrets is missing or unusable.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// A secret cannot be sealed.
    #[error("a secret cannot be sealed: {0}")]
    Seal(#[from] SealError),
    /// A stored secret cannot be opened.
    #[error("the token of the repository cannot be opened: {0}")]
    Unseal(#[from] UnsealError),
    /// A stored token is not text.
    #[error("the token of the repository is damaged")]
    TokenDamaged,
    /// The engine failed or refused the request.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// The state of repositories cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum RepositoriesSetupError {
    /// What is stored cannot be read.
    #[error("cannot read the repositories: {0}")]
    Stored(#[from] RepositoryError),
    /// The language model cannot be set up.
    #[error(transparent)]
    Llm(#[from] LlmSetupError),
    /// The system does not say where this program or its data is.
    #[error("the paths of this program are not known: {0}")]
    Paths(#[from] std::io::Error),
}

/// The kinds of resources of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryKind {
    /// A repository.
    Repository,
    /// A sync.
    Sync,
    /// A chat session.
    Session,
    /// A question and its answer.
    Turn,
}

impl RepositoryKind {
    fn resource(self) -> &'static Resource {
        match self {
            Self::Repository => RepositoryId::RESOURCE,
            Self::Sync => SyncId::RESOURCE,
            Self::Session | Self::Turn => SessionId::RESOURCE,
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Repository => "repositories",
            Self::Sync => "syncs",
            Self::Session => "chat sessions",
            Self::Turn => "questions in all chat sessions",
        }
    }
}

impl RepositoryError {
    /// Returns the error for background work.
    pub(super) fn into_engine(self) -> Error {
        match self {
            Self::Engine(error) => error,
            other => Error::Unavailable(other.to_string()),
        }
    }
}

impl From<DocumentError<RepositoryKind>> for RepositoryError {
    fn from(error: DocumentError<RepositoryKind>) -> Self {
        match error {
            DocumentError::NotFound(kind, id) => Self::NotFound(kind, id),
            DocumentError::Changed => Self::Changed,
            DocumentError::TooMany { kind, max } => Self::TooMany { kind, max },
        }
    }
}

impl From<PatternError> for RepositoryError {
    fn from(error: PatternError) -> Self {
        Self::Invalid(Invalid::field("include_patterns", format!("is not valid: {error}")))
    }
}

impl From<GitUrlError> for RepositoryError {
    fn from(error: GitUrlError) -> Self {
        Self::Invalid(Invalid::field("url", error.to_string()))
    }
}

impl From<IndexError> for RepositoryError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Stopped => Self::Engine(Error::Overloaded(error.to_string())),
            error => Self::IndexLost(error.to_string()),
        }
    }
}

impl From<RepositoryError> for ApiError {
    fn from(error: RepositoryError) -> Self {
        let message = error.to_string();
        match error {
            RepositoryError::NotFound(kind, id) => Self::missing(kind.resource(), &id),
            RepositoryError::NoFile => Self::new(ErrorCode::Missing(FILE), message),
            RepositoryError::NoPage => Self::new(ErrorCode::Missing(PAGE), message),
            RepositoryError::Changed => Self::new(ErrorCode::PreconditionFailed, message),
            RepositoryError::TooMany { .. } => Self::new(ErrorCode::Conflict, message),
            RepositoryError::Exists(id) => Self::new(EXISTS, message).id(id),
            RepositoryError::SessionFull => Self::new(ErrorCode::InvalidState, message),
            RepositoryError::NotSynced => Self::new(NOT_SYNCED, message),
            RepositoryError::Invalid(invalid) => invalid.into(),
            RepositoryError::IndexLost(cause) => Self::new(ErrorCode::Unavailable, message)
                .retry_after(UNAVAILABLE_RETRY_SECONDS)
                .caused_by(cause),
            RepositoryError::MemoryFull(full) => {
                let shown = "there is no memory for the index now";
                Self::new(ErrorCode::Overloaded, shown)
                    .retry_after(OVERLOADED_RETRY_SECONDS)
                    .caused_by(full)
            }
            // What is wrong with the key is for the operator.
            RepositoryError::Key(_) | RepositoryError::Unseal(_) => {
                let shown = "secrets cannot be sealed; the log of the server says why";
                Self::new(ErrorCode::Unavailable, shown)
                    .retry_after(UNAVAILABLE_RETRY_SECONDS)
                    .caused_by(message)
            }
            RepositoryError::Seal(SealError::TooLong { .. }) => {
                Invalid::field("access_token", "is too long").into()
            }
            RepositoryError::Seal(_) | RepositoryError::TokenDamaged => Self::internal(message),
            RepositoryError::Engine(error) => error.into(),
        }
    }
}
