//! The groups of a result that are shown: those with the largest values.

use std::cmp::Ordering;

use telltale_engine::QueryResult;

use super::model::{GroupCounts, Top, TopBy};

/// Keeps the groups with the largest values if `top` says so, the largest first. Groups with equal
/// values are in the order of their keys, so the choice is deterministic. Returns how many groups
/// there were and how many are left.
pub(super) fn keep_top(top: Option<Top>, result: &mut QueryResult) -> GroupCounts {
    let groups = result.groups.len();
    if let Some(Top { count, by }) = top {
        let all = std::mem::take(&mut result.groups);
        let ranked = all.into_iter().map(|group| {
            let values = group.columns.first().map_or(&[][..], Vec::as_slice);
            (measure(by, values), group)
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_unstable_by(|(a, group_a), (b, group_b)| {
            descending(*a, *b).then_with(|| group_a.key.cmp(&group_b.key))
        });
        ranked.truncate(count);
        result.groups = ranked.into_iter().map(|(_, group)| group).collect();
    }
    GroupCounts { groups, shown: result.groups.len() }
}

/// Returns the measure of the values of a group, which has at least one.
fn measure(by: TopBy, values: &[f64]) -> f64 {
    let values_iter = values.iter().copied();
    match by {
        TopBy::Max => values_iter.fold(f64::NEG_INFINITY, f64::max),
        TopBy::Min => values_iter.fold(f64::INFINITY, f64::min),
        TopBy::Sum => values_iter.sum(),
        // Divided first: the sum of large values may exceed the range of floats.
        TopBy::Avg => values_iter.map(|value| value / values.len() as f64).sum(),
        TopBy::Last => values.last().copied().unwrap_or(f64::NEG_INFINITY),
    }
}

/// Orders the larger number first. The sum of values of both signs may be NaN, which comes last.
fn descending(a: f64, b: f64) -> Ordering {
    a.is_nan().cmp(&b.is_nan()).then_with(|| b.total_cmp(&a))
}

#[cfg(test)]
mod tests {
    use telltale_engine::{Group, MetricType, QueryStats, ResultMemory, TimeRange, TimestampMs};

    use super::*;

    fn result(groups: &[(&str, &[f64])]) -> QueryResult {
        let group = |(key, values): &(&str, &[f64])| Group {
            key: vec![(*key).to_owned()],
            starts: (0..).map(TimestampMs).take(values.len()).collect(),
            columns: vec![values.to_vec(), vec![0.0; values.len()]],
        };
        QueryResult {
            kind: MetricType::Gauge,
            range: TimeRange::new(0, 10),
            coarse: Vec::new(),
            groups: groups.iter().map(group).collect(),
            stats: QueryStats::default(),
            memory: ResultMemory::default(),
        }
    }

    #[track_caller]
    fn check(by: TopBy, groups: &[(&str, &[f64])], expected: &str) {
        for count in 0..=groups.len() + 1 {
            let mut result = result(groups);
            let counts = keep_top(Some(Top { count, by }), &mut result);
            let keys: Vec<&str> = result.groups.iter().map(|group| group.key[0].as_str()).collect();
            let wanted: Vec<&str> = expected.split(' ').take(count).collect();
            assert_eq!(keys, wanted, "{by:?} {count}");
            assert_eq!(counts, GroupCounts { groups: groups.len(), shown: keys.len() });
        }
    }

    #[test]
    fn the_groups_with_the_largest_measure_are_kept() {
        let groups: &[(&str, &[f64])] =
            &[("a", &[1.0, 9.0, 2.0]), ("b", &[5.0]), ("c", &[4.0, 4.0, 4.0]), ("d", &[-1.0, 8.0])];
        check(TopBy::Max, groups, "a d b c");
        check(TopBy::Min, groups, "b c a d");
        check(TopBy::Sum, groups, "a c d b");
        check(TopBy::Avg, groups, "b a c d");
        check(TopBy::Last, groups, "d b c a");
    }

    #[test]
    fn equal_groups_are_in_the_order_of_their_keys() {
        for by in TopBy::ALL {
            check(by, &[("a", &[2.0]), ("b", &[3.0]), ("c", &[2.0]), ("d", &[3.0])], "b d a c");
        }
    }

    #[test]
    fn extreme_values_have_an_order() {
        let groups: &[(&str, &[f64])] = &[
            ("a", &[1e308, 1e308]),
            ("b", &[-1e308, -1e308]),
            ("c", &[1e308, -1e308]),
            ("d", &[0.0]),
        ];
        check(TopBy::Sum, groups, "a c d b");
        check(TopBy::Avg, groups, "a c d b");
    }

    #[test]
    fn all_groups_are_kept_without_a_top() {
        let mut all = result(&[("a", &[1.0]), ("b", &[2.0])]);
        assert_eq!(keep_top(None, &mut all), GroupCounts { groups: 2, shown: 2 });
        assert_eq!(all.groups[0].key, ["a"]);
    }
}
