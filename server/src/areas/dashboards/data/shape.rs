//! Computes the values of one widget in the form of its type. Blocks while its queries run.

use std::cmp::Ordering;

use telltale_engine::{TimeRange, TimestampMs};

use super::heatmap::{self, Cell};
use crate::app::App;
use crate::areas::dashboards::definition::{Definition, WidgetType};
use crate::areas::dashboards::error::DashboardsError;
use crate::areas::dashboards::options::{Order, WidgetOptions};
use crate::areas::dashboards::plan::Column;
use crate::areas::metrics;
use crate::areas::saved_queries::{Buckets, Measure, QueryGroup, QueryPlan, run_query};
use crate::limits;
use crate::platform::telemetry::buckets::BucketWidth;

/// The values of a widget.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::dashboards) enum Data {
    /// A single number; `None` if there is no data.
    Number(Option<f64>),
    /// A single number and that of the previous period.
    Compared { value: Option<f64>, previous: Option<f64> },
    /// A single line.
    Series(Vec<Point>),
    /// A line for each group, by label.
    Groups(Vec<(String, Vec<Point>)>),
    /// Labelled numbers, in descending order.
    Items(Vec<Item>),
    /// Rows, each with all columns by name.
    Rows(Vec<Vec<(String, TableValue)>>),
    /// The cells of a heatmap that contain data.
    Cells(Vec<Cell>),
}

impl Data {
    /// Returns the approximate size in memory, in bytes, and again as much for the JSON
    /// written from it.
    pub(super) fn bytes(&self) -> usize {
        let string_bytes = |string: &String| size_of::<String>() + string.len();
        let heap: usize = match self {
            Self::Number(_) | Self::Compared { .. } => 0,
            Self::Series(points) => size_of_val(points.as_slice()),
            Self::Groups(groups) => groups
                .iter()
                .map(|(label, points)| string_bytes(label) + size_of_val(&points[..]))
                .sum(),
            Self::Items(items) => {
                items.iter().map(|item| size_of::<Item>() + item.label.len()).sum()
            }
            Self::Rows(rows) => {
                let cell = |(name, cell): &(String, TableValue)| {
                    let word = if let TableValue::String(word) = cell { word.len() } else { 0 };
                    string_bytes(name) + size_of::<TableValue>() + word
                };
                rows.iter().flatten().map(cell).sum()
            }
            Self::Cells(cells) => size_of_val(cells.as_slice()),
        };
        2 * (size_of::<Self>() + heap)
    }
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::areas::dashboards) struct Point {
    pub(in crate::areas::dashboards) start: TimestampMs,
    pub(in crate::areas::dashboards) value: f64,
}

/// A labelled number.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::dashboards) struct Item {
    pub(in crate::areas::dashboards) label: String,
    pub(in crate::areas::dashboards) value: f64,
}

/// A value in a table.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::dashboards) enum TableValue {
    /// A key or a label.
    String(String),
    /// A number; `None` if there is no data.
    Number(Option<f64>),
}

/// Computes the values of a widget over `range`.
pub(super) fn compute(
    app: &App,
    definition: &Definition,
    range: TimeRange,
) -> Result<Data, DashboardsError> {
    let (query, options) = (&definition.query, &definition.options);
    let kind = query.metric.as_deref().and_then(|name| metrics::kind_of(app, name));
    // Since the widget was validated, its metric may have been created, or recreated with another
    // type.
    let plan = QueryPlan::new(query, kind)?;
    match definition.r#type {
        WidgetType::Number => number(app, &plan, options, range),
        WidgetType::Graph => graph(app, &plan, range),
        WidgetType::Bar | WidgetType::Pie => {
            let found = run_query(app, &plan, range, Buckets::One, &[plan.measure])?;
            let (groups, _memory) = found.into_parts();
            Ok(Data::Items(items(groups, options.items_max())))
        }
        WidgetType::Table => table(app, &plan, options, range),
        WidgetType::Heatmap => {
            if BucketWidth::HOUR.buckets(range) > limits::QUERY_BUCKETS_MAX {
                let max = limits::QUERY_BUCKETS_MAX;
                let message = format!("the range must not have more than {max} hours");
                return Err(DashboardsError::Unanswerable(message));
            }
            let (measures, fold) = heatmap::columns(&plan);
            let groups = run_query(app, &plan, range, Buckets::Of(BucketWidth::HOUR), &measures)?;
            Ok(Data::Cells(heatmap::cells(groups.first(), fold, options.axes())))
        }
    }
}

