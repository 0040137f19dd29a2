//! Where a page lies: which rows of which sources, without reading what comes before it.
//!
//! The page begins at some rank among all that match, newest first. Counts and bounds of time of the sources say within which
//! times the row of that rank lies, and so which sources need be looked into at all:
//!
//! ```text
//!  newest                                                   oldest
//!  ├─ A: 900 ─┤                                                      rank 1 000, 100 rows: of A it is known without a look
//!        ├──── B: 500 ────┤                                          that all its rows come before the page,
//!                  ├───── C: 800 ─────┤                              of D that all come after it; B and C are looked into
//!                                        ├── D: 700 ──┤
//! ```
//!
//! In those a binary search finds the time of that row: counts above a time are ranks in sets. From there the sources are merged
//! by time and id, in steps of bounded length. So memory depends on the length of the page and the number of sources it meets,
//! not on how deep it lies.

use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::super::Source;
use super::ask::{Asked, each};
use super::select::{Selected, before, select};
use crate::asking::BorrowedMemory;
use crate::error::{Error, Result};
use crate::model::{EventId, EventListQuery, TimestampMs};

/// Ids of a source that are read at once: a page of the longest kind.
const STEP_ROWS_MAX: usize = 1_000;

/// A source that holds matching rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) index: usize,
    /// How many rows match.
    pub(super) matched: u64,
    /// Not after the oldest row that matches, milliseconds.
    pub(super) first: i64,
    /// Not before the newest row that matches.
    pub(super) last: i64,
}

/// A source could not be read.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) source: usize,
    pub(super) error: Error,
}

/// What is known of a source that was looked into.
struct Looked<'c> {
    index: usize,
    selected: Selected,
    times: Arc<Vec<i64>>,
    /// Rows from here on are not asked for: newer than the page, or not after the cursor.
    end: u32,
    /// What the question has taken for all of this.
    _memory: BorrowedMemory<'c>,
}

/// The rows of the page, newest first: index of the source and position.
pub(super) fn rows(
    asked: &Asked<'_, '_>,
    query: &EventListQuery,
    counted: &[Counted],
) -> Result<Vec<(usize, u32)>, Failure> {
    let available = after_cursor(asked, query, counted)?;
    let Some((above, needed)) = needed(&available, query) else { return Ok(Vec::new()) };
    let mut looked = look(asked, query, &needed)?;
    let mut skip = query.offset - above;
    if skip > 0 {
        let first = needed.iter().map(|source| source.first).min().unwrap_or_default();
        let last = needed.iter().map(|source| source.last).max().unwrap_or_default();
        skip -= cut_newer(&mut looked, skip, first, last);
    }
    merge(asked, looked, skip, query.limit)
}

/// What the sources hold after the cursor.
fn after_cursor(
    asked: &Asked<'_, '_>,
    query: &EventListQuery,
    counted: &[Counted],
) -> Result<Vec<Counted>, Failure> {
    let Some((TimestampMs(time), _)) = query.after else { return Ok(counted.to_vec()) };
    let (cut, rest): (Vec<Counted>, Vec<Counted>) =
        counted.iter().filter(|s| s.first <= time).partition(|s| s.last >= time);
    let mut available = rest;
    for source in look(asked, query, &cut)? {
        let Some(whole) = cut.iter().find(|cut| cut.index == source.index) else { continue };
        let matched = source.selected.count(source.rest());
        if matched > 0 {
            available.push(Counted { matched, last: time, ..*whole });
        }
    }
    Ok(available)
}

/// How many rows come before the page in sources that it does not meet, and the sources that it may meet. None when there are
/// not so many rows.
fn needed(available: &[Counted], query: &EventListQuery) -> Option<(u64, Vec<Counted>)> {
    if query.limit == 0 {
        return None;
    }
    let mut sources = available.to_vec();
    // The newest time that the first row of the page can have: only sources that reach it have rows before.
    sources.sort_unstable_by_key(|source| std::cmp::Reverse(source.last));
    let newest = at_rank(&sources, query.offset)?.last;
    let last_rank = query.offset.saturating_add(query.limit as u64 - 1);
    // The oldest time that its last row can have.
    sources.sort_unstable_by_key(|source| std::cmp::Reverse(source.first));
    let oldest = at_rank(&sources, last_rank).map_or(i64::MIN, |source| source.first);
    let above = sources.iter().filter(|s| s.first > newest).map(|s| s.matched).sum();
    sources.retain(|source| source.first <= newest && source.last >= oldest);
    Some((above, sources))
}

/// The source at which the counts, added up, pass `rank`.
fn at_rank(sources: &[Counted], rank: u64) -> Option<&Counted> {
    let mut passed = 0_u64;
    sources.iter().find(|source| {
        passed = passed.saturating_add(source.matched);
        passed > rank
    })
}

fn look<'c>(
    asked: &Asked<'c, '_>,
    query: &EventListQuery,
    needed: &[Counted],
) -> Result<Vec<Looked<'c>>, Failure> {
    let looked = each(asked.context.pool, needed, Vec::new, |counted, looked| {
        let index = counted.index;
        let outcome = asked.open(index).and_then(|source| {
            let selected = select(&*source, &query.filter)?;
            let times = source.times()?;
            let end = match query.after {
                Some(cursor) => end_at(&*source, &times, cursor)?.min(selected.span.end),
                None => selected.span.end,
            };
            let bytes = selected.bytes() + size_of_val(times.as_slice());
            let _memory = asked.context.asking.borrow(bytes)?;
            Ok(Looked { index, selected, times, end, _memory })
        });
        looked.push(outcome.map_err(|error| Failure { source: index, error })?);
        Ok(())
    })?;
    Ok(looked.into_iter().flatten().collect())
}

