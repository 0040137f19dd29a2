//! What can go wrong with an index.

/// An index cannot be built or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// The repository is larger than an index may be: leave files out.
    #[error("an index has at most {max} {what}")]
    LimitReached {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        max: u64,
    },
    /// A path was added before: add each file once.
    #[error("the file {path} is in the index already")]
    DuplicatePath {
        /// The path.
        path: String,
    },
    /// An outline refers to lines or symbols that do not exist: outline the text that is added.
    #[error("the outline of {path} does not belong to its text")]
    InvalidOutline {
        /// The path of the file.
        path: String,
    },
    /// The index is of another version of the format: build it again.
    #[error("the index has the version {version} of the format, which is not supported")]
    UnsupportedVersion {
        /// The version.
        version: u8,
    },
    /// The bytes are not those of an index, or were changed: build it again.
    #[error("the index is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// Nobody waits for what is read any more: see [`super::Index::with_stop`].
    #[error("the reading of the index was stopped")]
    Stopped,
    /// A file belongs to another index: look it up by its path.
    #[error("the index has no such file")]
    UnknownFile,
}
