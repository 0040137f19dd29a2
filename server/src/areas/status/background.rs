//! The background work of the area.

use std::collections::BTreeSet;
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

/// Returns the sweeps of monitors.
pub(crate) fn sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let [timed, checked] = [(); 2].map(|()| Arc::clone(app));
    vec![
        Sweep::new("monitors_time", PERIOD, move |now| {
            let maintained = maintenance::active(&timed, now).map_err(StatusError::into_engine)?;
            monitors::pass_time(&timed, &maintained, now)
        }),
        Sweep::new("monitors_check", PERIOD, move |_| monitors::enqueue_due(&checked)),
    ]
}

/// Returns the sweeps of notices and subscribers, which must not delay those of monitors.
pub(crate) fn notice_sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let [noticed, trimmed] = [(); 2].map(|()| Arc::clone(app));
    let (mut announced, mut served) = (BTreeSet::new(), None);
    vec![
        Sweep::new("status_notices", PERIOD, move |now| {
            let recorded = maintenance::record_due(&noticed, &mut announced, now);
            let enqueued = subscribers::enqueue_mails(&noticed, &mut served);
            recorded.and(enqueued).map_err(StatusError::into_engine)
        }),
        Sweep::new("status_trim", TRIM_PERIOD, move |_| {
            let expired = subscribers::expire(&trimmed);
            let old_notices = notices::trim(&trimmed);
            let completed = maintenance::trim(&trimmed);
            expired.and(old_notices).and(completed).map_err(StatusError::into_engine)
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
