//! Heatmaps: hours of the day against days of the week, computed from one-hour buckets in UTC.
//!
//! A cell combines all hours of the range that have its coordinates:
//!
//! | aggregation | value of the cell |
//! |---|---|
//! | sum, and the count of values or events | the sum |
//! | min, max | the minimum, the maximum |
//! | last | the value of the latest hour |
//! | avg of a distribution or of events | the sum of all values divided by their count |
//! | avg of a gauge, rate, percentiles, distinct counts | the mean of the hours that contain data |

use std::collections::BTreeMap;

use telltale_engine::{Aggregation, EventAggregation, MetricType, TimestampMs};

use crate::areas::dashboards::options::Axis;
use crate::areas::saved_queries::{Measure, QueryGroup, QueryPlan, QuerySource};

/// A cell of a heatmap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::areas::dashboards) struct Cell {
    pub(in crate::areas::dashboards) x: u32,
    pub(in crate::areas::dashboards) y: u32,
    pub(in crate::areas::dashboards) value: f64,
}

const HOUR_MS: i64 = 3_600_000;

/// How the hours of a cell are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    Sum,
    Min,
    Max,
    Last,
    Mean,
    /// The sum of the first column divided by the sum of the second.
    Ratio,
}

/// Returns the measures to query for every hour, and how to combine them into cells.
pub(super) fn columns(plan: &QueryPlan) -> (Vec<Measure>, Fold) {
    let kind = match plan.source {
        QuerySource::Metric { kind, .. } => kind,
        QuerySource::Event { .. } => None,
    };
    let fold = match (plan.measure, kind) {
        (Measure::Metric(Aggregation::Avg), Some(MetricType::Distribution)) => {
            let parts = [Aggregation::Sum, Aggregation::Count].map(Measure::Metric);
            return (parts.to_vec(), Fold::Ratio);
        }
        (Measure::Event(EventAggregation::Avg), _) => {
            let parts = [EventAggregation::Sum, EventAggregation::Numbers].map(Measure::Event);
            return (parts.to_vec(), Fold::Ratio);
        }
        (Measure::Metric(Aggregation::Count), Some(MetricType::Set)) => Fold::Mean,
        (Measure::Metric(Aggregation::Sum | Aggregation::Count), _)
        | (Measure::Event(EventAggregation::Sum | EventAggregation::Count), _) => Fold::Sum,
        (Measure::Metric(Aggregation::Min), _) | (Measure::Event(EventAggregation::Min), _) => {
            Fold::Min
        }
        (Measure::Metric(Aggregation::Max), _) | (Measure::Event(EventAggregation::Max), _) => {
            Fold::Max
        }
        (Measure::Metric(Aggregation::Last), _) => Fold::Last,
        _ => Fold::Mean,
    };
    (vec![plan.measure], fold)
}

/// Returns the cells that contain data, in row order.
pub(super) fn cells(group: Option<&QueryGroup>, fold: Fold, (x, y): (Axis, Axis)) -> Vec<Cell> {
    let mut sums: BTreeMap<(u32, u32), CellAccumulator> = BTreeMap::new();
    let Some(group) = group else { return Vec::new() };
    for (row, start) in group.starts.iter().enumerate() {
        let number = |column: usize| group.column(column).get(row).copied().flatten();
        let Some(first) = number(0) else { continue };
        // Without a count, the hour has no values to weigh.
        let weight = if fold == Fold::Ratio { number(1).unwrap_or(0.0) } else { 0.0 };
        let coordinates = (coordinate(y, *start), coordinate(x, *start));
        sums.entry(coordinates).or_default().add(first, weight);
    }
    let cell = |((y, x), accumulator): ((u32, u32), CellAccumulator)| {
        Some(Cell { x, y, value: accumulator.value(fold)? })
    };
    sums.into_iter().filter_map(cell).collect()
}

