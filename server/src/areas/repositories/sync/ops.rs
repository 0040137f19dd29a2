//! The operations on syncs. All of them block.

use telltale_engine::Versioned;

use super::model::{CompletedSync, Sync, SyncState, SyncStats, SyncTrigger};
use super::outcome::{NewIndex, SyncError, SyncOutcome};
use super::work;
use crate::app::App;
use crate::areas::repositories::documents::{self, Changes};
use crate::areas::repositories::error::{RepositoryError, RepositoryKind};
use crate::areas::repositories::ids::{RepositoryId, SyncId};
use crate::areas::repositories::limits;
use crate::areas::repositories::repository::{self, Repository, RepositoryState, SyncFailure};
use crate::platform::sealing::Secret;

/// The code of a sync that was interrupted each time.
const INTERRUPTED: &str = "interrupted";

/// What a sync works on.
#[derive(Clone, Debug)]
pub(super) struct SyncPlan {
    pub(super) sync: SyncId,
    pub(super) repository: Repository,
    pub(super) token: Option<Secret>,
}

/// Returns a sync of a repository.
pub(super) fn get(
    app: &App,
    repository: RepositoryId,
    id: SyncId,
) -> Result<Versioned<Sync>, RepositoryError> {
    check_repository(app, repository)?;
    let found: Versioned<Sync> = documents::get(app.engine(), &id.text())?;
    if found.value.repository == repository {
        Ok(found)
    } else {
        Err(RepositoryError::NotFound(RepositoryKind::Sync, id.text()))
    }
}

