//! The steps of a sync: fetch, select, read, index, compare, store.
//!
//! Nothing of what is indexed changes before the caller stores what came of it. Files that are as
//! before are taken from the index before, without git.

use std::sync::Arc;

use telltale_engine::{MemoryOwner, MemoryShare};
use tokio::sync::mpsc;

use super::indexing::{self, SelectedFile};
use super::ops::SyncPlan;
use super::outcome::{NewIndex, SyncError, SyncOutcome};
use super::progress::{RunningSync, SyncProgress, SyncStep};
use super::select::{self, Selection};
use crate::app::App;
use crate::areas::repositories::git::{GitDirectory, Remote, RemoteHead, TreeFile};
use crate::areas::repositories::index_cache::LoadedIndex;
use crate::areas::repositories::limits;
use crate::areas::repositories::object_id::ObjectId;
use crate::areas::repositories::repository::{IndexedCommit, Repository, StoredFile};
use crate::platform::sealing::Secret;

/// Returns where a repository is fetched from.
pub(super) fn remote(repository: &Repository, token: Option<Secret>) -> Remote {
    let branch = repository.settings.branch.clone();
    Remote { url: repository.url.clone(), branch, token }
}

/// Runs a sync.
pub(super) async fn run(
    app: &Arc<App>,
    plan: &SyncPlan,
    running: &RunningSync<'_>,
) -> Result<SyncOutcome, SyncError> {
    let state = app.repositories();
    let remote = remote(&plan.repository, plan.token.clone());
    let head = state.git().remote_head(&remote).await?;
    let selection = selection_hash(app, &plan.repository);
    let before = before(app, &plan.repository).await;
    if let Some((indexed, _)) = &before
        && is_current(app, &plan.repository, &head)
    {
        let RemoteHead { branch, commit } = head;
        return Ok(SyncOutcome::Unchanged { commit, branch, files: indexed.files_indexed });
    }
    let lease = state.git().lease(&plan.repository.id.text());
    let directory = lease.directory();
    let commit = state.git().fetch(directory, &remote, &head).await?;
    let selected = selected(app, plan, directory, commit).await?;
    let memory = reserve(app, &selected)?;
    let new = read_and_index(app, directory, selected, before, memory, running).await?;
    let store = move |app: &App| indexing::store(app, new);
    let stored = run_blocking(app, store).await?;
    let indexed = IndexedCommit {
        commit,
        branch: head.branch,
        synced_at: app.now(),
        selection,
        files: stored.files,
        files_indexed: stored.counts.files,
        chunks_indexed: stored.counts.chunks,
        wiki_pages: stored.wiki_pages,
        diagrams: stored.diagrams,
    };
    Ok(SyncOutcome::Indexed(Box::new(NewIndex { indexed, stats: stored.stats, pins: stored.pins })))
}

/// Returns whether what is indexed is the commit that a branch is at, with the files that are
/// selected now, and can be read as far as is known.
pub(super) fn is_current(app: &App, repository: &Repository, head: &RemoteHead) -> bool {
    let is_lost = |file: StoredFile| app.repositories().indexes().is_lost(file.digest);
    repository.indexed.as_ref().is_some_and(|indexed| {
        indexed.commit == head.commit
            && indexed.branch == head.branch
            && indexed.selection == selection_hash(app, repository)
            && !indexed.files.all().into_iter().any(is_lost)
    })
}

/// Returns what is indexed now, if it can be read.
async fn before(
    app: &Arc<App>,
    repository: &Repository,
) -> Option<(IndexedCommit, Arc<LoadedIndex>)> {
    let indexed = repository.indexed.clone()?;
    let file = indexed.files.index;
    let read = move |app: &App| app.repositories().indexes().get(app.engine(), file);
    match app.blocking(read).await {
        Ok(index) => Some((indexed, index)),
        Err(error) => {
            tracing::warn!(repository = %repository.id.text(), error = error.message(),
                "the index cannot be read: all files are read again");
            None
        }
    }
}

