//! The rate and the cost of ingest.

use super::facts::Facts;
use super::markdown::{Table, maybe, number, ratio};
use crate::contest::PEERS;
use crate::parts::PARTS;
use crate::results::Load;

const HEADS: [&str; 13] = [
    "format",
    "per request",
    "peer",
    "runs",
    "points/s",
    "× best peer",
    "CPU s/M at ack",
    "flushed",
    "merged",
    "× best peer",
    "request p50 ms",
    "p99 ms",
    "peak MB",
];

/// Returns a table for each part.
pub(crate) fn section(facts: &Facts) -> String {
    let mut text = String::new();
    for part in PARTS.iter().filter(|part| !["late", "cardinality"].contains(&part.name)) {
        let table = table(facts, part.name);
        if !table.is_empty() {
            text.push_str(&format!("### {}: {}\n\n{table}", part.name, part.about));
        }
    }
    text
}

fn table(facts: &Facts, part: &str) -> String {
    let mut ways: Vec<(String, String, usize)> = Vec::new();
    for peer in PEERS {
        for (load, _) in facts.loads(part, peer) {
            let way = (load.set, load.format, load.per_request);
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    let mut table = Table::new(&HEADS);
    for (set, format, per_request) in &ways {
        let found = |peer: &str| facts.load(part, peer, set, format, *per_request);
        let fastest = facts.most(|peer| found(peer).map(|load| load.per_second()));
        let cheapest = facts.least(|peer| found(peer).and_then(|load| load.cpu_all()));
        for peer in PEERS {
            let runs = facts.loads(part, peer).into_iter().find(|(load, _)| {
                load.set == *set && load.format == *format && load.per_request == *per_request
            });
            if let Some((load, runs)) = runs {
                table.row(row(peer, &load, runs, fastest, cheapest));
            }
        }
    }
    table.finish()
}

fn row(
    peer: &str,
    load: &Load,
    runs: usize,
    fastest: Option<f64>,
    cheapest: Option<f64>,
) -> Vec<String> {
    let set = if load.set.is_empty() { String::new() } else { format!(" ({})", load.set) };
    let lost = match load.stored {
        Some(stored) if stored != load.points => format!(" (stored {stored} of {})", load.points),
        _ => String::new(),
    };
    let refused = match &load.refusal {
        Some(refusal) => format!(" ({} requests refused: {refusal})", load.refused),
        None => String::new(),
    };
    let cpu = |seconds: Option<f64>| maybe(seconds.map(|seconds| load.cpu(seconds)));
    vec![
        format!("{}{set}", load.format),
        load.per_request.to_string(),
        format!("{peer}{lost}{refused}"),
        runs.to_string(),
        number(load.per_second()),
        ratio(Some(load.per_second()), fastest),
        number(load.cpu(load.cpu_ack)),
        cpu(load.cpu_flush),
        cpu(load.cpu_merge),
        ratio(load.cpu_all(), cheapest),
        number(load.p50_ms),
        number(load.p99_ms),
        number(load.memory_mb),
    ]
}
