//! The points of a group as a list of objects.

use telltale_engine::{Aggregation, Group, QueryResult, TimestampMs};

use super::super::model::{Fill, ParsedQuery};
use super::bucket_starts::BucketStarts;
use crate::platform::{json, time};

/// The form of the point lists, common to all groups of a response.
#[derive(Debug)]
pub(super) struct PointListWriter<'r> {
    /// The bytes before each number: `,"value":` or `,"avg":`, …
    labels: Vec<Vec<u8>>,
    fill: Fill,
    buckets: BucketStarts<'r>,
}

impl<'r> PointListWriter<'r> {
    pub(super) fn new(parsed: &ParsedQuery, result: &'r QueryResult) -> Self {
        let names: Vec<&str> = match parsed.query.aggregations.as_slice() {
            [_] => vec!["value"],
            several => several.iter().copied().map(Aggregation::as_str).collect(),
        };
        let labels = names.iter().map(|name| format!(",\"{name}\":").into_bytes()).collect();
        Self { labels, fill: parsed.fill, buckets: BucketStarts::new(parsed, result) }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>, group: Option<&Group>) {
        out.push(b'[');
        let list_start = out.len();
        let starts = group.map_or(&[] as &[TimestampMs], |group| &group.starts);
        let columns = group.map_or(&[] as &[Vec<f64>], |group| &group.columns);
        let number =
            |column: usize, row: usize| columns.get(column).and_then(|c| c.get(row)).copied();
        if self.fill == Fill::None {
            for (row, &start) in starts.iter().enumerate() {
                self.write_point(out, list_start, start, |column| number(column, row));
            }
        } else {
            let mut rows = starts.iter().enumerate().peekable();
            let mut previous = None;
            for start in self.buckets.iter() {
                let row = rows.next_if(|(_, at)| **at == start).map(|(row, _)| row);
                self.write_point(out, list_start, start, |column| match (row, self.fill) {
                    (Some(row), _) => number(column, row),
                    (None, Fill::Zero) => Some(0.0),
                    (None, Fill::Previous) => previous.and_then(|row| number(column, row)),
                    (None, Fill::None | Fill::Null) => None,
                });
                previous = row.or(previous);
            }
        }
        out.push(b']');
    }

    /// Writes a point. `number_of` returns its numbers by column; `list_start` is the position at
    /// which the list starts.
    fn write_point(
        &self,
        out: &mut Vec<u8>,
        list_start: usize,
        start: TimestampMs,
        number_of: impl Fn(usize) -> Option<f64>,
    ) {
        if out.len() > list_start {
            out.push(b',');
        }
        out.extend_from_slice(br#"{"timestamp":""#);
        time::write(out, start);
        out.push(b'"');
        for (column, label) in self.labels.iter().enumerate() {
            out.extend_from_slice(label);
            match number_of(column) {
                Some(number) => json::number(out, number),
                None => out.extend_from_slice(b"null"),
            }
        }
        out.push(b'}');
    }
}