fn number(
    app: &App,
    plan: &QueryPlan,
    options: &WidgetOptions,
    range: TimeRange,
) -> Result<Data, DashboardsError> {
    let whole = |range| -> Result<Option<f64>, DashboardsError> {
        let groups = run_query(app, plan, range, Buckets::One, &[plan.measure])?;
        Ok(groups.first().and_then(|group| group.whole(0)))
    };
    let value = whole(range)?;
    if options.comparison.is_none() {
        return Ok(Data::Number(value));
    }
    let before = TimestampMs(range.start.0.saturating_sub(range.len_ms()));
    let previous = whole(TimeRange { start: before, end: range.start })?;
    Ok(Data::Compared { value, previous })
}

fn graph(app: &App, plan: &QueryPlan, range: TimeRange) -> Result<Data, DashboardsError> {
    let width = plan.width(range)?;
    let groups = run_query(app, plan, range, Buckets::Of(width), &[plan.measure])?;
    let points: usize = groups.iter().map(|group| group.starts.len()).sum();
    let max = limits::WIDGET_POINTS_MAX;
    if points > max {
        let message = format!("the graph has {points} points over all groups; the limit is {max}");
        return Err(DashboardsError::Unanswerable(message));
    }
    if plan.group_names.is_empty() {
        return Ok(Data::Series(groups.first().map(line).unwrap_or_default()));
    }
    Ok(Data::Groups(groups.iter().map(|group| (group.label.clone(), line(group))).collect()))
}

/// Returns the buckets of a group that have a value.
fn line(group: &QueryGroup) -> Vec<Point> {
    let points = group.starts.iter().zip(group.column(0));
    points.filter_map(|(start, value)| Some(Point { start: *start, value: (*value)? })).collect()
}

/// Returns the groups that have a value, in descending order of value, then by label.
fn items(groups: Vec<QueryGroup>, max: usize) -> Vec<Item> {
    let item = |group: QueryGroup| group.whole(0).map(|value| Item { label: group.label, value });
    let mut items: Vec<Item> = groups.into_iter().filter_map(item).collect();
    items.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.label.cmp(&b.label)));
    items.truncate(max);
    items
}

fn table(
    app: &App,
    plan: &QueryPlan,
    options: &WidgetOptions,
    range: TimeRange,
) -> Result<Data, DashboardsError> {
    let columns = plan.columns(options)?;
    let order = plan.order(options)?;
    let direction = options.sort.as_ref().map_or(Order::Desc, |sort| sort.order);
    let mut measures: Vec<Measure> = Vec::new();
    for column in columns.iter().map(|(_, column)| column).chain([&order]) {
        if let Column::Measure(measure) = column
            && !measures.contains(measure)
        {
            measures.push(*measure);
        }
    }
    if measures.is_empty() {
        measures.push(plan.measure);
    }
    let found = run_query(app, plan, range, Buckets::One, &measures)?;
    let (mut groups, _memory) = found.into_parts();
    groups.sort_by(|a, b| {
        let (a_value, b_value) =
            (table_value(a, order, &measures), table_value(b, order, &measures));
        compare(&a_value, &b_value, direction).then_with(|| a.keys.cmp(&b.keys))
    });
    groups.truncate(options.items_max());
    let row = |group: &QueryGroup| {
        let named = |(name, column): &(String, Column)| {
            (name.clone(), table_value(group, *column, &measures))
        };
        columns.iter().map(named).collect()
    };
    Ok(Data::Rows(groups.iter().map(row).collect()))
}

/// Returns the value of a group in a column.
fn table_value(group: &QueryGroup, column: Column, measures: &[Measure]) -> TableValue {
    match column {
        Column::Key(i) => match group.keys.get(i) {
            Some(key) => TableValue::String(key.clone()),
            None => unreachable!("key {i} is not one of the plan's: {:?}", group.keys),
        },
        Column::Label => TableValue::String(group.label.clone()),
        Column::Measure(measure) => {
            let Some(column) = measures.iter().position(|queried| *queried == measure) else {
                unreachable!("the measure of every column is queried, but {measure:?} is not")
            };
            TableValue::Number(group.whole(column))
        }
    }
}

