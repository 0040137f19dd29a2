//! Series that come and go: all hosts are replaced every ten minutes, as the pods of a cluster are
//! by a deployment. One load, its disk space, queries and restart.

use rustix::process::Signal;

use super::measure_set::{measure_set, restart, workload};
use super::peer_server::{Context, PeerServer};
use crate::data::{Format, Set};
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::queries::QuerySet;
use crate::results::Cell;

pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    let hours = context.options.scale.pick(1, 2);
    let queries = QuerySet::Churn { hosts: 1_000, hours };
    let mut target = PeerServer::new(context, peer)?;
    let format = target.format(&[Format::Lines, Format::Json])?;
    let workload = workload("", set, format);
    measure_set(&mut target, &workload, Some(queries), cell)?;
    restart(&mut target, &workload, queries, Signal::TERM, cell)?;
    target.remove()
}
