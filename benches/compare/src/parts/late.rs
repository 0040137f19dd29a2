//! Late points: the second of two days, on time, and with a tenth of its timestamps one day
//! earlier, between points that are merged by then.

use super::measure_set::{record_disk, workload};
use super::peer_server::{Context, PeerServer, Until};
use crate::data::{Format, Set};
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::results::{Cell, Row};

const LATE_ONE_IN: u64 = 10;

pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    let hours = context.options.scale.pick(6, 12);
    for (name, late_one_in) in [("on time", None), ("10 % late", Some(LATE_ONE_IN))] {
        let mut target = PeerServer::new(context, peer)?;
        let format = target.format(&[Format::Lines, Format::Json])?;
        target.load(&workload("", set, format), Until::Merged)?;
        let workload = workload(name, Set::next_day(100, hours, late_one_in), format);
        let mut load = target.load(&workload, Until::Merged)?;
        load.stored =
            Some(peer.count(&mut target.server, workload.feed)?.saturating_sub(set.points()));
        let merged = load.cpu_merge.is_some();
        cell.add(Row::Load(load))?;
        if merged {
            record_disk(&target, name, set.points() + workload.set.points(), cell)?;
        }
        target.remove()?;
    }
    Ok(())
}
