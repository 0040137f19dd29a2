//! Runs the sweeps of all areas, and the server's own: its metrics and its memory account.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{Clock, Memory, MemoryOwner};
use tokio::sync::watch;

use crate::app::App;
use crate::areas;
use crate::http::{LATENCY_BOUNDS_US, RouteCounts, Server, Telemetry};
use crate::limits;
use crate::platform::self_metrics::{RequestCounts, RouteCount, SelfMetrics};
use crate::platform::sweeps::{self, Sweep};
use crate::platform::{allocator, process};

/// How often the metrics of the server itself are written.
const HEALTH_PERIOD: Duration = Duration::from_secs(10);
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
    let own = areas::loops(&app).into_iter();
    let own = own.map(|(pause, all)| sweeps::run(all, pause, clock.clone(), ending.clone()));
    let own = futures_util::future::join_all(own);
    let memory =
        sweeps::run(vec![memory_sweep(server, app)], memory_pause, clock.clone(), ending.clone());
    tokio::join!(most, memory, own);
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
    let mut sweeps = areas::sweeps(app);
    sweeps.push(Sweep::new("self_metrics", HEALTH_PERIOD, move |now| health.write(now)));
    sweeps
}

/// Updates the memory account with the sizes of the server's areas.
fn hold_memory(server: &Server, app: &App) {
    let memory = app.engine().memory();
    memory.hold(MemoryOwner::Connections, server.telemetry().connection_bytes());
    areas::memory(app).into_iter().for_each(|(owner, bytes)| memory.hold(owner, bytes));
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
