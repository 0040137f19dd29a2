//! What the areas bring into the server: their routes, their background work, their memory.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::MemoryOwner;

use super::{admin, alerting, bulk, dashboards, errors, events, jobs, keys, metrics, telemetry};
use crate::app::App;
use crate::http::Route;
use crate::jobs::work::WorkerPool;
use crate::platform::sweeps::Sweep;

/// How late a sweep with a loop of its own may run.
const LOOP_PAUSE: Duration = Duration::from_millis(250);

/// Returns all routes, area by area.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    [
        metrics::ROUTES,
        events::ROUTES,
        telemetry::ROUTES,
        bulk::REMOTE_WRITE_ROUTES,
        bulk::INFLUX_ROUTES,
        bulk::OTLP_ROUTES,
        bulk::IMPORT_ROUTES,
        dashboards::ROUTES,
        jobs::JOB_ROUTES,
        jobs::QUEUE_ROUTES,
        jobs::WORKER_ROUTES,
        jobs::DEAD_JOB_ROUTES,
        errors::ROUTES,
        errors::SENTRY_ROUTES,
        alerting::RULE_ROUTES,
        alerting::PREVIEW_ROUTES,
        alerting::ALERT_ROUTES,
        alerting::ALERTMANAGER_ROUTES,
        alerting::WINDOW_ROUTES,
        alerting::SCHEDULE_ROUTES,
        alerting::POLICY_ROUTES,
        alerting::CHANNEL_ROUTES,
        keys::ROUTES,
        admin::ROUTES,
    ]
    .into_iter()
    .flatten()
}

/// Returns the sweeps of all areas.
pub(crate) fn sweeps(app: &Arc<App>) -> Vec<Sweep> {
    [jobs::sweeps(app), keys::sweeps(app), errors::sweeps(app)].into_iter().flatten().collect()
}

/// Returns the sweeps of areas that need a loop of their own, with the pause between its checks of
/// the clock.
pub(crate) fn loops(app: &Arc<App>) -> Vec<(Duration, Vec<Sweep>)> {
    vec![
        (LOOP_PAUSE, vec![alerting::evaluation_sweep(app)]),
        (LOOP_PAUSE, alerting::timer_sweeps(app)),
    ]
}

/// Returns the work that this process runs as jobs, and how many jobs of each queue run
/// concurrently.
pub(crate) fn work(app: &Arc<App>) -> WorkerPool {
    alerting::add_work(jobs::add_work(WorkerPool::new(), app), app)
}

/// Returns the memory of what the areas keep, in bytes.
pub(crate) fn memory(app: &App) -> [(MemoryOwner, u64); 3] {
    [
        (MemoryOwner::Jobs, app.jobs().figures().waiting_bytes()),
        (MemoryOwner::Errors, app.errors().memory_bytes()),
        (MemoryOwner::Alerts, app.alerting().memory_bytes()),
    ]
}

/// Stores what the areas keep in memory, at the end of the process. Blocks.
pub(crate) fn close(app: &App) {
    app.jobs().close();
    errors::close(app);
}
