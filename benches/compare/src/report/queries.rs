//! Query times, and whether the results agree.

use super::facts::Facts;
use super::markdown::{Table, number, ratio};
use crate::contest::PEERS;
use crate::parts::PARTS;
use crate::results::Row;

/// Results of approximate methods may differ by this share, those of exact ones by [`EXACT`].
const APPROXIMATE: f64 = 0.02;
const EXACT: f64 = 1e-6;

/// A query of a part that some peer was measured with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MeasuredQuery {
    part: &'static str,
    shape: String,
}

fn measured_queries(facts: &Facts) -> Vec<MeasuredQuery> {
    let mut all = Vec::new();
    for part in PARTS {
        for peer in PEERS {
            for row in facts.rows(part.name, peer) {
                let Row::Query(query) = row else { continue };
                let measured = MeasuredQuery { part: part.name, shape: query.shape.clone() };
                if !all.contains(&measured) {
                    all.push(measured);
                }
            }
        }
    }
    all.sort_by(|a, b| (place(a.part), &a.shape).cmp(&(place(b.part), &b.shape)));
    all
}

fn place(part: &str) -> usize {
    PARTS.iter().position(|known| known.name == part).unwrap_or(PARTS.len())
}

fn peers() -> Vec<&'static str> {
    PEERS.into_iter().filter(|peer| *peer != "telltale-interval").collect()
}

/// The table of times by query and peer; those of Telltale before and after its merge.
pub(crate) fn times(facts: &Facts) -> String {
    let mut heads = vec!["set", "query", "telltale raw"];
    heads.extend(peers());
    heads.extend(["raw × best peer", "× best peer"]);
    let mut table = Table::new(&heads);
    for MeasuredQuery { part, shape } in measured_queries(facts) {
        let found = |peer: &str, state: &str| facts.query(part, peer, &shape, state);
        let cell = |peer: &str, state: &str| {
            found(peer, state).map_or("–".to_owned(), |query| {
                let (first, p50) = (number(query.first_ms), number(query.p50_ms));
                format!("{first} / {p50} / {} ({})", number(query.p99_ms), number(query.cpu_ms))
            })
        };
        let p50 = |peer: &str, state: &str| found(peer, state).map(|query| query.p50_ms);
        let best = facts.least(|peer| p50(peer, "final"));
        let mut row = vec![part.to_owned(), shape.clone(), cell("telltale", "raw")];
        row.extend(peers().into_iter().map(|peer| cell(peer, "final")));
        row.push(ratio(p50("telltale", "raw"), best));
        row.push(ratio(p50("telltale", "final"), best));
        table.row(row);
    }
    table.finish()
}

/// The table of queries of single series per second.
pub(crate) fn throughput(facts: &Facts) -> String {
    let mut table = Table::new(&["set", "peer", "queries/s", "p50 ms", "p99 ms", "× best peer"]);
    for part in PARTS {
        let best = facts.most(|peer| facts.throughput(part.name, peer));
        for peer in PEERS {
            for row in facts.rows(part.name, peer) {
                let Row::Throughput { per_second, p50_ms, p99_ms, .. } = row else { continue };
                table.row([
                    part.name.to_owned(),
                    peer.to_owned(),
                    number(*per_second),
                    number(*p50_ms),
                    number(*p99_ms),
                    ratio(Some(*per_second), best),
                ]);
            }
        }
    }
    table.finish()
}

/// The table of the count and sum of the numbers of each result, and whether all agree.
pub(crate) fn answers(facts: &Facts) -> String {
    let mut heads = vec!["set", "query"];
    heads.extend(peers());
    heads.push("agree");
    let mut table = Table::new(&heads);
    for MeasuredQuery { part, shape } in measured_queries(facts) {
        let mut row = vec![part.to_owned(), shape.clone()];
        row.extend(peers().into_iter().map(|peer| {
            let query = facts.query(part, peer, &shape, "final");
            query.map_or("–".to_owned(), |query| format!("{}, {:.3}", query.numbers, query.sum))
        }));
        row.push(if agree(facts, part, &shape) { "yes" } else { "**no**" }.to_owned());
        table.row(row);
    }
    table.finish()
}

/// Returns whether all results of a query agree with those of the most exact method.
fn agree(facts: &Facts, part: &str, shape: &str) -> bool {
    let digests = |shape: &str| -> Vec<(u64, f64)> {
        let states = |peer| ["final", "raw"].map(|state| facts.query(part, peer, shape, state));
        let all = peers().into_iter().flat_map(states).flatten();
        all.map(|query| (query.numbers, query.sum)).collect()
    };
    let plain = shape.split(' ').next().unwrap_or_default();
    let ways = [format!("{plain} exact"), plain.to_owned(), shape.to_owned()];
    let exact = ways.iter().find_map(|shape| digests(shape).first().copied());
    let Some((numbers, sum)) = exact else { return true };
    let tolerance = if is_exact(shape) { EXACT } else { APPROXIMATE };
    let agrees = |(n, s): (u64, f64)| n == numbers && (s - sum).abs() <= tolerance * sum.abs();
    digests(shape).into_iter().all(agrees)
}

/// Returns whether all peers return exact numbers.
fn is_exact(shape: &str) -> bool {
    matches!(shape, "q1" | "q2" | "q3" | "q4" | "q6" | "q7" | "q8" | "q10")
}

/// Returns the median time of a query, in milliseconds.
pub(crate) fn p50(facts: &Facts, part: &str, peer: &str, shape: &str) -> Option<f64> {
    facts.query(part, peer, shape, "final").map(|query| query.p50_ms)
}
