//! What comes of a sync.

use telltale_engine::{Error, MemoryFull, PinnedFile};

use super::model::SyncStats;
use crate::areas::repositories::git::{BranchName, GitError};
use crate::areas::repositories::index::IndexError;
use crate::areas::repositories::limits;
use crate::areas::repositories::object_id::ObjectId;
use crate::areas::repositories::repository::{IndexedCommit, PatternError};

/// What a sync has found.
#[derive(Debug)]
pub(super) enum SyncOutcome {
    /// What is indexed is the newest commit.
    Unchanged {
        /// The commit.
        commit: ObjectId,
        /// The branch.
        branch: BranchName,
        /// The number of files.
        files: u64,
    },
    /// There is a new index.
    Indexed(Box<NewIndex>),
}

/// A new index, whose files are stored.
#[derive(Debug)]
pub(super) struct NewIndex {
    pub(super) indexed: IndexedCommit,
    pub(super) stats: SyncStats,
    /// Keep the files until a document names them.
    pub(super) pins: [PinnedFile; 2],
}

/// Why a sync failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SyncError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The patterns are not valid any more.
    #[error(transparent)]
    Patterns(#[from] PatternError),
    /// The patterns take too long for so many files.
    #[error(
        "matching the paths with include and exclude took more than {} s: use simpler patterns",
        limits::SELECTION_TIMEOUT.as_secs()
    )]
    PatternsTooSlow,
    /// The index is too large to be asked.
    #[error(
        "the index takes {bytes} bytes of memory, more than repositories.index_memory and memory.limit allow ({max}): exclude some files"
    )]
    IndexTooLarge {
        /// Bytes of the index in memory.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The text of all selected files is too much.
    #[error(
        "the selected files have {bytes} bytes, more than repositories.text_bytes_max allows ({max}): exclude some"
    )]
    TextTooLarge {
        /// Bytes of the selected files.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The memory that the text needs is not available.
    #[error("there is no memory to index the repository now: {0}")]
    Memory(#[from] MemoryFull),
    /// The index cannot be made, or read.
    #[error("the index cannot be made: {0}")]
    Index(#[from] IndexError),
    /// What the index contains is not what was fetched.
    #[error("the new index is not what was fetched: the file {0:?} differs")]
    Differs(String),
    /// The pages cannot be written.
    #[error("the pages of the wiki cannot be stored: {0}")]
    Wiki(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] Error),
    /// A part of the server ended.
    #[error("the sync was interrupted")]
    Interrupted,
}

impl SyncError {
    /// Returns the code in the API.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Git(error) => error.code(),
            Self::Patterns(_) | Self::PatternsTooSlow => "invalid_patterns",
            Self::TextTooLarge { .. } | Self::IndexTooLarge { .. } => "too_large",
            Self::Memory(_) => "out_of_memory",
            Self::Index(_) | Self::Differs(_) | Self::Wiki(_) => "index_failed",
            Self::Engine(_) => "storage_failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the message for users, of limited length.
    pub(super) fn message(&self) -> String {
        self.to_string().chars().take(limits::FOREIGN_TEXT_CHARS_MAX).collect()
    }
}
