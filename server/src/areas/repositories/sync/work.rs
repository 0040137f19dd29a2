//! The syncs that run as jobs, and the search for branches that have moved.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::model::SyncTrigger;
use super::outcome::SyncError;
use super::{ops, pipeline};
use crate::app::App;
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::ids::{RepositoryId, SyncId};
use crate::areas::repositories::limits;
use crate::areas::repositories::repository;
use crate::http::{ApiError, ApiResult};
use crate::jobs::work::{WorkError, WorkKind, WorkerPool};

/// The queue of syncs.
const QUEUE: &str = "telltale-repositories";
/// The queue of looks, which do not wait for long syncs.
const LOOK_QUEUE: &str = "telltale-repositories-looks";

/// The arguments of a job that runs a sync.
#[derive(Debug, Serialize, Deserialize)]
struct SyncItem {
    sync: String,
}

/// The arguments of a job that looks whether a branch has moved.
#[derive(Debug, Serialize, Deserialize)]
struct LookItem {
    repository: String,
}

/// Runs a sync. What was interrupted is enqueued again by a sweep, and attempts are counted in the
/// document of the sync.
const SYNC: WorkKind<SyncItem> = WorkKind::new("telltale.repositories.sync", QUEUE)
    .attempts(1)
    .timeout_seconds(limits::SYNC_JOB_SECONDS);
/// Looks whether a branch has moved. The next look comes anyway.
const LOOK: WorkKind<LookItem> = WorkKind::new("telltale.repositories.look", LOOK_QUEUE)
    .attempts(1)
    .timeout_seconds(limits::LOOK_JOB_SECONDS);

/// Adds the work of this module.
pub(in crate::areas::repositories) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    let at_once = app.repositories().settings().syncs_at_once.max(1);
    let (syncs, looks) = (Arc::downgrade(app), Arc::downgrade(app));
    pool.queue(QUEUE, u32::try_from(at_once).unwrap_or(u32::MAX))
        .on(&SYNC, move |SyncItem { sync }| {
            let app = syncs.upgrade();
            async move {
                match (app, SyncId::parse(&sync)) {
                    (Some(app), Some(id)) => run(&app, id).await,
                    // The server ends, or a job of another version.
                    _ => Ok(()),
                }
            }
        })
        .queue(LOOK_QUEUE, limits::LOOKS_AT_ONCE)
        .on(&LOOK, move |LookItem { repository }| {
            let app = looks.upgrade();
            async move {
                match (app, RepositoryId::parse(&repository)) {
                    (Some(app), Some(id)) => look(&app, id).await,
                    _ => Ok(()),
                }
            }
        })
}

/// Enqueues a job for each sync that is to be run. Blocks.
pub(in crate::areas::repositories) fn enqueue_unfinished(
    app: &App,
) -> Result<(), telltale_engine::Error> {
    let items: Vec<(SyncItem, String)> =
        ops::unfinished(app).into_iter().map(|id| item(app, id)).collect();
    let items = items.iter().map(|(item, key)| (item, key.as_str()));
    enqueued(SYNC.enqueue_all_once(app.jobs(), items))
}

/// Enqueues a job for a sync. Blocks.
pub(in crate::areas::repositories) fn enqueue(app: &App, id: SyncId) {
    let (item, key) = item(app, id);
    if let Err(error) = SYNC.enqueue_once(app.jobs(), &item, &key) {
        // The sync is stored, so the sweep enqueues it.
        tracing::warn!(%error, "a repository is synced later");
    }
}

/// Enqueues a job for each repository that is synced when its branch has moved. Blocks.
pub(in crate::areas::repositories) fn look_for_changes(
    app: &App,
) -> Result<(), telltale_engine::Error> {
    let repositories = app.repositories().directory().automatic();
    let items: Vec<LookItem> =
        repositories.into_iter().map(|id| LookItem { repository: id.text() }).collect();
    let items = items.iter().map(|item| (item, item.repository.as_str()));
    enqueued(LOOK.enqueue_all_once(app.jobs(), items))
}

fn enqueued(outcome: Result<usize, crate::jobs::JobsError>) -> Result<(), telltale_engine::Error> {
    outcome.map(drop).map_err(|error| telltale_engine::Error::Unavailable(error.to_string()))
}

fn item(app: &App, id: SyncId) -> (SyncItem, String) {
    let item = SyncItem { sync: id.text() };
    // The jobs of an earlier process are of its own start.
    let key = format!("{}:{}", app.began().0, item.sync);
    (item, key)
}

async fn run(app: &Arc<App>, id: SyncId) -> Result<(), WorkError> {
    let Some(running) = app.repositories().running().begin(id) else { return Ok(()) };
    let begun: ApiResult<_> = app.blocking(move |app| ops::begin(app, id)).await;
    let Some(plan) = begun.map_err(failed)? else { return Ok(()) };
    let outcome = tokio::select! {
        outcome = pipeline::run(app, &plan, &running) => outcome,
        () = running.cancelled() => Err(SyncError::Interrupted),
    };
    let stored: ApiResult<()> = app.blocking(move |app| ops::finish(app, &plan, outcome)).await;
    stored.map_err(failed)
}

/// Begins a sync if the branch of a repository is not at the commit that is indexed.
async fn look(app: &Arc<App>, id: RepositoryId) -> Result<(), WorkError> {
    let read = move |app: &App| {
        let repository = repository::get(app, id)?.value;
        let token = repository::token(app, &repository)?;
        Ok::<_, RepositoryError>((repository, token))
    };
    let found: ApiResult<_> = app.blocking(read).await;
    let (repository, token) = match found {
        Ok(found) => found,
        // Deleted meanwhile.
        Err(_) if !app.repositories().directory().contains(id) => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let remote = pipeline::remote(&repository, token);
    let head = app.repositories().git().remote_head(&remote).await;
    let is_indexed = match &head {
        Ok(head) => pipeline::is_current(app, &repository, head),
        // A sync says why, unless the last one has said so.
        Err(_) => repository.has_failed(),
    };
    if is_indexed {
        return Ok(());
    }
    let started: ApiResult<_> =
        app.blocking(move |app| ops::start(app, id, SyncTrigger::Automatic)).await;
    started.map(drop).map_err(failed)
}

fn failed(error: ApiError) -> WorkError {
    WorkError::new("Repository", error.cause().unwrap_or_else(|| error.message()))
}
