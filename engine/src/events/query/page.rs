//! Locates a page: which rows of which sources it consists of, without reading the rows before it.
//!
//! The page starts at some rank among all matches, newest first. The match counts and time bounds
//! of the sources bound the time of the row with that rank, and so determine which sources must be
//! opened:
//!
//! ```text
//!  newest                                                          oldest
//!  ├─ A: 900 ─┤
//!               ├──── B: 500 ────┤
//!                         ├───── C: 800 ─────┤
//!                                               ├── D: 700 ──┤
//! ```
//!
//! For 100 rows from rank 1 000, all rows of A come before the page and all rows of D after it;
//! only B and C are opened. In those, a binary search finds the time of the first row: the number
//! of matches newer than a time is a rank in a set. From there the sources are merged by time and
//! id, in steps of bounded length. Memory therefore depends on the length of the page and the
//! number of sources it overlaps, not on its offset.

use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::super::EventSource;
use super::query_context::{RunningQuery, run_tasks};
use super::select::{Selected, before, select};
use crate::error::{Error, Result};
use crate::model::{EventId, EventListQuery, TimestampMs};
use crate::query_in_progress::TransientMemory;

/// Maximum number of ids of a source read at once: the length of the longest page.
const STEP_ROWS_MAX: usize = 1_000;

/// A source that contains matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceMatches {
    pub(super) index: usize,
    /// Number of matching rows.
    pub(super) matched: u64,
    /// Lower bound for the time of the oldest match, in milliseconds.
    pub(super) first: i64,
    /// Upper bound for the time of the newest match, in milliseconds.
    pub(super) last: i64,
}

/// The error of a source.
#[derive(Debug)]
pub(super) struct SourceError {
    pub(super) source: usize,
    pub(super) error: Error,
}

/// The selected rows and the times of a source that may contain rows of the page.
struct Candidate<'c> {
    index: usize,
    selected: Selected,
    times: Arc<Vec<i64>>,
    /// Exclusive end of the rows still to be considered: later rows are newer than the page, or not
    /// after the cursor.
    end: u32,
    /// Query memory taken for the fields above.
    _memory: TransientMemory<'c>,
}

/// Returns the rows of the page, newest first, as index of the source and position.
pub(super) fn rows(
    running: &RunningQuery<'_, '_>,
    query: &EventListQuery,
    counted: &[SourceMatches],
) -> Result<Vec<(usize, u32)>, SourceError> {
    let available = after_cursor(running, query, counted)?;
    let Some((above, needed)) = needed(&available, query) else { return Ok(Vec::new()) };
    let mut candidates = open_candidates(running, query, &needed)?;
    let mut skip = query.offset - above;
    if skip > 0 {
        // The bounds of no source do not matter: there are no rows to be dropped.
        let first = needed.iter().map(|source| source.first).min().unwrap_or_default();
        let last = needed.iter().map(|source| source.last).max().unwrap_or_default();
        skip -= drop_newer(&mut candidates, skip, first, last);
    }
    merge(running, candidates, skip, query.limit)
}

/// Returns the matches after the cursor of the query, by source.
fn after_cursor(
    running: &RunningQuery<'_, '_>,
    query: &EventListQuery,
    counted: &[SourceMatches],
) -> Result<Vec<SourceMatches>, SourceError> {
    let Some((TimestampMs(time), _)) = query.after else { return Ok(counted.to_vec()) };
    let (cut, rest): (Vec<SourceMatches>, Vec<SourceMatches>) =
        counted.iter().filter(|s| s.first <= time).partition(|s| s.last >= time);
    let mut available = rest;
    for source in open_candidates(running, query, &cut)? {
        let whole = cut.iter().find(|cut| cut.index == source.index);
        let whole =
            whole.unwrap_or_else(|| panic!("a candidate is opened for each of these sources"));
        let matched = source.selected.count(source.rest());
        if matched > 0 {
            available.push(SourceMatches { matched, last: time, ..*whole });
        }
    }
    Ok(available)
}

