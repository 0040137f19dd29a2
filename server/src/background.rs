//! All background work of the server: what runs, how often, and what it does.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{Clock, Memory, MemoryOwner};
use tokio::sync::watch;

use crate::app::App;
use crate::areas::jobs::{TRIM_DEAD, TrimDead, trim_dead};
use crate::http::{LATENCY_BOUNDS_US, RouteCounts, Server, Telemetry};
use crate::jobs::JobsError;
use crate::jobs::work::WorkerPool;
use crate::limits;
use crate::platform::self_metrics::{RequestCounts, RouteCount, SelfMetrics};
use crate::platform::sweeps::{self, Sweep};
use crate::platform::{allocator, process};

/// How late a sweep may run.
const PAUSE: Duration = Duration::from_millis(500);

/// Runs every sweep of the server until `ending` becomes true, then each of them once more.
pub(crate) async fn run_sweeps(
    server: Arc<Server>,
    app: Arc<App>,
    clock: Clock,
    ending: watch::Receiver<bool>,
) {
    app.engine().memory().measure_with(measure_process);
    let memory_pause = Duration::from_millis(limits::MEMORY_MEASURE_MS);
    let most = sweeps::run(sweeps(&server, &app), PAUSE, clock.clone(), ending.clone());
    let memory = sweeps::run(vec![memory_sweep(server, app)], memory_pause, clock, ending);
    tokio::join!(most, memory);
}

/// Updates the memory account in each pass of its loop. No other sweep shares the loop: a slow one
/// would delay the update, and the process could exceed its limit unnoticed.
fn memory_sweep(server: Arc<Server>, app: Arc<App>) -> Sweep {
    Sweep::new("memory", Duration::ZERO, move |_| {
        hold_memory(&server, &app);
        measure_process(app.engine().memory());
        Ok(())
    })
}

/// Returns all sweeps of the server except the memory sweep. The engine seals, compacts and expires
/// on a thread of its own.
fn sweeps(server: &Arc<Server>, app: &Arc<App>) -> Vec<Sweep> {
    let counted = Arc::clone(server);
    let mut health = SelfMetrics::new(app.engine().clone(), move || requests(counted.telemetry()));
    let keyed = Arc::clone(app);
    let (history, sampled, trimmed) = (Arc::clone(app), Arc::clone(app), Arc::clone(app));
    let key_use = Duration::from_secs(limits::KEY_USE_SECONDS);
    let [counted_errors, deleted, crowded, aged] = [(), (), (), ()].map(|()| Arc::clone(app));
    let store = Duration::from_secs(limits::ERRORS_STORE_SECONDS);
    let delete = Duration::from_secs(limits::ERRORS_DELETE_SECONDS);
    let room = Duration::from_secs(limits::ERRORS_LIMIT_SECONDS);
    let trim = Duration::from_secs(limits::ERRORS_TRIM_SECONDS);
    vec![
        Sweep::new("self_metrics", Duration::from_secs(10), move |now| health.write(now)),
        Sweep::new("jobs_history", Duration::from_secs(1), move |now| {
            history.jobs().write_history(now)
        }),
        Sweep::new("jobs_sample", Duration::from_secs(10), move |now| {
            sampled.jobs().sample(now).map_err(JobsError::into_engine)
        }),
        Sweep::new("jobs_trim_dead", Duration::from_secs(3_600), move |_| {
            let handed_in = TRIM_DEAD.enqueue_once(trimmed.jobs(), &TrimDead {}, TRIM_DEAD.class);
            handed_in.map(drop).map_err(JobsError::into_engine)
        }),
        Sweep::new("key_use", key_use, move |_| keyed.keys().store_last_used()),
        Sweep::new("errors_delete", delete, move |_| deleted.errors().delete_events()),
        Sweep::new("errors_room", room, move |_| crowded.errors().make_room()),
        Sweep::new("errors_trim", trim, move |_| aged.errors().trim()),
        Sweep::new("errors_store", store, move |_| counted_errors.errors().store()),
    ]
}

/// Returns the work that this process runs as jobs, and how many jobs of each queue run
/// concurrently.
pub(crate) fn workshop(app: &Arc<App>) -> WorkerPool {
    let jobs = Arc::clone(app.jobs());
    WorkerPool::new().queue(TRIM_DEAD.queue, 2).on(&TRIM_DEAD, move |TrimDead {}| {
        let jobs = Arc::clone(&jobs);
        async move { trim_dead(&jobs).await }
    })
}

/// Updates the memory account with the sizes of the server's areas.
fn hold_memory(server: &Server, app: &App) {
    let memory = app.engine().memory();
    memory.hold(MemoryOwner::Connections, server.telemetry().connection_bytes());
    memory.hold(MemoryOwner::Jobs, app.jobs().figures().waiting_bytes());
    memory.hold(MemoryOwner::Errors, app.errors().memory_bytes());
}

/// Updates the memory account with the resident memory of the process, if the system reports it,
/// after returning unused memory to the system.
fn measure_process(memory: &Memory) {
    let limit = memory.limit();
    let Some(bytes) = process::resident_bytes() else { return };
    let left = allocator::give_back(bytes, limit).then(process::resident_bytes).flatten();
    memory.hold_process(left.unwrap_or(bytes));
}

fn requests(telemetry: &Telemetry) -> RequestCounts {
    let total = telemetry.snapshot();
    RequestCounts {
        routes: telemetry.routes().iter().map(route).collect(),
        connections: total.connections,
        body_bytes: total.body_bytes,
        refused_quota: total.refused_quota,
        refused_load: total.refused_load,
    }
}

fn route(counts: &RouteCounts) -> RouteCount {
    let mut statuses = [0; 6];
    for (status, count) in counts.by_status() {
        if let Some(class) = statuses.get_mut(usize::from(status / 100)) {
            *class += count;
        }
    }
    RouteCount {
        method: counts.method,
        path: counts.path,
        statuses,
        latencies: counts.latency_buckets().collect(),
        bounds_us: &LATENCY_BOUNDS_US,
        latency_sum_us: counts.latency_sum_us(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_includes_the_memory_of_the_process() {
        let memory = Memory::new(4 << 20);
        measure_process(&memory);
        let uncounted = memory.held_by(MemoryOwner::Uncounted);
        assert_eq!(uncounted, 2 << 20, "the test process exceeds half of such a limit");
    }
}