/// Compares two values of one column. Missing numbers sort last in either direction.
fn compare(a: &TableValue, b: &TableValue, direction: Order) -> Ordering {
    let ascending = match (a, b) {
        (TableValue::Number(Some(a)), TableValue::Number(Some(b))) => a.total_cmp(b),
        (TableValue::Number(a), TableValue::Number(b)) => return b.is_some().cmp(&a.is_some()),
        (TableValue::String(a), TableValue::String(b)) => a.cmp(b),
        _ => unreachable!("values of one column have one type, but these are {a:?} and {b:?}"),
    };
    match direction {
        Order::Asc => ascending,
        Order::Desc => ascending.reverse(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(label: &str, value: Option<f64>) -> QueryGroup {
        QueryGroup {
            keys: vec![label.to_owned()],
            label: label.to_owned(),
            starts: vec![TimestampMs(0)],
            columns: vec![vec![value]],
        }
    }

    #[test]
    fn items_are_in_descending_order_and_limited() {
        let groups = [("c", Some(2.0)), ("a", Some(-1.0)), ("b", Some(2.0)), ("d", None)];
        let groups: Vec<QueryGroup> = groups.iter().map(|(l, v)| group(l, *v)).collect();
        let labels = |max| -> Vec<String> {
            items(groups.clone(), max).into_iter().map(|item| item.label).collect()
        };
        assert_eq!(labels(10), ["b", "c", "a"]);
        assert_eq!(labels(2), ["b", "c"]);
        assert_eq!(items(Vec::new(), 10), []);
    }

    #[test]
    fn rows_without_a_number_sort_last_in_both_directions() {
        let (one, two, none) = (
            TableValue::Number(Some(1.0)),
            TableValue::Number(Some(2.0)),
            TableValue::Number(None),
        );
        for (direction, smaller) in [(Order::Asc, Ordering::Less), (Order::Desc, Ordering::Greater)]
        {
            assert_eq!(compare(&one, &two, direction), smaller);
            assert_eq!(compare(&one, &none, direction), Ordering::Less);
            assert_eq!(compare(&none, &one, direction), Ordering::Greater);
            assert_eq!(compare(&none, &none, direction), Ordering::Equal);
        }
        let (a, b) = (TableValue::String("a".to_owned()), TableValue::String("b".to_owned()));
        assert_eq!(compare(&a, &b, Order::Desc), Ordering::Greater);
    }

    #[test]
    fn the_size_of_values_includes_strings_and_as_much_for_the_json() {
        let point = Point { start: TimestampMs(0), value: 1.0 };
        let cell = Cell { x: 1, y: 1, value: 1.0 };
        let item = Item { label: "item".to_owned(), value: 1.0 };
        let row = vec![
            ("name".to_owned(), TableValue::String("cell".to_owned())),
            ("n".to_owned(), TableValue::Number(None)),
        ];
        let (string, table_value) = (size_of::<String>(), size_of::<TableValue>());
        for (data, heap) in [
            (Data::Number(Some(1.0)), 0),
            (Data::Compared { value: None, previous: None }, 0),
            (Data::Series(vec![point; 3]), 3 * size_of::<Point>()),
            (
                Data::Groups(vec![("a".to_owned(), vec![point; 2]), ("bc".to_owned(), vec![])]),
                2 * string + 3 + 2 * size_of::<Point>(),
            ),
            (Data::Items(vec![item; 2]), 2 * (size_of::<Item>() + 4)),
            (Data::Rows(vec![row; 2]), 2 * (2 * (string + table_value) + 4 + 4 + 1)),
            (Data::Cells(vec![cell; 5]), 5 * size_of::<Cell>()),
        ] {
            assert_eq!(data.bytes(), 2 * (size_of::<Data>() + heap), "{data:?}");
        }
    }

    #[test]
    fn a_line_contains_only_buckets_with_a_value() {
        let mut group = group("a", Some(1.0));
        group.starts = [0, 1, 2].map(TimestampMs).to_vec();
        group.columns = vec![vec![Some(1.0), None, Some(3.0)]];
        let points: Vec<(i64, f64)> = line(&group).iter().map(|p| (p.start.0, p.value)).collect();
        assert_eq!(points, [(0, 1.0), (2, 3.0)]);
    }
}
