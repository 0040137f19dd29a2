//! The values of a graph as columns, for charts: each time is written once, and every value
//! without its name.

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
    /// Returns the columns of lines, each with the label of its group if there are groups. Returns
    /// `None` if they would be larger than points. The work is that of sorting all points at most.
    pub(super) fn new<'p>(
        lines: impl Iterator<Item = (Option<&'p str>, &'p [Point])> + Clone,
    ) -> Option<Self> {
        let points = lines.clone().map(|(_, points)| points.len());
        let (count, longest) = (points.clone().count(), points.clone().max().unwrap_or(0));
        let times_max = points.sum::<usize>().saturating_mul(SPARSE_MAX) / count.max(1);
        if longest > times_max {
            return None;
        }
        let times = times_of(lines.clone().map(|(_, points)| points));
        if times.len() > times_max {
            return None;
        }
        let line = |(label, points): (Option<&str>, &[Point])| {
            let mut points = points.iter().peekable();
            let value = |time: &i64| {
                points.next_if(|Point { start, .. }| start.0 == *time).map(|p| Plain(p.value))
            };
            let values = times.iter().map(value).collect();
            LineView { label: label.map(str::to_owned), values }
        };
        let lines = lines.map(line).collect();
        Some(Self { times, lines })
    }
}

/// Returns the times of all lines, ascending.
fn times_of<'p>(mut lines: impl Iterator<Item = &'p [Point]>) -> Vec<i64> {
    let ms = |Point { start: TimestampMs(ms), .. }: &Point| *ms;
    let first = lines.next().unwrap_or_default();
    let mut times: Vec<i64> = first.iter().map(ms).collect();
    let mut has_others = false;
    for line in lines {
        if !line.iter().map(ms).eq(first.iter().map(ms)) {
            times.extend(line.iter().map(ms));
            has_others = true;
        }
    }
    if has_others {
        times.sort_unstable();
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

    fn view(lines: &[(Option<&str>, Vec<Point>)]) -> Option<LinesView> {
        LinesView::new(lines.iter().map(|(label, points)| (*label, points.as_slice())))
    }

    #[test]
    fn lines_with_different_times_share_all_of_them() {
        let (a, b) = (line(&[(60, 1.0), (120, 2.5)]), line(&[(120, 3.0), (180, 4.0)]));
        let expected = json!({
            "times": [60, 120, 180],
            "lines": [
                {"label": "a", "values": [1, 2.5, null]},
                {"label": "b", "values": [null, 3, 4]},
            ],
        });
        let both = view(&[(Some("a"), a), (Some("b"), b)]).unwrap();
        assert_eq!(serde_json::to_value(&both).unwrap(), expected);
        let expected = json!({"times": [5], "lines": [{"values": [0.5]}]});
        let one = view(&[(None, line(&[(5, 0.5)]))]).unwrap();
        assert_eq!(serde_json::to_value(&one).unwrap(), expected);
        let none = serde_json::to_value(view(&[]).unwrap()).unwrap();
        assert_eq!(none, json!({"times": [], "lines": []}));
    }

    #[test]
    fn lines_without_common_times_have_no_columns() {
        let lines: Vec<_> = (0..100).map(|i| (Some("x"), line(&[(i, 1.0)]))).collect();
        assert!(view(&lines).is_none());
        let same: Vec<_> = (0..100).map(|_| (Some("x"), line(&[(1, 1.0), (2, 1.0)]))).collect();
        assert!(view(&same).is_some());
        let long = line(&(0..1_000).map(|i| (i, 1.0)).collect::<Vec<_>>());
        let mut mostly_short = same;
        mostly_short.push((Some("long"), long));
        assert!(view(&mostly_short).is_none(), "a long line makes all others long");
    }
}
