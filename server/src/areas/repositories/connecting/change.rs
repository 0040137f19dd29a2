//! What users ask for: new repositories, and changes of them.

use crate::areas::repositories::git::{BranchName, RepositoryUrl};
use crate::areas::repositories::repository::RepositorySettings;
use crate::platform::sealing::Secret;

/// A repository that is to be created.
#[derive(Clone, Debug)]
pub(super) struct NewRepository {
    pub(super) name: Option<String>,
    pub(super) url: RepositoryUrl,
    pub(super) settings: RepositorySettings,
    pub(super) token: Option<Secret>,
}

/// A change of a repository; `None` leaves unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RepositoryChange {
    pub(super) name: Option<String>,
    /// `Some(None)` is the default branch.
    pub(super) branch: Option<Option<BranchName>>,
    pub(super) auto_sync: Option<bool>,
    pub(super) include: Option<Vec<String>>,
    pub(super) exclude: Option<Vec<String>>,
    /// `Some(None)` removes the token.
    pub(super) token: Option<Option<Secret>>,
}
