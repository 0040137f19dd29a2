//! Evaluates a filter on one source: set algebra over its columns, and a binary search in its
//! times.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::super::{EventSource, RowSet};
use crate::error::Result;
use crate::model::{EventFilter, NameFilter, TimeRange};

/// The rows of a source that match a filter.
#[derive(Debug)]
pub(crate) struct Selected {
    /// The rows that match everything but the time range.
    pub(super) rows: RowSet,
    /// The rows in the time range.
    pub(super) span: Range<u32>,
}

/// Selects the matching rows of `source`. Reads as little as possible: nothing if the filter is
/// only a range that covers the whole source.
pub(crate) fn select(source: &dyn EventSource, filter: &EventFilter) -> Result<Selected> {
    let rows = matching(source, filter)?;
    if rows == RowSet::none() {
        return Ok(Selected { rows, span: 0..0 });
    }
    Ok(Selected { rows, span: span(source, filter.range)? })
}

fn matching(source: &dyn EventSource, filter: &EventFilter) -> Result<RowSet> {
    let mut rows = match &filter.user {
        Some(user) => source.with_user(user)?,
        None => RowSet::All,
    };
    for tag in &filter.tags {
        if rows == RowSet::none() {
            return Ok(rows);
        }
        rows = rows.and(source.with_tag(tag)?);
    }
    match (&filter.name, rows) {
        (NameFilter::Any, rows) => Ok(rows),
        (name, RowSet::All) => source.with_name(name),
        (_, rows) if rows == RowSet::none() => Ok(rows),
        // A prefix may match many names: for few rows it is faster to check each row.
        (name, rows) => source.named_among(name, rows),
    }
}

fn span(source: &dyn EventSource, range: TimeRange) -> Result<Range<u32>> {
    let (first, last) = source.time_bounds();
    if range.start.0 <= first && last < range.end.0 {
        return Ok(0..source.rows());
    }
    let times = source.times()?;
    let from = before(&times, range.start.0);
    Ok(from..before(&times, range.end.0).max(from))
}

/// Returns how many of the sorted `times` are before `time`.
pub(super) fn before(times: &[i64], time: i64) -> u32 {
    times.partition_point(|t| *t < time) as u32
}

impl Selected {
    /// Returns the number of matching rows.
    pub(super) fn len(&self) -> u64 {
        self.count(self.span.clone())
    }

    /// Returns the approximate bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        match &self.rows {
            RowSet::All => 0,
            RowSet::Some(rows) => rows.serialized_size(),
        }
    }

    /// Returns how many rows of `part` match. `part` must be within the span.
    pub(super) fn count(&self, part: Range<u32>) -> u64 {
        match &self.rows {
            // A part that ends before it starts is empty.
            RowSet::All => u64::from(part.end.saturating_sub(part.start)),
            RowSet::Some(rows) => rows.range_cardinality(part),
        }
    }

    /// Returns the first matching row of `part`.
    pub(super) fn first(&self, part: Range<u32>) -> Option<u32> {
        match &self.rows {
            _ if part.is_empty() => None,
            RowSet::All => Some(part.start),
            RowSet::Some(rows) => rows.range(part).next(),
        }
    }

    /// Returns the last `n` matching rows of `part`, ascending.
    pub(super) fn last(&self, part: Range<u32>, n: usize) -> Vec<u32> {
        match &self.rows {
            _ if part.is_empty() => Vec::new(),
            RowSet::All => {
                let n = u32::try_from(n).unwrap_or(u32::MAX);
                (part.end.saturating_sub(n).max(part.start)..part.end).collect()
            }
            RowSet::Some(rows) => {
                let mut last: Vec<u32> = rows.range(part).rev().take(n).collect();
                last.reverse();
                last
            }
        }
    }

    /// Calls `visit` with the matching rows of `part`, ascending.
    #[inline]
    pub(super) fn each(&self, part: Range<u32>, visit: impl FnMut(u32)) {
        match &self.rows {
            _ if part.is_empty() => {}
            RowSet::All => part.for_each(visit),
            RowSet::Some(rows) => rows.range(part).for_each(visit),
        }
    }

    /// Returns the matching rows within the span, for a source of `rows` rows.
    pub(crate) fn clipped(&self, rows: u32) -> RowSet {
        if self.span == (0..rows) {
            return self.rows.clone();
        }
        let mut span = RoaringBitmap::new();
        span.insert_range(self.span.clone());
        self.rows.clone().and(RowSet::Some(span))
    }
}

/// A range of rows in one bucket.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    /// The start of the bucket, in milliseconds.
    pub(super) start: i64,
    /// The rows; the first one matches.
    pub(super) rows: Range<u32>,
}

/// Returns the buckets of `width` milliseconds that contain a selected row; one bucket if `width`
/// is `None`.
pub(super) fn segments(
    source: &dyn EventSource,
    selected: &Selected,
    range: TimeRange,
    width: Option<i64>,
) -> Result<Vec<Segment>> {
    let whole = |start| vec![Segment { start, rows: selected.span.clone() }];
    let Some(width) = width else { return Ok(whole(0)) };
    let bucket_of = |time: i64| time - time.rem_euclid(width);
    let (first, last) = source.time_bounds();
    let (first, last) = (first.max(range.start.0), last.min(range.end.0.saturating_sub(1)));
    if bucket_of(first) == bucket_of(last) {
        return Ok(whole(bucket_of(first)));
    }
    let times: Arc<Vec<i64>> = source.times()?;
    let mut segments = Vec::new();
    let mut part = selected.span.clone();
    while let Some(row) = selected.first(part.clone()) {
        let start = bucket_of(times[row as usize]);
        let end = gallop(&times, row..part.end, start.saturating_add(width));
        segments.push(Segment { start, rows: row..end });
        part.start = end;
    }
    Ok(segments)
}

/// Returns the first row of `part` at or after `time`, by galloping search from the front: buckets
/// are often short. The first row of `part` must be before `time`.
fn gallop(times: &[i64], part: Range<u32>, time: i64) -> u32 {
    let mut step = 1_u32;
    let mut from = part.start;
    while let Some(next) = from.checked_add(step).filter(|next| *next < part.end)
        && times[next as usize] < time
    {
        from = next;
        step = step.saturating_mul(2);
    }
    let to = from.saturating_add(step).min(part.end);
    // Advances also in a bucket at the end of time, where no time is after it.
    (from + before(&times[from as usize..to as usize], time)).max(part.start + 1).min(part.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn galloping_finds_the_same_row_as_a_binary_search() {
        let times: Vec<i64> = (0..200).map(|i| i / 3 * 2).collect();
        for from in [0_u32, 1, 50, 199] {
            for time in times.get(from as usize).copied().unwrap_or(0) + 1..140 {
                let found = gallop(&times, from..200, time);
                assert_eq!(found, before(&times, time).min(200), "{from} {time}");
            }
        }
    }
}
