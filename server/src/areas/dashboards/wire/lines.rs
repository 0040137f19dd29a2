//! The values of a graph as columns, for charts: each time is written once, and every value
//! without its name.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use telltale_engine::TimestampMs;

use crate::areas::dashboards::data::Point;
use crate::platform::json::Plain;

/// Lines have columns if these have at most this many times as many values as the lines have
/// points: the others would be nulls.
const SPARSE_MAX: usize = 2;

/// The lines of a graph, over the same times.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetLines")]
pub(super) struct LinesView {
    /// The starts of the buckets in which a line has a value, in milliseconds since 1970,
    /// ascending.
    times: Vec<i64>,
    lines: Vec<LineView>,
}

/// A line of a graph.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetLine")]
struct LineView {
    /// The label of the group; absent without `group_by`.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// A value for each time; null where the line has none.
    values: Vec<Option<Plain>>,
}

impl LinesView {
    /// Returns whether columns of these lines are no larger than their points.
    pub(super) fn fits<'p>(lines: impl Iterator<Item = &'p [Point]> + Clone) -> bool {
        let points: usize = lines.clone().map(<[Point]>::len).sum();
        let (times, count) = (times_of(lines.clone()).len(), lines.count());
        times.saturating_mul(count) <= points.saturating_mul(SPARSE_MAX)
    }

    /// Returns the columns of lines, each with the label of its group if there are groups.
    pub(super) fn new(lines: Vec<(Option<String>, Vec<Point>)>) -> Self {
        let times = times_of(lines.iter().map(|(_, points)| points.as_slice()));
        let rows: HashMap<i64, usize> = times.iter().enumerate().map(|(i, t)| (*t, i)).collect();
        let line = |(label, points): (Option<String>, Vec<Point>)| {
            let mut values: Vec<Option<Plain>> = times.iter().map(|_| None).collect();
            for Point { start, value } in points {
                let row = rows.get(&start.0).and_then(|row| values.get_mut(*row));
                row.into_iter().for_each(|row| *row = Some(Plain(value)));
            }
            LineView { label, values }
        };
        let lines = lines.into_iter().map(line).collect();
        Self { times, lines }
    }
}

/// Returns the times of all lines, ascending.
fn times_of<'p>(lines: impl Iterator<Item = &'p [Point]>) -> Vec<i64> {
    let mut times: Vec<i64> = Vec::new();
    for line in lines {
        let has_same = line.len() == times.len()
            && line.iter().zip(&times).all(|(Point { start, .. }, time)| start.0 == *time);
        if has_same {
            continue;
        }
        times.extend(line.iter().map(|Point { start: TimestampMs(ms), .. }| *ms));
        times.sort();
        times.dedup();
    }
    times
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(points: &[(i64, f64)]) -> Vec<Point> {
        points.iter().map(|&(ms, value)| Point { start: TimestampMs(ms), value }).collect()
    }

    #[test]
    fn lines_with_different_times_share_all_of_them() {
        let (a, b) = (line(&[(60, 1.0), (120, 2.5)]), line(&[(120, 3.0), (180, 4.0)]));
        assert!(LinesView::fits([&a[..], &b[..]].into_iter()));
        let view = LinesView::new(vec![(Some("a".into()), a), (Some("b".into()), b)]);
        let expected = json!({
            "times": [60, 120, 180],
            "lines": [
                {"label": "a", "values": [1, 2.5, null]},
                {"label": "b", "values": [null, 3, 4]},
            ],
        });
        assert_eq!(serde_json::to_value(&view).unwrap(), expected);
        let one = LinesView::new(vec![(None, line(&[(5, 0.5)]))]);
        let expected = json!({"times": [5], "lines": [{"values": [0.5]}]});
        assert_eq!(serde_json::to_value(&one).unwrap(), expected);
        assert!(LinesView::fits(std::iter::empty()));
    }

    #[test]
    fn lines_without_common_times_have_no_columns() {
        let lines: Vec<_> = (0..100).map(|i| line(&[(i, 1.0)])).collect();
        assert!(!LinesView::fits(lines.iter().map(Vec::as_slice)));
        let same: Vec<_> = (0..100).map(|_| line(&[(1, 1.0), (2, 1.0)])).collect();
        assert!(LinesView::fits(same.iter().map(Vec::as_slice)));
    }
}