/// How many rows of a source come after the cursor in the order of the list.
fn end_at(source: &dyn Source, times: &[i64], cursor: (TimestampMs, EventId)) -> Result<u32> {
    let (TimestampMs(time), id) = cursor;
    let from = before(times, time);
    let equal: Vec<u32> = (from..before(times, time.saturating_add(1))).collect();
    if equal.is_empty() {
        return Ok(from);
    }
    let ids = source.ids(&equal)?;
    Ok(from + ids.partition_point(|other| *other < id) as u32)
}

/// Cuts off all rows newer than the row of rank `skip`, whose time lies between `first` and `last`. Answers how many matched.
fn cut_newer(looked: &mut [Looked<'_>], skip: u64, first: i64, last: i64) -> u64 {
    let newer = |looked: &[Looked<'_>], time: i64| -> u64 {
        looked.iter().map(|source| source.selected.count(source.newer(time))).sum()
    };
    // The oldest time after which there are at most `skip` rows.
    let (mut low, mut high) = (first, last);
    while low < high {
        let middle = low + (high - low) / 2;
        if newer(looked, middle) <= skip {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let cut = newer(looked, low);
    for source in looked {
        source.end = source.newer(low).start;
    }
    cut
}

/// A source in the merge: the rows of a step that are left, the newest last.
struct Cursor<'c> {
    looked: Looked<'c>,
    step: Vec<(u32, EventId)>,
}

/// Merges the sources from their ends, newest first: passes over `skip` rows and takes `limit`.
fn merge(
    asked: &Asked<'_, '_>,
    looked: Vec<Looked<'_>>,
    skip: u64,
    limit: usize,
) -> Result<Vec<(usize, u32)>, Failure> {
    let step = usize::try_from(skip).unwrap_or(usize::MAX).saturating_add(limit).min(STEP_ROWS_MAX);
    // Oldest first. A source's ids are read only when its newest row may be the next one.
    let mut waiting: Vec<(i64, Looked<'_>)> =
        looked.into_iter().filter_map(|source| Some((source.newest()?, source))).collect();
    waiting.sort_unstable_by_key(|(newest, _)| *newest);
    let mut cursors: Vec<Cursor<'_>> = Vec::new();
    let mut heap: BinaryHeap<(i64, EventId, usize)> = BinaryHeap::new();
    let mut skip = skip;
    let mut page = Vec::new();
    while page.len() < limit {
        let next = heap.peek().map_or(i64::MIN, |(time, _, _)| *time);
        if let Some((_, looked)) = waiting.pop_if(|(newest, _)| *newest >= next) {
            let mut cursor = Cursor { looked, step: Vec::new() };
            cursor.refill(asked, step)?;
            heap.extend(cursor.key(cursors.len()));
            cursors.push(cursor);
            continue;
        }
        let Some((_, _, at)) = heap.pop() else { break };
        let Some(cursor) = cursors.get_mut(at) else { break };
        let Some((position, _)) = cursor.step.pop() else { break };
        if skip > 0 {
            skip -= 1;
        } else {
            page.push((cursor.looked.index, position));
        }
        if cursor.step.is_empty() {
            cursor.refill(asked, step)?;
        }
        heap.extend(cursor.key(at));
    }
    Ok(page)
}

impl Cursor<'_> {
    /// Reads the ids of the next `rows` rows.
    fn refill(&mut self, asked: &Asked<'_, '_>, rows: usize) -> Result<(), Failure> {
        let source = &mut self.looked;
        let positions = source.selected.last(source.rest(), rows);
        source.end = positions.first().copied().unwrap_or(source.selected.span.start);
        if positions.is_empty() {
            return Ok(());
        }
        let ids = asked.open(source.index).and_then(|source| source.ids(&positions));
        let ids = ids.and_then(|ids| check_len(ids.len(), positions.len()).map(|()| ids));
        let ids = ids.map_err(|error| Failure { source: source.index, error })?;
        self.step = positions.into_iter().zip(ids).collect();
        Ok(())
    }

    /// The place of the next row in the order of the list, and whose it is.
    fn key(&self, at: usize) -> Option<(i64, EventId, usize)> {
        let (position, id) = self.step.last()?;
        Some((*self.looked.times.get(*position as usize)?, *id, at))
    }
}

impl Looked<'_> {
    /// The rows that may be asked for.
    fn rest(&self) -> Range<u32> {
        self.selected.span.start..self.end
    }

    /// Those of them that are newer than `time`.
    fn newer(&self, time: i64) -> Range<u32> {
        let newer = before(&self.times, time.saturating_add(1));
        newer.clamp(self.selected.span.start, self.end.max(self.selected.span.start))..self.end
    }

    /// The time of the newest row that may be asked for and matches.
    fn newest(&self) -> Option<i64> {
        let row = self.selected.last(self.rest(), 1);
        self.times.get(*row.first()? as usize).copied()
    }
}

/// Refuses an answer of a source that is not as long as the question.
pub(super) fn check_len(is: usize, should: usize) -> Result<()> {
    if is == should {
        return Ok(());
    }
    Err(Error::Corrupt(format!("a source gives {is} rows of the {should} asked for")))
}
