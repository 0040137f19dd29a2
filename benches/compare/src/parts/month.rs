//! A month of data: queries of files that are in memory, then each first query after a restart with
//! none of the files in memory.

use rustix::process::Signal;

use super::measure_set::measure_set;
use super::peer_server::{Context, PeerServer, Workload};
use crate::data::{Format, Set};
use crate::measure::measure_first;
use crate::options::Scale;
use crate::outcome::Outcome;
use crate::peers::{Feed, Mode, Peer};
use crate::queries::{QuerySet, shapes};
use crate::results::{Cell, Row};
use crate::server::evict;

pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    let queries = QuerySet::Days { hosts: 100, days: days(context.options.scale) };
    let mut target = PeerServer::new(context, peer)?;
    let format = target.format(&[Format::Wide, Format::Json])?;
    let workload = Workload { name: "", set, feed: Feed::Metrics(format), per_request: 500 };
    measure_set(&mut target, &workload, Some(queries), cell)?;
    for shape in shapes(queries) {
        target.restart_after(Signal::TERM, Mode::Normal, evict)?;
        match measure_first(peer, &mut target.server, shape, "evicted") {
            Ok(None) => {}
            Ok(Some(query)) => cell.add(Row::Query(query))?,
            Err(error) => cell.add(Row::Missing { reason: format!("{}: {error}", shape.name) })?,
        }
    }
    target.remove()
}

/// The days of the set.
pub(super) fn days(scale: Scale) -> usize {
    scale.pick(10, 30)
}