/// The combined hours of a cell, sufficient for every [`Fold`].
#[derive(Clone, Copy, Debug)]
struct CellAccumulator {
    hours: u32,
    sum: f64,
    weight: f64,
    min: f64,
    max: f64,
    last: f64,
}

impl Default for CellAccumulator {
    fn default() -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { hours: 0, sum: 0.0, weight: 0.0, min, max, last: 0.0 }
    }
}

impl CellAccumulator {
    /// Adds an hour; hours must be added in time order.
    fn add(&mut self, value: f64, weight: f64) {
        self.hours += 1;
        self.sum += value;
        self.weight += weight;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.last = value;
    }

    fn value(self, fold: Fold) -> Option<f64> {
        match fold {
            Fold::Sum => Some(self.sum),
            Fold::Min => Some(self.min),
            Fold::Max => Some(self.max),
            Fold::Last => Some(self.last),
            Fold::Mean => Some(self.sum / f64::from(self.hours)),
            Fold::Ratio => (self.weight > 0.0).then(|| self.sum / self.weight),
        }
    }
}

/// Returns the coordinate of an hour on an axis.
fn coordinate(axis: Axis, start: TimestampMs) -> u32 {
    let hours = start.0.div_euclid(HOUR_MS);
    let index = match axis {
        Axis::HourOfDay => hours.rem_euclid(24),
        // 1970-01-01 was a Thursday, the fourth day of the week.
        Axis::DayOfWeek => (hours.div_euclid(24) + 3).rem_euclid(7) + 1,
    };
    match u32::try_from(index) {
        Ok(index) => index,
        Err(error) => unreachable!("an hour is 0 to 23, a day 1 to 7: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::time;

    fn group(hours: &[(&str, f64, f64)]) -> QueryGroup {
        QueryGroup {
            keys: Vec::new(),
            label: String::new(),
            starts: hours.iter().map(|(start, ..)| time::parse(start).unwrap()).collect(),
            columns: vec![
                hours.iter().map(|(_, value, _)| Some(*value)).collect(),
                hours.iter().map(|(.., weight)| Some(*weight)).collect(),
            ],
        }
    }

    #[test]
    fn coordinates_are_the_hour_and_the_weekday_in_utc() {
        for (start, hour, day) in [
            ("1970-01-01T00:00Z", 0, 4),
            ("2024-03-03T23:00Z", 23, 7),
            ("2024-03-04T00:00Z", 0, 1),
            ("2024-02-29T12:00Z", 12, 4),
        ] {
            let start = time::parse(start).unwrap();
            assert_eq!(coordinate(Axis::HourOfDay, start), hour, "{start:?}");
            assert_eq!(coordinate(Axis::DayOfWeek, start), day, "{start:?}");
        }
    }

    #[test]
    fn each_fold_combines_the_hours_of_a_cell() {
        let group = group(&[
            ("2024-03-04T05:00Z", 6.0, 1.0),
            ("2024-03-05T05:00Z", 9.0, 9.0),
            ("2024-03-11T05:00Z", 2.0, 3.0),
        ]);
        let axes = (Axis::HourOfDay, Axis::DayOfWeek);
        for (fold, monday) in [
            (Fold::Sum, 8.0),
            (Fold::Min, 2.0),
            (Fold::Max, 6.0),
            (Fold::Last, 2.0),
            (Fold::Mean, 4.0),
            (Fold::Ratio, 2.0),
        ] {
            let cells = cells(Some(&group), fold, axes);
            let tuesday = if fold == Fold::Ratio { 1.0 } else { 9.0 };
            let expected =
                [Cell { x: 5, y: 1, value: monday }, Cell { x: 5, y: 2, value: tuesday }];
            assert_eq!(cells, expected, "{fold:?}");
        }
        let turned = cells(Some(&group), Fold::Sum, (Axis::DayOfWeek, Axis::HourOfDay));
        assert_eq!(turned.first(), Some(&Cell { x: 1, y: 5, value: 8.0 }));
        assert_eq!(cells(None, Fold::Sum, axes), []);
    }
}
