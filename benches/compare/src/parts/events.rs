//! Events: loaded, measured on disk and queried; then their users again as a set metric, for peers
//! that support it.

use super::measure_set::{measure_set, run_queries};
use super::peer_server::{Context, PeerServer, Until, Workload};
use crate::data::Set;
use crate::outcome::Outcome;
use crate::peers::{Feed, Peer};
use crate::queries::QuerySet;
use crate::results::{Cell, Row};

pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    if peer.write(Feed::Events).is_none() {
        return cell.add(Row::Missing { reason: "it does not store events".to_owned() });
    }
    let mut target = PeerServer::new(context, peer)?;
    let per_request = if peer.write(Feed::EventUsers).is_some() { 500 } else { 5_000 };
    let workload = Workload { name: "events", set, feed: Feed::Events, per_request };
    measure_set(&mut target, &workload, Some(QuerySet::Events), cell)?;
    if peer.write(Feed::EventUsers).is_some() {
        let workload = Workload { name: "users as a set", feed: Feed::EventUsers, ..workload };
        let load = target.load(&workload, Until::Merged)?;
        cell.add(Row::Load(load))?;
        run_queries(&mut target, QuerySet::EventUsers, "final", cell)?;
    }
    target.remove()
}
