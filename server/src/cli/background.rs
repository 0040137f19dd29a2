//! All background work of the server, on one screen: what runs, how often, and what it does.

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::http::{LATENCY_BOUNDS_US, RouteCounts, Server, Telemetry};
use crate::limits;
use crate::platform::self_metrics::{RequestCounts, RouteCount, SelfMetrics};
use crate::platform::sweeps::Sweep;

/// Every sweep of the server. The engine seals, merges and expires on a thread of its own.
pub(super) fn sweeps(server: &Arc<Server>, app: &Arc<App>) -> Vec<Sweep> {
    let counted = Arc::clone(server);
    let mut health = SelfMetrics::new(app.engine().clone(), move || requests(counted.telemetry()));
    let keyed = Arc::clone(app);
    let key_use = Duration::from_secs(limits::KEY_USE_SECONDS);
    let [counted_errors, deleted, trimmed] = [(), (), ()].map(|()| Arc::clone(app));
    let store = Duration::from_secs(limits::ERRORS_STORE_SECONDS);
    let delete = Duration::from_secs(limits::ERRORS_DELETE_SECONDS);
    let trim = Duration::from_secs(limits::ERRORS_TRIM_SECONDS);
    vec![
        Sweep::new("self_metrics", Duration::from_secs(10), move |now| health.write(now)),
        Sweep::new("key_use", key_use, move |_| keyed.keys().store_last_used()),
        Sweep::new("errors_delete", delete, move |_| deleted.errors().delete_events()),
        Sweep::new("errors_trim", trim, move |_| trimmed.errors().trim()),
        Sweep::new("errors_store", store, move |_| counted_errors.errors().store()),
    ]
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