/// Returns syncs of a repository, newest first, and how many there are.
pub(super) fn list(
    app: &App,
    repository: RepositoryId,
    offset: usize,
    limit: usize,
) -> Result<Vec<Sync>, RepositoryError> {
    check_repository(app, repository)?;
    let ids = app.repositories().directory().syncs(repository);
    let mut syncs = Vec::new();
    for id in ids.into_iter().skip(offset).take(limit) {
        match documents::get::<Sync>(app.engine(), &id.text()) {
            Ok(found) => syncs.push(found.value),
            // Deleted meanwhile.
            Err(RepositoryError::NotFound(..)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(syncs)
}

/// Begins a sync of a repository, unless one waits or runs: that one is returned.
pub(super) fn start(
    app: &App,
    id: RepositoryId,
    trigger: SyncTrigger,
) -> Result<(Sync, IsNew), RepositoryError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<Repository>(&id.text(), |_| true)?;
    let Versioned { value: mut repository, revision } = found;
    let Some(sync) = begin_again(app, &mut changes, &mut repository, trigger)? else {
        let running = repository.running().map(|sync| sync.text());
        let sync = documents::get::<Sync>(app.engine(), &running.unwrap_or_default())?;
        return Ok((sync.value, IsNew::No));
    };
    changes.replace(&repository, revision)?;
    changes.commit_then(None, |_| app.repositories().directory().put(&repository))?;
    trim(app, id)?;
    work::enqueue(app, sync.id);
    Ok((sync, IsNew::Yes))
}

/// Whether a sync was begun by this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsNew {
    /// It was.
    Yes,
    /// It waited or ran before.
    No,
}

/// Adds a sync to a change of a repository, unless one waits or runs. One that runs looks at the
/// settings again when it is done. The caller stores the repository, and enqueues the sync then.
pub(in crate::areas::repositories) fn begin_again(
    app: &App,
    changes: &mut Changes<'_>,
    repository: &mut Repository,
    trigger: SyncTrigger,
) -> Result<Option<Sync>, RepositoryError> {
    if repository.running().is_some() {
        return Ok(None);
    }
    let sync = Sync::new(app, repository.id, trigger);
    changes.insert(&sync)?;
    repository.state = RepositoryState::Running(sync.id);
    Ok(Some(sync))
}

/// Adds the deletion of all syncs of a repository to a change.
pub(in crate::areas::repositories) fn delete_all(
    app: &App,
    changes: &mut Changes<'_>,
    repository: RepositoryId,
) -> Result<(), RepositoryError> {
    for id in app.repositories().directory().syncs(repository) {
        delete(changes, id)?;
    }
    Ok(())
}

/// Begins to run a sync. Returns what it works on, and `None` if there is nothing to do: its
/// repository was deleted, it has ended, or it was begun too often.
pub(super) fn begin(app: &App, id: SyncId) -> Result<Option<SyncPlan>, RepositoryError> {
    let Some((mut changes, mut sync, revision)) = unfinished_one(app, id)? else { return Ok(None) };
    let found = match changes.get::<Repository>(&sync.repository.text(), |_| true) {
        Err(RepositoryError::NotFound(..)) => return Ok(None),
        found => found?,
    };
    if sync.attempts >= limits::SYNC_ATTEMPTS_MAX {
        let message = "the server ended during each attempt".to_owned();
        let failure = failure(app, INTERRUPTED, message);
        end(app, changes, found, (sync, revision), (Err(failure), None))?;
        return Ok(None);
    }
    let token = match repository::token(app, &found.value) {
        Ok(token) => token,
        Err(error) => {
            let failure = failure(app, "token_unreadable", error.to_string());
            end(app, changes, found, (sync, revision), (Err(failure), None))?;
            return Ok(None);
        }
    };
    sync.attempts += 1;
    changes.replace(&sync, revision)?;
    changes.commit(None)?;
    Ok(Some(SyncPlan { sync: id, repository: found.value, token }))
}

/// Stores what came of a sync.
pub(super) fn finish(
    app: &App,
    plan: &SyncPlan,
    outcome: Result<SyncOutcome, SyncError>,
) -> Result<(), RepositoryError> {
    let Some((changes, sync, revision)) = unfinished_one(app, plan.sync)? else {
        set_waste(app);
        return Ok(());
    };
    let found = match changes.get::<Repository>(&sync.repository.text(), |_| true) {
        Err(RepositoryError::NotFound(..)) => {
            set_waste(app);
            return Ok(());
        }
        found => found?,
    };
    let has_failed = outcome.is_err();
    let ended = match outcome {
        Ok(outcome) => Ok(outcome),
        Err(error) => {
            tracing::warn!(repository = %plan.repository.id.text(), code = error.code(), %error,
                "a repository is not synced");
            Err(failure(app, error.code(), error.message()))
        }
    };
    let before = &plan.repository;
    let is_outdated = found.value.settings.select_other_than(&before.settings)
        || has_failed && found.value.token != before.token;
    // The settings, or the token without which it failed, were changed while it ran.
    let next = is_outdated.then_some(SyncTrigger::Changed);
    end(app, changes, found, (sync, revision), (ended, next))
}

/// Returns the syncs that are to be run, and are not at the moment.
pub(super) fn unfinished(app: &App) -> Vec<SyncId> {
    let mut unfinished = app.repositories().directory().unfinished();
    unfinished.retain(|id| !app.repositories().is_running(*id));
    unfinished
}

fn check_repository(app: &App, id: RepositoryId) -> Result<(), RepositoryError> {
    if app.repositories().directory().contains(id) {
        Ok(())
    } else {
        Err(RepositoryError::NotFound(RepositoryKind::Repository, id.text()))
    }
}

/// Begins to change a sync; `None` if it was deleted or has ended.
fn unfinished_one(
    app: &App,
    id: SyncId,
) -> Result<Option<(Changes<'_>, Sync, u64)>, RepositoryError> {
    let changes = documents::begin(app);
    match changes.get::<Sync>(&id.text(), |_| true) {
        Err(RepositoryError::NotFound(..)) => Ok(None),
        Err(error) => Err(error),
        Ok(found) if found.value.state.is_final() => Ok(None),
        Ok(Versioned { value, revision }) => Ok(Some((changes, value, revision))),
    }
}

/// Ends a sync, and begins the one that follows it, if any: all documents change together, so that
/// nobody sees the outcome of a sync that is outdated already.
fn end(
    app: &App,
    mut changes: Changes<'_>,
    found: Versioned<Repository>,
    (mut sync, of_sync): (Sync, u64),
    (ended, next): (Result<SyncOutcome, SyncFailure>, Option<SyncTrigger>),
) -> Result<(), RepositoryError> {
    let Versioned { value: mut repository, revision } = found;
    let at = app.now();
    let mut pins = None;
    match ended {
        Err(failure) => {
            sync.state = SyncState::Failed(failure.clone());
            repository.state = RepositoryState::Failed(failure);
        }
        Ok(SyncOutcome::Unchanged { commit, branch, files }) => {
            let stats = SyncStats { files_unchanged: files, ..SyncStats::default() };
            sync.state = SyncState::Completed(CompletedSync { at, commit, branch, stats });
            repository.state = RepositoryState::Synced;
            if let Some(indexed) = &mut repository.indexed {
                indexed.synced_at = at;
            }
        }
        Ok(SyncOutcome::Indexed(new)) => {
            let NewIndex { indexed, stats, pins: of_new } = *new;
            let (commit, branch) = (indexed.commit, indexed.branch.clone());
            sync.state = SyncState::Completed(CompletedSync { at, commit, branch, stats });
            repository.state = RepositoryState::Synced;
            // Those of before are not read any more.
            let before = repository.indexed.replace(indexed);
            for file in before.iter().chain(&repository.indexed).flat_map(|of| of.files.all()) {
                app.repositories().indexes().forget_lost(file.digest);
            }
            pins = Some(of_new);
        }
    }
    changes.replace(&sync, of_sync)?;
    let next = match next {
        Some(trigger) => begin_again(app, &mut changes, &mut repository, trigger)?,
        None => None,
    };
    changes.replace(&repository, revision)?;
    let committed = changes.commit_then(None, |_| app.repositories().directory().put(&repository));
    if let (Err(RepositoryError::Engine(_)), Some(pins)) = (&committed, pins) {
        // The change may be found applied at the next start.
        pins.into_iter().for_each(telltale_engine::PinnedFile::keep);
    }
    app.file_waste().set();
    committed?;
    if let Some(next) = next {
        work::enqueue(app, next.id);
        trim(app, repository.id)?;
    }
    Ok(())
}

/// Remembers that what a sync has fetched and stored may belong to nobody: its repository was
/// deleted while it ran.
fn set_waste(app: &App) {
    app.file_waste().set();
    app.repositories().set_directory_waste();
}

fn failure(app: &App, code: &str, message: String) -> SyncFailure {
    SyncFailure { code: code.to_owned(), message, at: app.now() }
}

/// Deletes the oldest syncs of a repository.
fn trim(app: &App, repository: RepositoryId) -> Result<(), RepositoryError> {
    let directory = app.repositories().directory();
    let old: Vec<SyncId> =
        directory.syncs(repository).into_iter().skip(limits::SYNCS_KEPT).collect();
    if old.is_empty() {
        return Ok(());
    }
    let mut changes = documents::begin(app);
    for id in &old {
        delete(&mut changes, *id)?;
    }
    changes.commit_then(None, |_| directory.remove_syncs(repository, &old))?;
    Ok(())
}

fn delete(changes: &mut Changes<'_>, id: SyncId) -> Result<(), RepositoryError> {
    match changes.revision::<Sync>(&id.text(), |_| true) {
        Ok(revision) => {
            changes.delete::<Sync>(&id.text(), revision);
            Ok(())
        }
        Err(RepositoryError::NotFound(..)) => Ok(()),
        Err(error) => Err(error),
    }
}
