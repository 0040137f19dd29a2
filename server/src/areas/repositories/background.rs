//! The background work of the area.

use std::sync::Arc;
use std::time::Duration;

use super::error::RepositoryError;
use super::ids::RepositoryId;
use super::{chat, sync};
use crate::app::App;
use crate::jobs::work::WorkerPool;
use crate::platform::sweeps::Sweep;

/// How often it is looked for syncs that nobody runs.
const SYNC_PERIOD: Duration = Duration::from_secs(5);
/// How often directories of git are deleted that no repository uses.
const TRIM_PERIOD: Duration = Duration::from_secs(60);

/// Returns the sweeps of repositories.
pub(crate) fn sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let [unfinished, moved, trimmed] = [(); 3].map(|()| Arc::clone(app));
    let auto_sync_every = app.repositories().settings().auto_sync_every.duration();
    vec![
        Sweep::new("repositories_sync", SYNC_PERIOD, move |_| {
            sync::enqueue_unfinished(&unfinished)
        }),
        Sweep::new("repositories_look", auto_sync_every, move |_| sync::look_for_changes(&moved)),
        Sweep::new("repositories_trim", TRIM_PERIOD, move |_| {
            chat::delete_unused(&trimmed).map_err(RepositoryError::into_engine)?;
            delete_directories(&trimmed)
        }),
    ]
}

/// Adds the work that the area runs as jobs.
pub(crate) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    sync::add_work(pool, app)
}

/// Deletes the directories of git of repositories that do not exist any more.
fn delete_directories(app: &App) -> Result<(), telltale_engine::Error> {
    let state = app.repositories();
    if !state.take_directory_waste() {
        return Ok(());
    }
    let is_used =
        |name: &str| RepositoryId::parse(name).is_some_and(|id| state.directory().contains(id));
    state.git().retain(is_used).map_err(|error| {
        state.set_directory_waste();
        telltale_engine::Error::Storage(format!("a directory of git cannot be deleted: {error}"))
    })
}
