//! The cpu sets: loads in each format and request size, then one load that is measured on disk,
//! queried and stopped, and one that is killed.

use rustix::process::Signal;

use super::measure_set::{measure_set, measure_throughput, restart, workload};
use super::peer_server::{Context, PeerServer, Until, Workload};
use crate::data::{Format, Set};
use crate::outcome::Outcome;
use crate::peers::{Feed, Peer};
use crate::queries::QuerySet;
use crate::results::{Cell, Row};

/// A format, and the number of lines, samples or items of a request.
type Way = (Format, usize);

const WAYS_SMALL: [Way; 6] = [
    (Format::Lines, 500),
    (Format::Lines, 5_000),
    (Format::Lines, 50_000),
    (Format::Wide, 500),
    (Format::RemoteWrite(5_000), 5_000),
    (Format::Json, 500),
];
/// Additional loads of the full scale.
const WAYS_MORE: [Way; 4] = [
    (Format::Wide, 5_000),
    (Format::Wide, 50_000),
    (Format::RemoteWrite(500), 500),
    (Format::RemoteWrite(50_000), 50_000),
];
const WAYS_MEDIUM: [Way; 2] = [(Format::Wide, 500), (Format::RemoteWrite(5_000), 5_000)];

/// Measures a thousand series: each format and size.
pub(crate) fn small(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    let more: &[Way] = context.options.scale.pick(&[], &WAYS_MORE);
    for way in WAYS_SMALL.iter().chain(more) {
        load(context, peer, set, *way, cell)?;
    }
    let queries = QuerySet::Cpu { hosts: 100, hours: 12 };
    all(context, peer, set, queries, cell)?;
    let mut target = PeerServer::new(context, peer)?;
    let format = target.format(&[Format::Lines, Format::Json])?;
    let workload = workload("", set, format);
    let sent = target.send(&workload)?;
    if sent.refused > 0 {
        return Err(sent.refusal.unwrap_or_default().into());
    }
    restart(&mut target, &workload, queries, Signal::KILL, cell)?;
    target.remove()
}

/// Measures ten thousand series: each format once.
pub(crate) fn medium(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    for way in WAYS_MEDIUM {
        load(context, peer, set, way, cell)?;
    }
    let hours = context.options.scale.pick(2, 6);
    all(context, peer, set, QuerySet::Cpu { hosts: 1_000, hours }, cell)
}

/// Measures one load into an empty server, if the peer supports the format.
fn load(
    context: &Context,
    peer: &dyn Peer,
    set: Set,
    (format, per_request): Way,
    cell: &mut Cell,
) -> Outcome<()> {
    let feed = Feed::Metrics(format);
    if peer.write(feed).is_none() {
        return Ok(());
    }
    let mut target = PeerServer::new(context, peer)?;
    if target.takes(feed)? {
        let workload = Workload { name: "", set, feed, per_request };
        let mut load = target.load(&workload, Until::Merged)?;
        load.stored = Some(peer.count(&mut target.server, feed)?);
        cell.add(Row::Load(load))?;
    } else {
        let reason = format!("{format}: the server has no route for it");
        cell.add(Row::Missing { reason })?;
    }
    target.remove()
}

/// Measures one load with its disk space, queries and restart.
fn all(
    context: &Context,
    peer: &dyn Peer,
    set: Set,
    queries: QuerySet,
    cell: &mut Cell,
) -> Outcome<()> {
    if peer.differs_in_acknowledgement_alone() {
        return Ok(());
    }
    let mut target = PeerServer::new(context, peer)?;
    let format = target.format(&[Format::Lines, Format::Json])?;
    let workload = workload("", set, format);
    measure_set(&mut target, &workload, Some(queries), cell)?;
    measure_throughput(&target, queries, cell)?;
    restart(&mut target, &workload, queries, Signal::TERM, cell)?;
    target.remove()
}
