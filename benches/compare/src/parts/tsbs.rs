//! The cpu sets: every format and size of request, then one load that is weighed, asked, stopped,
//! and one that is killed.

use rustix::process::Signal;

use super::house::{Cargo, Context, House, Until};
use super::kept::{ask_fast, cargo, keep, restart};
use crate::ask::Asked;
use crate::data::{Format, Set};
use crate::outcome::Outcome;
use crate::peers::{Feed, Peer};
use crate::results::{Cell, Row};

/// A format, and how many lines, samples or items a request of it has.
type Way = (Format, usize);

const WAYS_SMALL: [Way; 6] = [
    (Format::Lines, 500),
    (Format::Lines, 5_000),
    (Format::Lines, 50_000),
    (Format::Wide, 500),
    (Format::RemoteWrite(5_000), 5_000),
    (Format::Json, 500),
];
/// What the small scale has no time for.
const WAYS_MORE: [Way; 4] = [
    (Format::Wide, 5_000),
    (Format::Wide, 50_000),
    (Format::RemoteWrite(500), 500),
    (Format::RemoteWrite(50_000), 50_000),
];
const WAYS_MEDIUM: [Way; 2] = [(Format::Wide, 500), (Format::RemoteWrite(5_000), 5_000)];

/// A thousand series: every way, again and again.
pub(crate) fn small(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    // A slow one is not worth the wait.
    let runs = if peer.name() == "influxdb" { 1 } else { context.options.runs };
    let more: &[Way] = context.options.scale.pick(&[], &WAYS_MORE);
    for way in WAYS_SMALL.iter().chain(more) {
        for _ in 0..runs {
            load(context, peer, set, *way, cell)?;
        }
    }
    let asked = Asked::Cpu { hosts: 100, hours: 12 };
    all(context, peer, set, asked, cell)?;
    let mut house = House::new(context, peer)?;
    let format = house.format(&[Format::Lines, Format::Json])?;
    let cargo = cargo("", set, format);
    let sent = house.send(&cargo)?;
    if sent.refused > 0 {
        return Err(sent.refusal.unwrap_or_default().into());
    }
    restart(&mut house, &cargo, asked, Signal::KILL, cell)?;
    house.leave()
}

/// Ten thousand series: once each.
pub(crate) fn medium(context: &Context, peer: &dyn Peer, set: Set, cell: &mut Cell) -> Outcome<()> {
    for way in WAYS_MEDIUM {
        load(context, peer, set, way, cell)?;
    }
    let hours = context.options.scale.pick(2, 6);
    all(context, peer, set, Asked::Cpu { hosts: 1_000, hours }, cell)
}

/// One load into an empty server, where the peer takes the format.
fn load(
    context: &Context,
    peer: &dyn Peer,
    set: Set,
    (format, per_request): Way,
    cell: &mut Cell,
) -> Outcome<()> {
    let feed = Feed::Metrics(format);
    if peer.write(feed).is_none() {
        return Ok(());
    }
    let mut house = House::new(context, peer)?;
    if house.takes(feed)? {
        let cargo = Cargo { name: "", set, feed, per_request };
        let mut load = house.load(&cargo, Until::Merged)?;
        load.stored = Some(peer.count(&mut house.server, feed)?);
        cell.add(Row::Load(load))?;
    } else {
        let reason = format!("{format}: there is nothing where this would be sent");
        cell.add(Row::Missing { reason })?;
    }
    house.leave()
}

/// One load that is weighed and asked.
fn all(context: &Context, peer: &dyn Peer, set: Set, asked: Asked, cell: &mut Cell) -> Outcome<()> {
    if peer.differs_in_acknowledgement_alone() {
        return Ok(());
    }
    let mut house = House::new(context, peer)?;
    let format = house.format(&[Format::Lines, Format::Json])?;
    let cargo = cargo("", set, format);
    keep(&mut house, &cargo, Some(asked), cell)?;
    ask_fast(&house, asked, cell)?;
    restart(&mut house, &cargo, asked, Signal::TERM, cell)?;
    house.leave()
}
