//! All background work of the server, on one screen: what runs, how often, and what it does.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::MemoryOwner;

use crate::app::App;
use crate::areas::jobs::{TRIM_DEAD, TrimDead, trim_dead};
use crate::http::{LATENCY_BOUNDS_US, RouteCounts, Server, Telemetry};
use crate::limits;
use crate::platform::jobs::JobsError;
use crate::platform::self_metrics::{RequestCounts, RouteCount, SelfMetrics};
use crate::platform::sweeps::Sweep;
use crate::platform::work::Workshop;
use crate::platform::{allocator, process};

/// Every sweep of the server. The engine seals, merges and expires on a thread of its own.
pub(super) fn sweeps(server: &Arc<Server>, app: &Arc<App>) -> Vec<Sweep> {
    let counted = Arc::clone(server);
    let mut health = SelfMetrics::new(app.engine().clone(), move || requests(counted.telemetry()));
    let keyed = Arc::clone(app);
    let (holding, held) = (Arc::clone(server), Arc::clone(app));
    let (chronicled, sampled, trimmed) = (Arc::clone(app), Arc::clone(app), Arc::clone(app));
    let key_use = Duration::from_secs(limits::KEY_USE_SECONDS);
    let [counted_errors, deleted, crowded, aged] = [(), (), (), ()].map(|()| Arc::clone(app));
    let store = Duration::from_secs(limits::ERRORS_STORE_SECONDS);
    let delete = Duration::from_secs(limits::ERRORS_DELETE_SECONDS);
    let room = Duration::from_secs(limits::ERRORS_ROOM_SECONDS);
    let trim = Duration::from_secs(limits::ERRORS_TRIM_SECONDS);
    vec![
        Sweep::new("self_metrics", Duration::from_secs(10), move |now| health.write(now)),
        Sweep::new("memory", Duration::from_millis(limits::MEMORY_LOOK_MS), move |_| {
            hold_memory(&holding, &held);
            Ok(())
        }),
        Sweep::new("jobs_history", Duration::from_secs(1), move |now| {
            chronicled.jobs().write_history(now)
        }),
        Sweep::new("jobs_sample", Duration::from_secs(10), move |now| {
            sampled.jobs().sample(now).map_err(JobsError::into_engine)
        }),
        Sweep::new("jobs_trim_dead", Duration::from_secs(3_600), move |_| {
            let handed_in = TRIM_DEAD.hand_in_once(trimmed.jobs(), &TrimDead {}, TRIM_DEAD.class);
            handed_in.map(drop).map_err(JobsError::into_engine)
        }),
        Sweep::new("key_use", key_use, move |_| keyed.keys().store_last_used()),
        Sweep::new("errors_delete", delete, move |_| deleted.errors().delete_events()),
        Sweep::new("errors_room", room, move |_| crowded.errors().make_room()),
        Sweep::new("errors_trim", trim, move |_| aged.errors().trim()),
        Sweep::new("errors_store", store, move |_| counted_errors.errors().store()),
    ]
}

/// Every kind of work that this process does as jobs, and how many of each queue at once.
pub(super) fn workshop(app: &Arc<App>) -> Workshop {
    let jobs = Arc::clone(app.jobs());
    Workshop::new().queue(TRIM_DEAD.queue, 2).on(&TRIM_DEAD, move |TrimDead {}| {
        let jobs = Arc::clone(&jobs);
        async move { trim_dead(&jobs).await }
    })
}

/// Tells the account of memory what the areas hold.
fn hold_memory(server: &Server, app: &App) {
    let memory = app.engine().memory();
    memory.hold(MemoryOwner::Connections, server.telemetry().connection_bytes());
    memory.hold(MemoryOwner::Jobs, app.jobs().figures().waiting_bytes());
    memory.hold(MemoryOwner::Errors, app.errors().memory_bytes());
    if let Some(process) = process::memory() {
        allocator::look(process.resident, memory.limit());
        memory.hold_process(process.anonymous);
    }
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
