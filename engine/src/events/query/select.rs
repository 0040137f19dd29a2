//! From a filter to rows of one source: set algebra over what the source knows, and a binary search in its times.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::super::{Rows, Source};
use crate::error::Result;
use crate::model::{EventFilter, NameFilter, TimeRange};

/// The rows of a source that match a filter.
#[derive(Debug)]
pub(crate) struct Selected {
    /// The rows that match all but the range of time.
    pub(super) rows: Rows,
    /// The rows in the range of time.
    pub(super) span: Range<u32>,
}

/// Selects the rows of `source` that match. Reads no more than it must: nothing where only a range is asked for that holds the whole source.
pub(crate) fn select(source: &dyn Source, filter: &EventFilter) -> Result<Selected> {
    let rows = matching(source, filter)?;
    if rows == Rows::none() {
        return Ok(Selected { rows, span: 0..0 });
    }
    Ok(Selected { rows, span: span(source, filter.range)? })
}

fn matching(source: &dyn Source, filter: &EventFilter) -> Result<Rows> {
    let mut rows = match &filter.user {
        Some(user) => source.with_user(user)?,
        None => Rows::All,
    };
    for tag in &filter.tags {
        if rows == Rows::none() {
            return Ok(rows);
        }
        rows = rows.and(source.with_tag(tag)?);
    }
    match (&filter.name, rows) {
        (NameFilter::Any, rows) => Ok(rows),
        (name, Rows::All) => source.with_name(name),
        (_, rows) if rows == Rows::none() => Ok(rows),
        // A prefix may stand for many names: few rows are quicker looked at one by one.
        (name, rows) => source.named_among(name, rows),
    }
}

fn span(source: &dyn Source, range: TimeRange) -> Result<Range<u32>> {
    let (first, last) = source.time_bounds();
    if range.start.0 <= first && last < range.end.0 {
        return Ok(0..source.rows());
    }
    let times = source.times()?;
    let from = before(&times, range.start.0);
    Ok(from..before(&times, range.end.0).max(from))
}

/// How many times lie before `time`.
pub(super) fn before(times: &[i64], time: i64) -> u32 {
    times.partition_point(|t| *t < time) as u32
}

impl Selected {
    /// How many rows match.
    pub(super) fn len(&self) -> u64 {
        self.count(self.span.clone())
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        match &self.rows {
            Rows::All => 0,
            Rows::Some(rows) => rows.serialized_size(),
        }
    }

    /// How many of the rows of `part` match, which lies in the span.
    pub(super) fn count(&self, part: Range<u32>) -> u64 {
        match &self.rows {
            Rows::All => u64::from(part.end.saturating_sub(part.start)),
            Rows::Some(rows) => rows.range_cardinality(part),
        }
    }

    /// The first matching row of `part`.
    pub(super) fn first(&self, part: Range<u32>) -> Option<u32> {
        match &self.rows {
            _ if part.is_empty() => None,
            Rows::All => Some(part.start),
            Rows::Some(rows) => rows.range(part).next(),
        }
    }

    /// The last `n` matching rows of `part`, ascending.
    pub(super) fn last(&self, part: Range<u32>, n: usize) -> Vec<u32> {
        match &self.rows {
            _ if part.is_empty() => Vec::new(),
            Rows::All => {
                let n = u32::try_from(n).unwrap_or(u32::MAX);
                (part.end.saturating_sub(n).max(part.start)..part.end).collect()
            }
            Rows::Some(rows) => {
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
            Rows::All => part.for_each(visit),
            Rows::Some(rows) => rows.range(part).for_each(visit),
        }
    }

    /// The matching rows in the span.
    pub(crate) fn clipped(&self, rows: u32) -> Rows {
        if self.span == (0..rows) {
            return self.rows.clone();
        }
        let mut span = RoaringBitmap::new();
        span.insert_range(self.span.clone());
        self.rows.clone().and(Rows::Some(span))
    }
}

/// A stretch of rows that fall into one bucket.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    /// The start of the bucket, milliseconds.
    pub(super) start: i64,
    /// The rows; the first one matches.
    pub(super) rows: Range<u32>,
}

/// The buckets of `width` milliseconds that hold any selected row.
pub(super) fn segments(
    source: &dyn Source,
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
        let Some(time) = times.get(row as usize) else { break };
        let start = bucket_of(*time);
        let end = gallop(&times, row..part.end, start.saturating_add(width));
        segments.push(Segment { start, rows: row..end });
        part.start = end;
    }
    Ok(segments)
}

/// The first row of `part` at or after `time`, searched from the front: buckets are often short. The front lies before `time`.
fn gallop(times: &[i64], part: Range<u32>, time: i64) -> u32 {
    let mut step = 1_u32;
    let mut from = part.start;
    while let Some(next) = from.checked_add(step).filter(|next| *next < part.end)
        && times.get(next as usize).is_some_and(|t| *t < time)
    {
        from = next;
        step = step.saturating_mul(2);
    }
    let to = from.saturating_add(step).min(part.end);
    let rest = times.get(from as usize..to as usize).unwrap_or_default();
    // Always forward, also in a source whose times are not in order.
    (from + before(rest, time)).max(part.start + 1).min(part.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn galloping_is_searching() {
        let times: Vec<i64> = (0..200).map(|i| i / 3 * 2).collect();
        for from in [0_u32, 1, 50, 199] {
            for time in times.get(from as usize).copied().unwrap_or(0) + 1..140 {
                let found = gallop(&times, from..200, time);
                assert_eq!(found, before(&times, time).min(200), "{from} {time}");
            }
        }
    }
}
