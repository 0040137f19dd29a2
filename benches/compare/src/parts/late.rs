//! Late points: the second of two days, on time and with a tenth of its points stamped a day
//! earlier, between points that are on disk in their final form by then.

use super::house::{Context, House, Until};
use super::kept::{cargo, weigh};
use crate::data::{Format, Set};
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::results::{Cell, Row};

const LATE_ONE_IN: u64 = 10;

pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    let hours = context.options.scale.pick(6, 12);
    for (name, late_one_in) in [("on time", None), ("10 % late", Some(LATE_ONE_IN))] {
        let mut house = House::new(context, peer)?;
        let format = house.format(&[Format::Lines, Format::Json])?;
        house.load(&cargo("", set, format), Until::Merged)?;
        let cargo = cargo(name, Set::next_day(100, hours, late_one_in), format);
        let mut load = house.load(&cargo, Until::Merged)?;
        load.stored = Some(peer.count(&mut house.server, cargo.feed)?.saturating_sub(set.points()));
        let merged = load.cpu_merge.is_some();
        cell.add(Row::Load(load))?;
        if merged {
            weigh(&house, name, set.points() + cargo.set.points(), cell)?;
        }
        house.leave()?;
    }
    Ok(())
}
