//! The same number of points in more and more series. The first point of each series is measured
//! apart from the others.

use super::house::{Context, House, Until};
use super::kept::{cargo, weigh};
use crate::data::{Format, Set};
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::results::{Cell, Row};

const SERIES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    // It takes gigabytes and minutes for the last of them.
    let most = if peer.name() == "influxdb" {
        context.options.scale.pick(100_000, usize::MAX)
    } else {
        usize::MAX
    };
    for series in SERIES.into_iter().filter(|series| *series <= most) {
        let mut house = House::new(context, peer)?;
        let format = house.format(&[Format::Lines, Format::Json])?;
        let name = format!("first points of {series} series");
        let first = house.load(&cargo(&name, Set::series(series, 0, 1), format), Until::Flushed)?;
        cell.add(Row::Load(first))?;
        let name = format!("{series} series");
        let steps = set.points() as usize / series;
        let cargo = cargo(&name, Set::series(series, 1, steps), format);
        let mut load = house.load(&cargo, Until::Merged)?;
        let stored = peer.count(&mut house.server, cargo.feed)?;
        load.stored = Some(stored.saturating_sub(series as u64));
        let merged = load.cpu_merge.is_some();
        cell.add(Row::Load(load))?;
        if merged {
            weigh(&house, &name, series as u64 + cargo.set.points(), cell)?;
        }
        house.leave()?;
    }
    Ok(())
}
