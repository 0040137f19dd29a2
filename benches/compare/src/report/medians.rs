//! What was measured several times, with the peers in turn, as one row: the median of each number.
//! Loads are combined where they are reported, with their number.

use crate::results::{Disk, QueryResult, Restart, Row};

/// Sums of the same numbers in another order differ by less than this share.
const SAME_SUMS: f64 = 1e-6;

/// Returns the rows of a part and a peer, each measurement once, in the order of the first ones.
pub(crate) fn combined(rows: Vec<Row>) -> Vec<Row> {
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| alike(first, &row)))
        {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let contradictions: Vec<Row> = groups.iter().filter_map(|group| contradiction(group)).collect();
    groups.iter().filter_map(|group| combine(group)).chain(contradictions).collect()
}

/// Returns what to report if a peer answered a query differently in another run: the answers that
/// are compared between the peers are those of the first one.
fn contradiction(group: &[Row]) -> Option<Row> {
    let queries =
        || group.iter().filter_map(|row| if let Row::Query(q) = row { Some(q) } else { None });
    let first = queries().next()?;
    let is_same = |other: &QueryResult| {
        let tolerated = SAME_SUMS * first.sum.abs().max(other.sum.abs());
        other.numbers == first.numbers && (other.sum - first.sum).abs() <= tolerated
    };
    let other = queries().find(|other| !is_same(other))?;
    let QueryResult { shape, state, numbers, sum, .. } = first;
    let reason = format!(
        "{shape} {state}: {numbers} numbers with the sum {sum} in one run, {} with {} in another",
        other.numbers, other.sum
    );
    Some(Row::Missing { reason })
}

fn alike(a: &Row, b: &Row) -> bool {
    match (a, b) {
        (Row::Peer { version: a, .. }, Row::Peer { version: b, .. }) => a == b,
        (Row::Missing { reason: a }, Row::Missing { reason: b }) => a == b,
        (Row::Disk(a), Row::Disk(b)) => a.set == b.set,
        (Row::Query(a), Row::Query(b)) => (&a.shape, &a.state) == (&b.shape, &b.state),
        (Row::Throughput { connections: a, .. }, Row::Throughput { connections: b, .. }) => a == b,
        (Row::Restart(a), Row::Restart(b)) => a.signal == b.signal,
        // Each remains.
        _ => false,
    }
}

/// Returns one row for a group of rows that are alike.
fn combine(group: &[Row]) -> Option<Row> {
    let first = group.first()?.clone();
    let of = |value: &dyn Fn(&Row) -> Option<f64>| median(group.iter().filter_map(value).collect());
    Some(match first {
        Row::Peer { version, durability, day, .. } => {
            let load = |row: &Row| match row {
                Row::Peer { load_average, .. } => Some(*load_average),
                _ => None,
            };
            let load_average = group.iter().filter_map(load).fold(0.0, f64::max);
            Row::Peer { version, durability, day, load_average }
        }
        Row::Disk(disk) => {
            let bytes = |row: &Row| match row {
                Row::Disk(disk) => Some(disk.bytes),
                _ => None,
            };
            let mut all: Vec<u64> = group.iter().filter_map(bytes).collect();
            all.sort_unstable();
            let bytes = all.get(all.len() / 2).copied().unwrap_or(disk.bytes);
            Row::Disk(Disk { bytes, ..disk })
        }
        Row::Query(query) => {
            let of = |value: fn(&QueryResult) -> f64| {
                of(&|row| if let Row::Query(query) = row { Some(value(query)) } else { None })
            };
            Row::Query(QueryResult {
                first_ms: of(|query| query.first_ms),
                p50_ms: of(|query| query.p50_ms),
                p99_ms: of(|query| query.p99_ms),
                cpu_ms: of(|query| query.cpu_ms),
                ..query
            })
        }
        Row::Throughput { connections, .. } => {
            let of = |value: fn(f64, f64, f64) -> f64| {
                of(&|row| match row {
                    Row::Throughput { per_second, p50_ms, p99_ms, .. } => {
                        Some(value(*per_second, *p50_ms, *p99_ms))
                    }
                    _ => None,
                })
            };
            Row::Throughput {
                connections,
                per_second: of(|per_second, _, _| per_second),
                p50_ms: of(|_, p50_ms, _| p50_ms),
                p99_ms: of(|_, _, p99_ms| p99_ms),
            }
        }
        Row::Restart(restart) => {
            let of = |value: fn(&Restart) -> Option<f64>| {
                of(&|row| if let Row::Restart(restart) = row { value(restart) } else { None })
            };
            // One without a complete response counts as the worst.
            let is_complete = |row: &Row| matches!(row, Row::Restart(r) if r.answer_s.is_some());
            let answer_s = group.iter().all(is_complete).then(|| of(|restart| restart.answer_s));
            let after = |row: &Row| match row {
                Row::Restart(restart) => Some(restart.points_after),
                _ => None,
            };
            Row::Restart(Restart {
                stop_s: of(|restart| Some(restart.stop_s)),
                ready_s: of(|restart| Some(restart.ready_s)),
                answer_s,
                points_after: group.iter().filter_map(after).min().unwrap_or_default(),
                memory_mb: of(|restart| Some(restart.memory_mb)),
                ..restart
            })
        }
        other @ (Row::Missing { .. } | Row::Load(_)) => other,
    })
}

/// Returns the middle of some values, or what is between the two.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = |from: usize| values.get(from / 2).copied().unwrap_or(0.0);
    (middle(values.len().saturating_sub(1)) + middle(values.len())) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_or_between_the_two() {
        for (values, expected) in
            [(vec![7.0], 7.0), (vec![3.0, 1.0], 2.0), (vec![9.0, 1.0, 2.0], 2.0)]
        {
            assert!((median(values.clone()) - expected).abs() < 1e-12, "{values:?}");
        }
    }

    fn query(state: &str, ms: f64, sum: f64) -> Row {
        Row::Query(QueryResult {
            shape: "q1".to_owned(),
            state: state.to_owned(),
            first_ms: 2.0 * ms,
            p50_ms: ms,
            p99_ms: 3.0 * ms,
            times: 9,
            cpu_ms: ms,
            numbers: 4,
            sum,
        })
    }

    #[test]
    fn another_answer_in_another_run_is_reported() {
        let same = combined(vec![query("raw", 1.0, 1e9), query("raw", 2.0, 1e9 + 1.0)]);
        assert_eq!(same.len(), 1, "{same:?}");
        let other = combined(vec![query("raw", 1.0, 7.0), query("raw", 2.0, 8.0)]);
        let [Row::Query(_), Row::Missing { reason }] = other.as_slice() else {
            panic!("{other:?}");
        };
        assert!(reason.contains("the sum 7 in one run, 4 with 8"), "{reason}");
    }

    #[test]
    fn what_is_measured_several_times_is_one_row() {
        let disk = |bytes| Row::Disk(Disk { set: String::new(), points: 1, bytes, counted: None });
        let rows = vec![
            query("raw", 5.0, 1.0),
            disk(7),
            query("final", 1.0, 1.0),
            query("final", 9.0, 1.0),
            disk(3),
            disk(9),
            query("final", 2.0, 1.0),
        ];
        let combined = combined(rows);
        let [Row::Query(raw), Row::Disk(disk), Row::Query(last)] = combined.as_slice() else {
            panic!("{combined:?}");
        };
        assert_eq!((raw.p50_ms.to_bits(), disk.bytes), (5.0_f64.to_bits(), 7));
        assert_eq!([last.p50_ms, last.first_ms, last.p99_ms].map(|ms| ms as u64), [2, 4, 6]);
    }
}
