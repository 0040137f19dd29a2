//! What is done with a set once it is in: count, ask before the merge, merge, weigh, ask again,
//! stop and start.

use rustix::process::Signal;

use super::house::{Cargo, House, Until};
use crate::ask::{Asked, Shape, measure, shapes, throughput};
use crate::clock::{Stopwatch, pause};
use crate::outcome::Outcome;
use crate::peers::{Feed, Mode};
use crate::results::{Cell, Disk, Restart, Row, quantile};
use crate::server::allocated_bytes;

/// How long a restarted server is asked for a whole answer before points count as lost.
const WHOLE_SECONDS_MAX: f64 = 10.0;
/// Minutes of an hour: what a whole answer to `q1` has.
const WHOLE: u64 = 60;

/// Loads a set, measures everything about it, and leaves the server up with it.
pub(crate) fn keep(
    house: &mut House<'_>,
    cargo: &Cargo<'_>,
    asked: Option<Asked>,
    cell: &mut Cell,
) -> Outcome<()> {
    let mut load = house.load(cargo, Until::Flushed)?;
    load.stored = Some(house.peer.count(&mut house.server, cargo.feed)?);
    if let Some(asked) = asked.filter(|_| house.peer.answers_change_path()) {
        ask(house, asked, "raw", cell)?;
    }
    let merged = house.merge()?;
    load.cpu_merge = load.cpu_flush.map(|flushed| flushed + merged);
    load.memory_merge_mb = Some(house.server.memory_peak_mb()?);
    cell.add(Row::Load(load))?;
    weigh(house, cargo.name, cargo.set.points(), cell)?;
    match asked {
        Some(asked) => ask(house, asked, "final", cell),
        None => Ok(()),
    }
}

/// Tells what lies on disk.
pub(crate) fn weigh(house: &House<'_>, name: &str, points: u64, cell: &mut Cell) -> Outcome<()> {
    let (folder, counted) = house.peer.weighed().unzip();
    let bytes = allocated_bytes(&house.server.folder.join(folder.unwrap_or_default()))?;
    let counted = counted.map(str::to_owned);
    cell.add(Row::Disk(Disk { set: name.to_owned(), points, bytes, counted }))
}

/// Asks every question that the peer can be asked.
pub(crate) fn ask(
    house: &mut House<'_>,
    asked: Asked,
    state: &str,
    cell: &mut Cell,
) -> Outcome<()> {
    for shape in shapes(asked) {
        match measure(house.peer, &mut house.server, shape, state) {
            Ok(None) => {}
            Ok(Some(query)) => cell.add(Row::Query(query))?,
            Err(error) => cell.add(Row::Missing { reason: format!("{}: {error}", shape.name) })?,
        }
    }
    Ok(())
}

/// Asks for single series as fast as it can be asked.
pub(crate) fn ask_fast(house: &House<'_>, asked: Asked, cell: &mut Cell) -> Outcome<()> {
    let Some(shape) = shapes(asked).first().copied() else { return Ok(()) };
    let (connections, per_second, took_ms) = throughput(house.peer, &house.server, shape)?;
    let (p50_ms, p99_ms) = (quantile(&took_ms, 0.5), quantile(&took_ms, 0.99));
    cell.add(Row::Throughput { connections, per_second, p50_ms, p99_ms })
}

/// Stops the server with a signal, starts it, and waits for a whole answer.
pub(crate) fn restart(
    house: &mut House<'_>,
    cargo: &Cargo<'_>,
    asked: Asked,
    signal: Signal,
    cell: &mut Cell,
) -> Outcome<()> {
    let stop_s = house.restart(signal, Mode::Normal)?;
    let clock = Stopwatch::start();
    let shape = shapes(asked).first().copied().ok_or("nothing is asked")?;
    let mut answer_s = None;
    while answer_s.is_none() && clock.seconds() < WHOLE_SECONDS_MAX {
        if is_whole(house, shape)? {
            answer_s = Some(house.server.ready_s + clock.seconds());
        } else {
            pause(0.005);
        }
    }
    cell.add(Row::Restart(Restart {
        signal: if signal == Signal::KILL { "SIGKILL" } else { "SIGTERM" }.to_owned(),
        stop_s,
        ready_s: house.server.ready_s,
        answer_s,
        points_before: cargo.set.points(),
        points_after: house.peer.count(&mut house.server, cargo.feed)?,
        memory_mb: house.server.memory_peak_mb()?,
    }))
}

/// Whether `q1` of the last hour has all its minutes.
fn is_whole(house: &mut House<'_>, shape: Shape) -> Outcome<bool> {
    let question = shape.last_hour();
    let mut bodies = Vec::new();
    for path in house.peer.requests(&question).unwrap_or_default() {
        let answer = house.server.get(&path)?;
        if !answer.is_good() {
            return Ok(false);
        }
        bodies.push(answer.body);
    }
    Ok(house.peer.digest(&question, &bodies)?.numbers == WHOLE)
}

/// A set of metrics in requests of 5 000, or of 500 items where that is all that a request may
/// carry.
pub(crate) fn cargo<'a>(
    name: &'a str,
    set: crate::data::Set,
    format: crate::data::Format,
) -> Cargo<'a> {
    let per_request = if format == crate::data::Format::Json { 500 } else { 5_000 };
    Cargo { name, set, feed: Feed::Metrics(format), per_request }
}
