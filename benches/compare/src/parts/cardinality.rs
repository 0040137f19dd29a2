//! The same number of points in an increasing number of series. The first point of each series is
//! measured separately, and so is a restart with the most series.

use super::measure_set::{record_disk, restart_and_count, workload};
use super::peer_server::{Context, PeerServer, Until};
use crate::data::{Format, Set};
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::results::{Cell, Row};

const SERIES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

pub(crate) fn serve(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    // InfluxDB needs gigabytes of memory and minutes for a million series.
    let most = if peer.name() == "influxdb" {
        context.options.scale.pick(100_000, usize::MAX)
    } else {
        usize::MAX
    };
    for series in SERIES.into_iter().filter(|series| *series <= most) {
        let mut target = PeerServer::new(context, peer)?;
        let format = target.format(&[Format::Lines, Format::Json])?;
        let name = format!("first points of {series} series");
        // Merged, by peers that can, so that they do not do this during the next load.
        let first =
            target.load(&workload(&name, Set::series(series, 0, 1), format), Until::Merged)?;
        cell.add(Row::Load(first))?;
        let name = format!("{series} series");
        let steps = set.points() as usize / series;
        let workload = workload(&name, Set::series(series, 1, steps), format);
        let mut load = target.load(&workload, Until::Merged)?;
        let stored = peer.count(&mut target.server, workload.feed)?;
        load.stored = Some(stored.saturating_sub(series as u64));
        let merged = load.cpu_merge.is_some();
        cell.add(Row::Load(load))?;
        let points = series as u64 + workload.set.points();
        if merged {
            record_disk(&target, &name, points, cell)?;
        }
        if SERIES.last() == Some(&series) {
            restart_and_count(&mut target, &workload, points, cell)?;
        }
        target.remove()?;
    }
    Ok(())
}
