//! The operations of users on repositories. All of them block.

use telltale_engine::Versioned;

use super::change::{NewRepository, RepositoryChange};
use crate::app::App;
use crate::areas::repositories::documents::{self, Changes};
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::git::{BranchName, RepositoryUrl};
use crate::areas::repositories::ids::RepositoryId;
use crate::areas::repositories::repository::{Repository, RepositoryState, seal};
use crate::areas::repositories::sync::{self, Sync, SyncTrigger};

/// Returns all repositories, newest first.
pub(super) fn list(app: &App) -> Result<Vec<Repository>, RepositoryError> {
    documents::select(app.engine(), |found: Versioned<Repository>| Some(found.value))
}

/// Creates a repository on behalf of a user; its first sync waits then.
pub(super) fn create(
    app: &App,
    new: NewRepository,
    created_by: String,
) -> Result<Versioned<Repository>, RepositoryError> {
    new.settings.patterns()?;
    let id = RepositoryId(app.new_number());
    let token = new.token.map(|token| seal(app, id, &token)).transpose()?;
    let mut changes = documents::begin(app);
    check_unique(&changes, id, &new.url, new.settings.branch.as_ref())?;
    let sync = Sync::new(app, id, SyncTrigger::Created);
    let repository = Repository {
        id,
        name: new.name.unwrap_or_else(|| new.url.name().to_owned()),
        url: new.url,
        settings: new.settings,
        token,
        state: RepositoryState::Running(sync.id),
        indexed: None,
        created_by,
        created_at: app.now(),
    };
    changes.insert(&repository)?;
    changes.insert(&sync)?;
    let show = |_| app.repositories().directory().put(&repository);
    let revision = changes.commit_then(None, show)?;
    sync::enqueue(app, sync.id);
    Ok(Versioned { value: repository, revision })
}

/// Changes a repository. A sync begins if other files or commits are to be indexed, or if there is
/// another token after a failure.
pub(super) fn update(
    app: &App,
    id: RepositoryId,
    change: RepositoryChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<Repository>, RepositoryError> {
    let token = change.token.map(|token| token.map(|token| seal(app, id, &token)).transpose());
    let token = token.transpose()?;
    let mut changes = documents::begin(app);
    let Versioned { value: mut repository, revision } =
        changes.get::<Repository>(&id.text(), fits)?;
    let before = repository.settings.clone();
    let settings = &mut repository.settings;
    set(&mut repository.name, change.name);
    set(&mut settings.branch, change.branch);
    set(&mut settings.auto_sync, change.auto_sync);
    set(&mut settings.include, change.include);
    set(&mut settings.exclude, change.exclude);
    settings.patterns()?;
    let has_new_token = token.is_some();
    set(&mut repository.token, token);
    if repository.settings.branch != before.branch {
        check_unique(&changes, id, &repository.url, repository.settings.branch.as_ref())?;
    }
    let is_failed = matches!(repository.state, RepositoryState::Failed(_));
    let is_due = repository.settings.select_other_than(&before) || (has_new_token && is_failed);
    let started = if is_due {
        sync::begin_again(app, &mut changes, &mut repository, SyncTrigger::Changed)?
    } else {
        None
    };
    changes.replace(&repository, revision)?;
    let show = |_| app.repositories().directory().put(&repository);
    let revision = changes.commit_then(None, show)?;
    if let Some(sync) = started {
        sync::enqueue(app, sync.id);
    }
    Ok(Versioned { value: repository, revision })
}

/// Deletes a repository, its syncs, chat sessions, index and fetched objects.
pub(super) fn delete(
    app: &App,
    id: RepositoryId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), RepositoryError> {
    let mut changes = documents::begin(app);
    let revision = changes.revision::<Repository>(&id.text(), fits)?;
    changes.delete::<Repository>(&id.text(), revision);
    sync::delete_all(app, &mut changes, id)?;
    let syncs = app.repositories().directory().syncs(id);
    changes.commit_then(None, |_| app.repositories().directory().remove(id))?;
    app.repositories().running().cancel(&syncs);
    app.file_waste().set();
    app.repositories().set_directory_waste();
    Ok(())
}

fn check_unique(
    changes: &Changes<'_>,
    id: RepositoryId,
    url: &RepositoryUrl,
    branch: Option<&BranchName>,
) -> Result<(), RepositoryError> {
    let same = changes.select(|found: Versioned<Repository>| {
        let other = found.value;
        (other.id != id && other.is_same_source(url, branch)).then_some(other.id)
    })?;
    match same.first() {
        None => Ok(()),
        Some(other) => Err(RepositoryError::Exists(other.text())),
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
