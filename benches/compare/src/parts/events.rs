//! Events: loaded, weighed and asked; then their users once more as a set metric, for peers that
//! have such.

use super::house::{Cargo, Context, House, Until};
use super::kept::{ask, keep};
use crate::ask::Asked;
use crate::data::Set;
use crate::outcome::Outcome;
use crate::peers::{Feed, Peer};
use crate::results::{Cell, Row};

pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    if peer.write(Feed::Events).is_none() {
        return cell.add(Row::Missing { reason: "it keeps no events".to_owned() });
    }
    let mut house = House::new(context, peer)?;
    let per_request = if peer.write(Feed::EventUsers).is_some() { 500 } else { 5_000 };
    let cargo = Cargo { name: "events", set, feed: Feed::Events, per_request };
    keep(&mut house, &cargo, Some(Asked::Events), cell)?;
    if peer.write(Feed::EventUsers).is_some() {
        let cargo = Cargo { name: "users as a set", feed: Feed::EventUsers, ..cargo };
        let load = house.load(&cargo, Until::Merged)?;
        cell.add(Row::Load(load))?;
        ask(&mut house, Asked::EventUsers, "final", cell)?;
    }
    house.leave()
}
