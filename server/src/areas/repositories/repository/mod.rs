//! Repositories: where the code is, which of its files count, and what is indexed of it.

mod model;
mod ops;
mod patterns;
mod store;

pub(super) use model::{
    IndexedCommit, Repository, RepositoryFiles, RepositorySettings, RepositoryState, StoredFile,
    SyncFailure,
};
pub(in crate::areas) use ops::has_secrets;
pub(super) use ops::{get, seal, token};
pub(super) use patterns::{PathPatterns, PatternError};
