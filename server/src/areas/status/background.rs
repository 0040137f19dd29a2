//! The background work of the area.

use std::sync::Arc;
use std::time::Duration;

use super::error::StatusError;
use super::{maintenance, monitors, notices, subscribers};
use crate::app::App;
use crate::jobs::work::WorkerPool;
use crate::platform::sweeps::Sweep;

/// How often it is looked for what is due.
const PERIOD: Duration = Duration::from_secs(1);
/// How often what is old is deleted.
const TRIM_PERIOD: Duration = Duration::from_secs(60);

/// Returns the sweeps of the area.
pub(crate) fn sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let [timed, checked, noticed, trimmed] = [(); 4].map(|()| Arc::clone(app));
    vec![
        Sweep::new("monitors_time", PERIOD, move |now| {
            let maintained = maintenance::active(&timed, now).map_err(StatusError::into_engine)?;
            monitors::pass_time(&timed, &maintained, now)
        }),
        Sweep::new("monitors_check", PERIOD, move |_| monitors::enqueue_due(&checked)),
        Sweep::new("status_notices", PERIOD, move |now| {
            let recorded = maintenance::record_due(&noticed, now);
            let enqueued = subscribers::enqueue_notices(&noticed);
            recorded.and(enqueued).map_err(StatusError::into_engine)
        }),
        Sweep::new("status_trim", TRIM_PERIOD, move |now| {
            let expired = subscribers::expire(&trimmed, now);
            let trimmed = notices::trim(&trimmed, now);
            expired.and(trimmed).map_err(StatusError::into_engine)
        }),
    ]
}

/// Adds the work that the area runs as jobs.
pub(crate) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    subscribers::add_work(monitors::add_work(pool, app), app)
}

/// Stores what is in memory, at the end of the process. Blocks.
pub(crate) fn close(app: &App) {
    if let Err(error) = app.status().monitors().close() {
        tracing::error!(%error, "the times of monitors could not be stored");
    }
}
