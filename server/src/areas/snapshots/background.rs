//! The background work of the area.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::TimestampMs;
use tokio::runtime::Handle;

use super::error::SnapshotError;
use super::{comparison, snapshot};
use crate::app::App;
use crate::jobs::work::WorkerPool;
use crate::platform::sweeps::Sweep;

/// How often it is looked for snapshots that nobody captures.
const CAPTURE_PERIOD: Duration = Duration::from_secs(5);
/// How often what is old is deleted.
const TRIM_PERIOD: Duration = Duration::from_secs(60);
/// How long the browser may do nothing before it is ended.
const IDLE: Duration = Duration::from_secs(300);

/// Returns the sweeps of snapshots.
pub(crate) fn sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let [captured, trimmed] = [(); 2].map(|()| Arc::clone(app));
    let idle = Arc::clone(app);
    vec![
        Sweep::new("snapshots_browser", TRIM_PERIOD, move |_| {
            Handle::current().block_on(idle.snapshots().browser().end_if_idle(IDLE));
            Ok(())
        }),
        Sweep::new("snapshots_capture", CAPTURE_PERIOD, move |_| {
            snapshot::enqueue_unfinished(&captured)
        }),
        Sweep::new("snapshots_trim", TRIM_PERIOD, move |_| {
            expire(&trimmed).map_err(SnapshotError::into_engine)
        }),
    ]
}

/// Adds the work that the area runs as jobs.
pub(crate) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    snapshot::add_work(pool, app)
}

/// Ends the browser, at the end of the server. Blocks, on a thread of the runtime for that.
pub(crate) fn close(app: &App) {
    Handle::current().block_on(app.snapshots().browser().close());
}

/// Deletes what is older than it is kept. By the trusted time, so that a wrong clock deletes
/// nothing.
fn expire(app: &App) -> Result<(), SnapshotError> {
    let retention = app.snapshots().settings().retention.duration();
    let retention_ms = i64::try_from(retention.as_millis()).unwrap_or(i64::MAX);
    let now = app.engine().trusted_time().expiry;
    expire_before(app, TimestampMs(now.0.saturating_sub(retention_ms)))
}

pub(super) fn expire_before(app: &App, before: TimestampMs) -> Result<(), SnapshotError> {
    snapshot::expire(app, before)?;
    comparison::expire(app, before)
}
