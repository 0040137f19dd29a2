//! The steps after a load: count, query, merge, measure disk space, query again, restart.

use rustix::process::Signal;

use super::peer_server::{PeerServer, Until, Workload};
use crate::clock::{Stopwatch, pause};
use crate::measure::{measure, throughput};
use crate::outcome::Outcome;
use crate::peers::{Feed, Mode};
use crate::queries::{QuerySet, Shape, shapes};
use crate::results::{Cell, Disk, Restart, Row, quantile};
use crate::server::allocated_bytes;

/// How long to wait for a complete response of a restarted server before points count as lost.
const COMPLETE_SECONDS_MAX: f64 = 10.0;
/// Numbers of a complete response to `q1`: the minutes of an hour.
const COMPLETE: u64 = 60;

/// Loads a set and measures everything about it; the server keeps running.
pub(crate) fn measure_set(
    target: &mut PeerServer<'_>,
    workload: &Workload<'_>,
    queries: Option<QuerySet>,
    cell: &mut Cell,
) -> Outcome<()> {
    if let Some(queries) = queries.filter(|_| target.peer.merge_changes_plans()) {
        // A load of its own: while another waits until the server is idle, that begins to merge.
        target.send(workload)?;
        target.peer.flush(&mut target.server)?;
        run_queries(target, queries, "raw", cell)?;
        target.start_again()?;
    }
    let mut load = target.load(workload, Until::Flushed)?;
    load.stored = Some(target.peer.count(&mut target.server, workload.feed)?);
    let merged = target.merge()?;
    load.cpu_merge = load.cpu_flush.map(|flushed| flushed + merged);
    load.memory_merge_mb = Some(target.server.memory_peak_mb()?);
    cell.add(Row::Load(load))?;
    record_disk(target, workload.name, workload.set.points(), cell)?;
    match queries {
        Some(queries) => run_queries(target, queries, "final", cell),
        None => Ok(()),
    }
}

/// Records the disk space of the data.
pub(crate) fn record_disk(
    target: &PeerServer<'_>,
    name: &str,
    points: u64,
    cell: &mut Cell,
) -> Outcome<()> {
    let (folder, counted) = target.peer.counted_folder().unzip();
    let bytes = allocated_bytes(&target.server.folder.join(folder.unwrap_or_default()))?;
    let counted = counted.map(str::to_owned);
    cell.add(Row::Disk(Disk { set: name.to_owned(), points, bytes, counted }))
}

/// Runs each query that the peer supports.
pub(crate) fn run_queries(
    target: &mut PeerServer<'_>,
    queries: QuerySet,
    state: &str,
    cell: &mut Cell,
) -> Outcome<()> {
    for shape in shapes(queries) {
        match measure(target.peer, &mut target.server, shape, state) {
            Ok(None) => {}
            Ok(Some(query)) => cell.add(Row::Query(query))?,
            Err(error) => cell.add(Row::Missing { reason: format!("{}: {error}", shape.name) })?,
        }
    }
    Ok(())
}

/// Measures the throughput of queries of single series.
pub(crate) fn measure_throughput(
    target: &PeerServer<'_>,
    queries: QuerySet,
    cell: &mut Cell,
) -> Outcome<()> {
    let Some(shape) = shapes(queries).first().copied() else { return Ok(()) };
    let (connections, per_second, took_ms) = throughput(target.peer, &target.server, shape)?;
    let (p50_ms, p99_ms) = (quantile(&took_ms, 0.5), quantile(&took_ms, 0.99));
    cell.add(Row::Throughput { connections, per_second, p50_ms, p99_ms })
}

/// Stops the server with a signal, starts it, and waits for a complete response.
pub(crate) fn restart(
    target: &mut PeerServer<'_>,
    workload: &Workload<'_>,
    queries: QuerySet,
    signal: Signal,
    cell: &mut Cell,
) -> Outcome<()> {
    let stop_s = target.restart(signal, Mode::Normal)?;
    let clock = Stopwatch::start();
    let shape = shapes(queries).first().copied().ok_or("the set has no queries")?;
    let mut answer_s = None;
    while answer_s.is_none() && clock.seconds() < COMPLETE_SECONDS_MAX {
        if is_complete(target, shape)? {
            answer_s = Some(target.server.ready_s + clock.seconds());
        } else {
            pause(0.005);
        }
    }
    let after = target.peer.count(&mut target.server, workload.feed)?;
    record_restart(target, signal, (stop_s, answer_s), (workload.set.points(), after), cell)
}

/// Stops the server, starts it, and counts the points, of which there were `before`: the count is
/// the complete response.
pub(crate) fn restart_and_count(
    target: &mut PeerServer<'_>,
    workload: &Workload<'_>,
    before: u64,
    cell: &mut Cell,
) -> Outcome<()> {
    let stop_s = target.restart(Signal::TERM, Mode::Normal)?;
    let clock = Stopwatch::start();
    let after = target.peer.count(&mut target.server, workload.feed)?;
    let answer_s = target.server.ready_s + clock.seconds();
    record_restart(target, Signal::TERM, (stop_s, Some(answer_s)), (before, after), cell)
}

fn record_restart(
    target: &PeerServer<'_>,
    signal: Signal,
    (stop_s, answer_s): (f64, Option<f64>),
    (points_before, points_after): (u64, u64),
    cell: &mut Cell,
) -> Outcome<()> {
    cell.add(Row::Restart(Restart {
        signal: if signal == Signal::KILL { "SIGKILL" } else { "SIGTERM" }.to_owned(),
        stop_s,
        ready_s: target.server.ready_s,
        answer_s,
        points_before,
        points_after,
        memory_mb: target.server.memory_peak_mb()?,
    }))
}

/// Returns whether `q1` of the last hour contains all minutes.
fn is_complete(target: &mut PeerServer<'_>, shape: Shape) -> Outcome<bool> {
    let query = shape.last_hour();
    let mut bodies = Vec::new();
    for path in target.peer.requests(&query).unwrap_or_default() {
        let response = target.server.get(&path)?;
        if !response.is_success() {
            return Ok(false);
        }
        bodies.push(response.body);
    }
    Ok(target.peer.digest(&query, &bodies)?.numbers == COMPLETE)
}

/// Returns a workload of a metric set in requests of 5 000 points, or of 500 JSON items, the
/// maximum of Telltale.
pub(crate) fn workload<'a>(
    name: &'a str,
    set: crate::data::Set,
    format: crate::data::Format,
) -> Workload<'a> {
    let per_request = if format == crate::data::Format::Json { 500 } else { 5_000 };
    Workload { name, set, feed: Feed::Metrics(format), per_request }
}
