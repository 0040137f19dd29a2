//! An answer as text: one row per bucket, or one line of bars per group with its smallest, largest and last value.

use super::answer::{AnswerGroup, QueryAnswer};
use super::sparkline;
use crate::cli::args::Show;
use crate::cli::table::{Align, Table};

/// Bars of one sparkline: fits beside its numbers on a terminal of 120 columns.
const BARS_MAX: usize = 72;

/// Renders the answer as asked.
pub(super) fn render(answer: &QueryAnswer, group_by: &[String], show: &Show) -> String {
    if answer.groups.iter().all(|group| group.points.is_empty()) {
        return "nothing was recorded in this range\n".to_owned();
    }
    if show.sparkline { bars(answer, group_by) } else { rows(answer, group_by) }
}

fn rows(answer: &QueryAnswer, group_by: &[String]) -> String {
    let mut headers = group_header(group_by);
    headers.push(("timestamp".to_owned(), Align::Left));
    headers.extend(answer.columns.iter().map(|name| (name.clone(), Align::Right)));
    let mut table = Table::new(headers);
    for group in &answer.groups {
        for point in &group.points {
            let mut cells = group_cell(group, group_by);
            cells.push(point.timestamp.clone());
            cells.extend(point.values.iter().map(|value| number(*value)));
            table.row(cells);
        }
    }
    table.render()
}

fn bars(answer: &QueryAnswer, group_by: &[String]) -> String {
    let mut headers = group_header(group_by);
    let several = answer.columns.len() > 1;
    if several {
        headers.push(("aggregation".to_owned(), Align::Left));
    }
    headers.push((span(answer), Align::Left));
    headers.extend(["min", "max", "last"].map(|name| (name.to_owned(), Align::Right)));
    let mut table = Table::new(headers);
    for group in &answer.groups {
        for (i, name) in answer.columns.iter().enumerate() {
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

fn group_cell(group: &AnswerGroup, group_by: &[String]) -> Vec<String> {
    match group_by {
        [] => Vec::new(),
        _ if group.key.is_empty() => vec!["(none)".to_owned()],
        _ => vec![group.key.clone()],
    }
}

/// The first and the last bucket: what the bars span.
fn span(answer: &QueryAnswer) -> String {
    let times =
        || answer.groups.iter().flat_map(|group| &group.points).map(|p| p.timestamp.as_str());
    format!("{} to {}", times().min().unwrap_or(""), times().max().unwrap_or(""))
}

/// Whole numbers as they are, others with six significant digits, which is what an eye compares; `--json` has
/// all of them.
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

    fn shown(body: &str, asked: &[&str], group_by: &[&str], sparkline: bool) -> String {
        let answer = QueryAnswer::read(body, asked);
        let answer = answer.unwrap_or_else(|| panic!("{body} is an answer"));
        let group_by: Vec<String> = group_by.iter().map(|key| (*key).to_owned()).collect();
        render(&answer, &group_by, &Show { sparkline, table: !sparkline, json: false })
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
    fn bars_come_with_their_smallest_largest_and_last_value() {
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
    fn an_empty_answer_says_so() {
        let body =
            r#"{"data": {"name": "cpu", "aggregation": "avg", "interval": "1m", "series": []}}"#;
        assert_eq!(shown(body, &[], &[], true), "nothing was recorded in this range\n");
    }
}