async fn selected(
    app: &Arc<App>,
    plan: &SyncPlan,
    directory: &GitDirectory,
    commit: ObjectId,
) -> Result<Selection, SyncError> {
    let settings = app.repositories().settings();
    let tree = app.repositories().git().list_tree(directory, commit).await?;
    let patterns = plan.repository.settings.patterns()?;
    let file_bytes_max = settings.file_bytes_max.bytes();
    let timeout = limits::SELECTION_TIMEOUT;
    let select = move |_: &App| select::select(tree, &patterns, file_bytes_max, timeout);
    let selection = run_blocking(app, select).await?;
    let max = settings.text_bytes_max.bytes();
    match selection.bytes > max {
        true => Err(SyncError::TextTooLarge { bytes: selection.bytes, max }),
        false => Ok(selection),
    }
}

/// Reserves the memory that the selected files take. What they define takes more, as it is found.
fn reserve(app: &App, selection: &Selection) -> Result<MemoryShare, SyncError> {
    let paths: u64 = selection.files.iter().map(|file| file.path.len() as u64).sum();
    let parts = [
        (selection.bytes, limits::SYNC_MEMORY_PER_TEXT_BYTE),
        (paths, limits::SYNC_MEMORY_PER_PATH_BYTE),
        (selection.files.len() as u64, limits::SYNC_MEMORY_PER_FILE),
    ];
    let bytes = parts.iter().fold(limits::SYNC_MEMORY_BYTES, |bytes, (count, of_each)| {
        bytes.saturating_add(count.saturating_mul(*of_each))
    });
    Ok(app.engine().memory().take(MemoryOwner::Syncs, bytes)?)
}

/// Reads the new and changed files with git, while a thread makes the index.
async fn read_and_index(
    app: &Arc<App>,
    directory: &GitDirectory,
    selection: Selection,
    before: Option<(IndexedCommit, Arc<LoadedIndex>)>,
    memory: MemoryShare,
    running: &RunningSync<'_>,
) -> Result<indexing::NewFiles, SyncError> {
    let Selection { files, skipped, .. } = selection;
    let before = before.map(|(_, index)| index);
    let is_before = |file: &TreeFile| {
        before.as_ref().is_some_and(|loaded| indexing::is_unchanged(loaded.index(), file))
    };
    let (unchanged, to_read): (Vec<_>, Vec<_>) = files.into_iter().partition(is_before);
    let total = to_read.len() as u64;
    let show = |step, files_done| {
        running.set(SyncProgress { step, files_done, files_total: total });
    };
    show(SyncStep::Reading, 0);
    let (sender, receiver) = mpsc::channel(limits::READ_FILES_WAITING);
    let index = move |app: &App| {
        let before = before.as_deref().map(LoadedIndex::index);
        let new = indexing::index(before, unchanged, receiver, skipped, memory)?;
        new.check_size(app.repositories().indexes().bytes_max())?;
        Ok(new)
    };
    let indexing = run_blocking(app, index);
    let reading = async {
        let mut blobs =
            app.repositories().git().blobs(directory, to_read.iter().map(|file| file.blob)).await?;
        for (done, file) in to_read.into_iter().enumerate() {
            let contents = blobs.next(file.bytes).await?;
            let selected = SelectedFile { path: file.path, blob: file.blob, contents };
            if sender.send(selected).await.is_err() {
                // The thread has failed; its error is the reason.
                break;
            }
            show(SyncStep::Reading, done as u64 + 1);
        }
        drop(sender);
        show(SyncStep::Indexing, total);
        Ok::<_, SyncError>(())
    };
    let (read, indexed) = tokio::join!(reading, indexing);
    read?;
    indexed
}

async fn run_blocking<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, SyncError> + Send + 'static,
) -> Result<T, SyncError> {
    let app = Arc::clone(app);
    match tokio::task::spawn_blocking(move || work(&app)).await {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::error!(%error, "the thread of a sync ended");
            Err(SyncError::Interrupted)
        }
    }
}

/// Returns the hash of what selects files and of the versions of what is made of them.
fn selection_hash(app: &App, repository: &Repository) -> u64 {
    let settings = &repository.settings;
    let of_server = app.repositories().settings();
    let mut text = format!(
        "{} {} {}\n",
        indexing::VERSION,
        of_server.file_bytes_max.bytes(),
        of_server.files_max
    );
    for (kind, patterns) in [("+", &settings.include), ("-", &settings.exclude)] {
        for pattern in patterns {
            text.push_str(kind);
            text.push_str(pattern);
            text.push('\n');
        }
    }
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}
