//! Sets that are loaded once to measure their disk space; latencies are queried too.

use super::measure_set::{measure_set, workload};
use super::peer_server::{Context, PeerServer};
use crate::data::{Format, Set};
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::queries::QuerySet;
use crate::results::Cell;

/// Loads a set and measures its disk space.
pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    let mut target = PeerServer::new(context, peer)?;
    let format = target.format(&[Format::Lines, Format::Json])?;
    measure_set(&mut target, &workload("", set, format), None, cell)?;
    target.remove()
}

/// Loads latencies, measures their disk space and queries them. A peer with distributions gets
/// JSON, which declares them as such.
pub(crate) fn latencies(
    context: &Context,
    peer: &dyn Peer,
    set: Set,
    cell: &mut Cell,
) -> Outcome<()> {
    let mut target = PeerServer::new(context, peer)?;
    let format = target.format(&[Format::Json, Format::Lines])?;
    measure_set(&mut target, &workload("", set, format), Some(QuerySet::Latencies), cell)?;
    target.remove()
}
