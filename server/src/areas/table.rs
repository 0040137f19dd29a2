//! What the areas bring into the server: their routes, their background work, their memory.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::MemoryOwner;

use super::search::Finder;
use super::{
    admin, alerting, bulk, dashboards, errors, events, files, jobs, keys, metrics, people,
    repositories, search, snapshots, status, telemetry,
};
use crate::app::App;
use crate::console;
use crate::http::Route;
use crate::jobs::work::WorkerPool;
use crate::platform::keys::Scope;
use crate::platform::people::People;
use crate::platform::sealing::{KeyFileError, Sealer, SecretStore};
use crate::platform::sweeps::Sweep;

/// How late a sweep with a loop of its own may run.
const LOOP_PAUSE: Duration = Duration::from_millis(250);

/// Returns all routes, area by area.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    [
        metrics::ROUTES,
        metrics::CARDINALITY_ROUTES,
        events::ROUTES,
        events::EXPLORE_ROUTES,
        events::TAIL_ROUTES,
        telemetry::ROUTES,
        bulk::REMOTE_WRITE_ROUTES,
        bulk::INFLUX_ROUTES,
        bulk::OTLP_ROUTES,
        bulk::IMPORT_ROUTES,
        dashboards::ROUTES,
        dashboards::EDITOR_ROUTES,
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
        status::MONITOR_ROUTES,
        status::PAGE_ROUTES,
        status::INCIDENT_ROUTES,
        status::MAINTENANCE_ROUTES,
        status::SUBSCRIBER_ROUTES,
        status::PUBLIC_ROUTES,
        status::SUBSCRIPTION_ROUTES,
        snapshots::SNAPSHOT_ROUTES,
        snapshots::COMPARISON_ROUTES,
        snapshots::BASELINE_ROUTES,
        repositories::REPOSITORY_ROUTES,
        repositories::SYNC_ROUTES,
        repositories::SEARCH_ROUTES,
        repositories::PAGE_ROUTES,
        repositories::CHAT_ROUTES,
        repositories::HELP_ROUTES,
        keys::ROUTES,
        people::ROUTES,
        search::ROUTES,
        admin::ROUTES,
        console::SERVER_ROUTES,
        console::session::ROUTES,
        console::PAGE_ROUTES,
    ]
    .into_iter()
    .flatten()
}

/// Returns the sweeps of all areas.
pub(crate) fn sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let console = vec![console::session::sweep(app)];
    [jobs::sweeps(app), keys::sweeps(app), errors::sweeps(app), console]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the sweeps of areas that need a loop of their own, with the pause between its checks of
/// the clock.
pub(crate) fn loops(app: &Arc<App>) -> Vec<(Duration, Vec<Sweep>)> {
    vec![
        (LOOP_PAUSE, vec![alerting::evaluation_sweep(app)]),
        (LOOP_PAUSE, alerting::timer_sweeps(app)),
        (LOOP_PAUSE, status::sweeps(app)),
        (LOOP_PAUSE, status::notice_sweeps(app)),
        (LOOP_PAUSE, snapshots::sweeps(app)),
        (LOOP_PAUSE, repositories::sweeps(app)),
        (LOOP_PAUSE, vec![files::sweep(app)]),
    ]
}

/// Returns the work that this process runs as jobs, and how many jobs of each queue run
/// concurrently.
pub(crate) fn work(app: &Arc<App>) -> WorkerPool {
    let pool = alerting::add_work(jobs::add_work(WorkerPool::new(), app), app);
    let pool = snapshots::add_work(status::add_work(pool, app), app);
    repositories::add_work(pool, app)
}

/// Returns the memory of what the areas keep, in bytes.
pub(crate) fn memory(app: &App) -> [(MemoryOwner, u64); 6] {
    [
        (MemoryOwner::Jobs, app.jobs().figures().waiting_bytes()),
        (MemoryOwner::Errors, app.errors().memory_bytes()),
        (MemoryOwner::Alerts, app.alerting().memory_bytes()),
        (MemoryOwner::Status, app.status().memory_bytes()),
        (MemoryOwner::Snapshots, app.snapshots().memory_bytes()),
        (MemoryOwner::Repositories, app.repositories().memory_bytes()),
    ]
}

/// Returns how the things of each kind are found by name, in the order in which they are shown.
pub(super) fn finders() -> [Finder; 13] {
    let read = |kind, offer| Finder { kind, scope: Scope::Read, offer };
    [
        read("dashboard", dashboards::offer_dashboards),
        read("metric", metrics::offer_metrics),
        read("error", errors::offer_errors),
        read("alert_rule", alerting::offer_rules),
        read("monitor", status::offer_monitors),
        read("status_page", status::offer_pages),
        read("queue", jobs::offer_queues),
        read("job_class", jobs::offer_job_classes),
        read("on_call_schedule", alerting::offer_schedules),
        read("escalation_policy", alerting::offer_policies),
        read("channel", alerting::offer_channels),
        read("repository", repositories::offer_repositories),
        Finder { kind: "key", scope: Scope::Admin, offer: keys::offer_keys },
    ]
}

/// Adds the people that the things of an area name. Blocks.
pub(super) type AddPeople =
    fn(&App, &mut People) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Returns how the people of each area are found.
pub(super) fn people_of_areas() -> [(&'static str, AddPeople); 3] {
    [
        ("keys", keys::add_owners),
        ("alerting", alerting::add_members),
        ("errors", errors::add_assignees),
    ]
}

/// Returns the sealer for a secret that is about to be stored. The key is made if there is none
/// and no sealed value: a new key beside values that it cannot open would hide that the old one is
/// missing. Blocks.
pub(crate) fn sealer_of_new_secrets(
    app: &App,
    secrets: &SecretStore,
) -> Result<Arc<Sealer>, KeyFileError> {
    match secrets.sealer() {
        Err(KeyFileError::Missing { .. }) if !has_secrets(app) => secrets.first_sealer(),
        found => found,
    }
}

/// Returns whether an area has stored sealed values; also if that is not known.
fn has_secrets(app: &App) -> bool {
    status::has_secrets(app).unwrap_or(true)
        || alerting::has_secrets(app).unwrap_or(true)
        || snapshots::has_secrets(app).unwrap_or(true)
        || repositories::has_secrets(app).unwrap_or(true)
}

/// Stores what the areas keep in memory, at the end of the process. Blocks.
pub(crate) fn close(app: &App) {
    app.jobs().close();
    errors::close(app);
    status::close(app);
    snapshots::close(app);
}
