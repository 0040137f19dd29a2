//! The cost of late points, of many series, of series that are replaced, and of a month of data.

use super::facts::Facts;
use super::markdown::{Table, maybe, number};
use crate::contest::PEERS;
use crate::results::{Load, Row};

/// The table of late points: each load, and its share of the rate of points on time.
pub(crate) fn late(facts: &Facts) -> String {
    let mut table = Table::new(&[
        "peer",
        "points",
        "points/s",
        "rate kept",
        "CPU s/M at ack",
        "merged",
        "bytes/point of both days",
    ]);
    for peer in PEERS {
        let loads = facts.loads("late", peer);
        let on_time = loads.first().map(|(load, _)| load.per_second());
        for (load, _) in &loads {
            let kept = on_time.map(|rate| load.per_second() / rate);
            table.row([
                format!("{peer}{}", lost(load)),
                load.set.clone(),
                number(load.per_second()),
                kept.map_or("–".to_owned(), |kept| format!("{:.0} %", kept * 100.0)),
                number(load.cpu(load.cpu_ack)),
                maybe(load.cpu_all()),
                maybe(disk(facts, "late", peer, &load.set)),
            ]);
        }
    }
    table.finish()
}

/// The table of the same points in an increasing number of series.
pub(crate) fn cardinality(facts: &Facts) -> String {
    let mut table = Table::new(&[
        "peer",
        "load",
        "points/s",
        "CPU s/M at ack",
        "merged",
        "× 1 000 series",
        "peak MB",
        "bytes/point",
    ]);
    for peer in PEERS {
        let loads = facts.loads("cardinality", peer);
        let few = loads.iter().find(|(load, _)| load.set == "1000 series");
        let few = few.map(|(load, _)| load.cpu(load.cpu_ack));
        for (load, _) in &loads {
            let cpu = load.cpu(load.cpu_ack);
            table.row([
                format!("{peer}{}", lost(load)),
                load.set.clone(),
                number(load.per_second()),
                number(cpu),
                maybe(load.cpu_all()),
                few.map_or("–".to_owned(), |few| format!("{:.2}×", cpu / few)),
                number(load.memory_mb),
                maybe(disk(facts, "cardinality", peer, &load.set)),
            ]);
        }
    }
    table.finish()
}

/// The table of a part with one load: its cost, memory and disk space.
pub(crate) fn load_of(facts: &Facts, part: &str) -> String {
    let mut table = Table::new(&[
        "peer",
        "points",
        "points/s",
        "CPU s/M at ack",
        "merged",
        "peak MB",
        "bytes/point",
        "ready after a restart, s",
    ]);
    for peer in PEERS {
        for (load, _) in facts.loads(part, peer) {
            let ready = facts.rows(part, peer).iter().find_map(|row| match row {
                Row::Restart(restart) => Some(restart.ready_s),
                _ => None,
            });
            table.row([
                format!("{peer}{}", lost(&load)),
                number(load.points as f64),
                number(load.per_second()),
                number(load.cpu(load.cpu_ack)),
                maybe(load.cpu_all()),
                number(load.memory_mb),
                maybe(disk(facts, part, peer, &load.set)),
                maybe(ready),
            ]);
        }
    }
    table.finish()
}

/// The table of the first query of each shape after a restart with none of the files in memory.
pub(crate) fn evicted(facts: &Facts) -> String {
    let mut table = Table::new(&["peer", "query", "ms", "CPU ms"]);
    for peer in PEERS {
        for row in facts.rows("month", peer) {
            match row {
                Row::Query(query) if query.state == "evicted" => table.row([
                    peer.to_owned(),
                    query.shape.clone(),
                    number(query.first_ms),
                    number(query.cpu_ms),
                ]),
                _ => {}
            }
        }
    }
    table.finish()
}

/// Returns the bytes on disk per point of a load.
fn disk(facts: &Facts, part: &str, peer: &str, set: &str) -> Option<f64> {
    facts.rows(part, peer).iter().find_map(|row| match row {
        Row::Disk(disk) if disk.set == set => Some(disk.bytes as f64 / disk.points as f64),
        _ => None,
    })
}

fn lost(load: &Load) -> String {
    match load.stored {
        Some(stored) if stored != load.points => format!(" (stored {stored} of {})", load.points),
        _ => String::new(),
    }
}
