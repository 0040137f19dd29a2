//! Renders a query result as text: one row per bucket, or one sparkline per group with its
//! smallest, largest and last value.

use super::response::{QueryResponse, ResponseGroup};
use super::sparkline;
use crate::cli::args::Show;
use crate::cli::table::{Align, Table};

/// Characters of a sparkline: fits on a terminal of 120 columns together with its numbers.
const BARS_MAX: usize = 72;

/// Renders the result in the requested format.
pub(super) fn render(response: &QueryResponse, group_by: &[String], show: &Show) -> String {
    if response.groups.iter().all(|group| group.points.is_empty()) {
        return "no data in this range\n".to_owned();
    }
    if show.sparkline { bars(response, group_by) } else { rows(response, group_by) }
}

fn rows(response: &QueryResponse, group_by: &[String]) -> String {
    let mut headers = group_header(group_by);
    headers.push(("timestamp".to_owned(), Align::Left));
    headers.extend(response.columns.iter().map(|name| (name.clone(), Align::Right)));
    let mut table = Table::new(headers);
    for group in &response.groups {
        for point in &group.points {
            let mut cells = group_cell(group, group_by);
            cells.push(point.timestamp.clone());
            cells.extend(point.values.iter().map(|value| number(*value)));
            table.row(cells);
        }
    }
    table.render()
}

fn bars(response: &QueryResponse, group_by: &[String]) -> String {
    let mut headers = group_header(group_by);
    let several = response.columns.len() > 1;
    if several {
        headers.push(("aggregation".to_owned(), Align::Left));
    }
    headers.push((span(response), Align::Left));
    headers.extend(["min", "max", "last"].map(|name| (name.to_owned(), Align::Right)));
    let mut table = Table::new(headers);
    for group in &response.groups {
        for (i, name) in response.columns.iter().enumerate() {
            let values: Vec<Option<f64>> =
                group.points.iter().map(|point| point.values.get(i).copied().flatten()).collect();
            let mut cells = group_cell(group, group_by);
            if several {
                cells.push(name.clone());
            }
            let extent = sparkline::extent(&values);
            cells.push(sparkline::draw(&values, BARS_MAX));
            cells.push(number(extent.map(|(low, _)| low)));
            cells.push(number(extent.map(|(_, high)| high)));
            cells.push(number(values.iter().rev().find_map(|value| *value)));
            table.row(cells);
        }
    }
    table.render()
}

fn group_header(group_by: &[String]) -> Vec<(String, Align)> {
    if group_by.is_empty() { Vec::new() } else { vec![(group_by.join(","), Align::Left)] }
}

fn group_cell(group: &ResponseGroup, group_by: &[String]) -> Vec<String> {
    match group_by {
        [] => Vec::new(),
        _ if group.key.is_empty() => vec!["(none)".to_owned()],
        _ => vec![group.key.clone()],
    }
}

/// Returns the first and the last bucket, which the bars span.
fn span(response: &QueryResponse) -> String {
    let times =
        || response.groups.iter().flat_map(|group| &group.points).map(|p| p.timestamp.as_str());
    format!("{} to {}", times().min().unwrap_or(""), times().max().unwrap_or(""))
}

/// Formats a number: integers in full, others with six significant digits; `--json` has all of
/// them.
fn number(value: Option<f64>) -> String {
    let Some(value) = value else { return "-".to_owned() };
    let rounded: f64 = match value.fract() {
        0.0 => value,
        _ => format!("{value:.5e}").parse().unwrap_or(value),
    };
    if rounded != 0.0 && !(1e-6..1e15).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str, aggregations: &[&str], group_by: &[&str], sparkline: bool) -> String {
        let response = QueryResponse::read(body, aggregations);
        let response = response.unwrap_or_else(|| panic!("{body} is a response"));
        let group_by: Vec<String> = group_by.iter().map(|key| (*key).to_owned()).collect();
        render(&response, &group_by, &Show { sparkline, table: !sparkline, json: false })
    }

    const ONE: &str = r#"{"data": {"name": "cpu", "aggregation": "avg", "interval": "1m", "series": [
        {"timestamp": "2026-01-02T03:04:00.000Z", "value": 0.1234567},
        {"timestamp": "2026-01-02T03:05:00.000Z", "value": null},
        {"timestamp": "2026-01-02T03:06:00.000Z", "value": 12}]}}"#;

    #[test]
    fn one_aggregation_is_a_table_of_times_and_values() {
        assert_eq!(
            shown(ONE, &[], &[], false),
            "timestamp                      avg\n\
             2026-01-02T03:04:00.000Z  0.123457\n\
             2026-01-02T03:05:00.000Z         -\n\
             2026-01-02T03:06:00.000Z        12\n"
        );
    }

    #[test]
    fn sparklines_have_their_smallest_largest_and_last_value() {
        assert_eq!(
            shown(ONE, &["avg"], &[], true),
            "2026-01-02T03:04:00.000Z to 2026-01-02T03:06:00.000Z       min  max  last\n\
             ▁ █                                                   0.123457   12    12\n"
        );
    }

    #[test]
    fn groups_and_several_aggregations_have_columns() {
        let body = r#"{"data": {"groups": {
            "a": [{"timestamp": "2026-01-02T03:04:00.000Z", "min": 1, "max": 2e20}],
            "": [{"timestamp": "2026-01-02T03:04:00.000Z", "min": 3, "max": 4}]}}}"#;
        assert_eq!(
            shown(body, &["min", "max"], &["host"], false),
            "host    timestamp                 min   max\n\
             (none)  2026-01-02T03:04:00.000Z    3     4\n\
             a       2026-01-02T03:04:00.000Z    1  2e20\n"
        );
    }

    #[test]
    fn an_empty_result_is_reported() {
        let body =
            r#"{"data": {"name": "cpu", "aggregation": "avg", "interval": "1m", "series": []}}"#;
        assert_eq!(shown(body, &[], &[], true), "no data in this range\n");
    }
}
