//! Sets that are loaded once and weighed; of latencies, percentiles are asked too.

use super::house::{Context, House};
use super::kept::{cargo, keep};
use crate::ask::Asked;
use crate::data::{Format, Set};
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::results::Cell;

/// Loads and weighs.
pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    let mut house = House::new(context, peer)?;
    let format = house.format(&[Format::Lines, Format::Json])?;
    keep(&mut house, &cargo("", set, format), None, cell)?;
    house.leave()
}

/// Loads, weighs and asks; where a peer has distributions, its JSON says that these are some.
pub(crate) fn latencies(
    context: &Context,
    peer: &dyn Peer,
    set: Set,
    cell: &mut Cell,
) -> Outcome<()> {
    let mut house = House::new(context, peer)?;
    let format = house.format(&[Format::Json, Format::Lines])?;
    keep(&mut house, &cargo("", set, format), Some(Asked::Latencies), cell)?;
    house.leave()
}
