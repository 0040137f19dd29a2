//! Disk space, memory, and the duration of restarts.

use super::facts::Facts;
use super::markdown::{Table, maybe, number, ratio};
use crate::contest::PEERS;
use crate::parts::PARTS;
use crate::results::{Load, Row};

/// Parts whose disk space is reported as a whole.
pub(crate) const WEIGHED: [&str; 6] =
    ["tsbs-small", "tsbs-medium", "doubles", "mix", "latencies", "events"];

/// The table of bytes per point by set and peer, and notes on peers of which not all files count.
pub(crate) fn disk(facts: &Facts) -> String {
    let mut text = by_peer(facts, |facts, part, peer| facts.bytes_per_point(part, peer));
    for peer in PEERS {
        let mut rows = PARTS.iter().flat_map(|part| facts.rows(part.name, peer));
        let counted = rows.find_map(|row| match row {
            Row::Disk(disk) => disk.counted.as_ref(),
            _ => None,
        });
        if let Some(counted) = counted {
            text.push_str(&format!("Of {peer}: {counted}.\n"));
        }
    }
    text
}

/// The table of peak memory of a load until its flush, by set and peer.
pub(crate) fn memory(facts: &Facts) -> String {
    by_peer(facts, |facts, part, peer| {
        let loads = facts.loads(part, peer).into_iter().map(|(load, _)| load);
        let loads: Vec<Load> = loads.filter(|load| load.set != "users as a set").collect();
        // Of several formats and sizes, the one in which all servers were loaded.
        let kept = loads.iter().rfind(|load| load.format == "lines" && load.per_request == 5_000);
        kept.or_else(|| loads.last()).map(|load| load.memory_mb)
    })
}

fn by_peer(facts: &Facts, value: fn(&Facts, &str, &str) -> Option<f64>) -> String {
    let mut heads = vec!["set"];
    let peers: Vec<&str> = PEERS.into_iter().filter(|peer| *peer != "telltale-interval").collect();
    heads.extend(&peers);
    heads.push("telltale × best peer");
    let mut table = Table::new(&heads);
    for part in WEIGHED {
        let values = peers.iter().map(|peer| value(facts, part, peer));
        let values: Vec<Option<f64>> = values.collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        let best = facts.least(|peer| value(facts, part, peer));
        let mut row = vec![part.to_owned()];
        row.extend(values.iter().map(|value| maybe(*value)));
        row.push(ratio(values.first().copied().flatten(), best));
        table.row(row);
    }
    table.finish()
}

/// The table of starts after a stop and after a kill.
pub(crate) fn restarts(facts: &Facts) -> String {
    let mut table = Table::new(&[
        "set",
        "peer",
        "signal",
        "stop s",
        "ready s",
        "complete response s",
        "points before",
        "points after",
        "MB",
    ]);
    for part in PARTS {
        for peer in PEERS {
            for row in facts.rows(part.name, peer) {
                let Row::Restart(restart) = row else { continue };
                table.row([
                    part.name.to_owned(),
                    peer.to_owned(),
                    restart.signal.clone(),
                    number(restart.stop_s),
                    number(restart.ready_s),
                    restart.answer_s.map_or("never".to_owned(), number),
                    restart.points_before.to_string(),
                    restart.points_after.to_string(),
                    number(restart.memory_mb),
                ]);
            }
        }
    }
    table.finish()
}