/// Returns the number of rows before the page in sources that need not be opened, and the sources
/// that the page may overlap. Returns `None` if the page is beyond the last match.
fn needed(
    available: &[SourceMatches],
    query: &EventListQuery,
) -> Option<(u64, Vec<SourceMatches>)> {
    if query.limit == 0 {
        return None;
    }
    let mut sources = available.to_vec();
    // The newest time that the first row of the page can have: sources that are newer as a whole
    // come before the page.
    sources.sort_unstable_by_key(|source| std::cmp::Reverse(source.last));
    let newest = at_rank(&sources, query.offset)?.last;
    let last_rank = query.offset.saturating_add(query.limit as u64 - 1);
    // The oldest time that the last row of the page can have.
    sources.sort_unstable_by_key(|source| std::cmp::Reverse(source.first));
    let oldest = at_rank(&sources, last_rank).map_or(i64::MIN, |source| source.first);
    let above = sources.iter().filter(|s| s.first > newest).map(|s| s.matched).sum();
    sources.retain(|source| source.first <= newest && source.last >= oldest);
    Some((above, sources))
}

/// Returns the source at which the cumulative count passes `rank`.
fn at_rank(sources: &[SourceMatches], rank: u64) -> Option<&SourceMatches> {
    let mut passed = 0_u64;
    sources.iter().find(|source| {
        passed = passed.saturating_add(source.matched);
        passed > rank
    })
}

fn open_candidates<'c>(
    running: &RunningQuery<'c, '_>,
    query: &EventListQuery,
    needed: &[SourceMatches],
) -> Result<Vec<Candidate<'c>>, SourceError> {
    let candidates = run_tasks(running.context.pool, needed, Vec::new, |counted, candidates| {
        let index = counted.index;
        let outcome = running.open(index).and_then(|source| {
            let selected = select(&*source, &query.filter)?;
            let times = source.times()?;
            let end = match query.after {
                Some(cursor) => end_after(&*source, &times, cursor)?.min(selected.span.end),
                None => selected.span.end,
            };
            let bytes = selected.bytes() + size_of_val(times.as_slice());
            let _memory = running.context.in_progress.borrow(bytes)?;
            Ok(Candidate { index, selected, times, end, _memory })
        });
        candidates.push(outcome.map_err(|error| SourceError { source: index, error })?);
        Ok(())
    })?;
    Ok(candidates.into_iter().flatten().collect())
}

/// Returns how many rows of a source come after the cursor in list order.
fn end_after(
    source: &dyn EventSource,
    times: &[i64],
    cursor: (TimestampMs, EventId),
) -> Result<u32> {
    let (TimestampMs(time), id) = cursor;
    let from = before(times, time);
    let equal: Vec<u32> = (from..before(times, time.saturating_add(1))).collect();
    if equal.is_empty() {
        return Ok(from);
    }
    let ids = source.ids(&equal)?;
    Ok(from + ids.partition_point(|other| *other < id) as u32)
}

/// Drops all rows newer than the row of rank `skip`, whose time is between `first` and `last`.
/// Returns the number of dropped matches.
fn drop_newer(candidates: &mut [Candidate<'_>], skip: u64, first: i64, last: i64) -> u64 {
    let newer = |candidates: &[Candidate<'_>], time: i64| -> u64 {
        candidates.iter().map(|source| source.selected.count(source.newer(time))).sum()
    };
    // The oldest time with at most `skip` newer rows.
    let (mut low, mut high) = (first, last);
    while low < high {
        let middle = low + (high - low) / 2;
        if newer(candidates, middle) <= skip {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let cut = newer(candidates, low);
    for source in candidates {
        source.end = source.newer(low).start;
    }
    cut
}

/// A source in the merge, with the rows left of its current step, the newest last.
struct Cursor<'c> {
    candidate: Candidate<'c>,
    step: Vec<(u32, EventId)>,
}

/// Merges the sources newest first: skips `skip` rows and returns the next `limit`.
fn merge(
    running: &RunningQuery<'_, '_>,
    candidates: Vec<Candidate<'_>>,
    skip: u64,
    limit: usize,
) -> Result<Vec<(usize, u32)>, SourceError> {
    // A step has a maximum anyway, so a larger number may be cut.
    let step = usize::try_from(skip).unwrap_or(usize::MAX).saturating_add(limit).min(STEP_ROWS_MAX);
    // Oldest first. The ids of a source are read only when its newest row may be the next one.
    let mut waiting: Vec<(i64, Candidate<'_>)> =
        candidates.into_iter().filter_map(|source| Some((source.newest()?, source))).collect();
    waiting.sort_unstable_by_key(|(newest, _)| *newest);
    let mut cursors: Vec<Cursor<'_>> = Vec::new();
    let mut heap: BinaryHeap<(i64, EventId, usize)> = BinaryHeap::new();
    let mut skip = skip;
    let mut page = Vec::new();
    while page.len() < limit {
        let next = heap.peek().map_or(i64::MIN, |(time, _, _)| *time);
        if let Some((_, candidate)) = waiting.pop_if(|(newest, _)| *newest >= next) {
            let mut cursor = Cursor { candidate, step: Vec::new() };
            cursor.refill(running, step)?;
            heap.extend(cursor.key(cursors.len()));
            cursors.push(cursor);
            continue;
        }
        let Some((_, _, at)) = heap.pop() else { break };
        let cursor = &mut cursors[at];
        let Some((position, _)) = cursor.step.pop() else {
            panic!("the heap contains the next row of each cursor that has one")
        };
        if skip > 0 {
            skip -= 1;
        } else {
            page.push((cursor.candidate.index, position));
        }
        if cursor.step.is_empty() {
            cursor.refill(running, step)?;
        }
        heap.extend(cursor.key(at));
    }
    Ok(page)
}

impl Cursor<'_> {
    /// Reads the ids of the next `rows` rows.
    fn refill(&mut self, running: &RunningQuery<'_, '_>, rows: usize) -> Result<(), SourceError> {
        let source = &mut self.candidate;
        let positions = source.selected.last(source.rest(), rows);
        source.end = positions.first().copied().unwrap_or(source.selected.span.start);
        if positions.is_empty() {
            return Ok(());
        }
        let ids = running.open(source.index).and_then(|source| source.ids(&positions));
        let ids = ids.and_then(|ids| check_len(ids.len(), positions.len()).map(|()| ids));
        let ids = ids.map_err(|error| SourceError { source: source.index, error })?;
        self.step = positions.into_iter().zip(ids).collect();
        Ok(())
    }

    /// Returns the sort key of the next row, with the index of the cursor.
    fn key(&self, at: usize) -> Option<(i64, EventId, usize)> {
        let (position, id) = self.step.last()?;
        Some((self.candidate.times[*position as usize], *id, at))
    }
}

impl Candidate<'_> {
    /// Returns the rows still to be considered.
    fn rest(&self) -> Range<u32> {
        self.selected.span.start..self.end
    }

    /// Returns those of them that are newer than `time`.
    fn newer(&self, time: i64) -> Range<u32> {
        let newer = before(&self.times, time.saturating_add(1));
        newer.clamp(self.selected.span.start, self.end.max(self.selected.span.start))..self.end
    }

    /// Returns the time of the newest match still to be considered.
    fn newest(&self) -> Option<i64> {
        let row = self.selected.last(self.rest(), 1);
        Some(self.times[*row.first()? as usize])
    }
}

/// Fails with [`Error::Corrupt`] if a source returned another number of rows than requested.
pub(super) fn check_len(found: usize, wanted: usize) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::Corrupt(format!("a source returned {found} rows instead of {wanted}")))
}
