//! A page of events: counts the matches of every source, but reads rows only of the page.

use super::super::source::ClosedSource;
use super::page::{self, SourceMatches};
use super::query_context::{QueryContext, RunningQuery, check_range, run_tasks};
use super::select::select;
use crate::error::Result;
use crate::memory::ResultMemory;
use crate::model::{Event, EventListQuery, EventPage, EventQueryStats};

/// Lists the events of all sources, blocks and chunks in any order.
pub(crate) fn list(
    sources: &[Box<dyn ClosedSource + '_>],
    query: &EventListQuery,
    context: &QueryContext<'_>,
) -> Result<EventPage> {
    check_range(query.filter.range)?;
    let running = RunningQuery::new(sources, context);
    let overlapping = running.overlapping(query.filter.range);
    let mut counted = count(&running, query, &overlapping)?;
    let events = loop {
        match read(&running, query, &counted) {
            Ok(events) => break events,
            Err(failure) => {
                // Without the corrupt source, the page consists of other rows.
                running.skip_if_corrupt::<()>(failure.source, Err(failure.error))?;
                counted.retain(|source| source.index != failure.source);
            }
        }
    };
    let total = counted.iter().map(|source| source.matched).sum();
    let quarantined = running.quarantined();
    let stats = EventQueryStats { matched: total, sources: overlapping.len() as u64, quarantined };
    Ok(EventPage { total, events, stats, memory: ResultMemory::default() })
}

/// Counts the matches of each source.
fn count(
    running: &RunningQuery<'_, '_>,
    query: &EventListQuery,
    overlapping: &[usize],
) -> Result<Vec<SourceMatches>> {
    let range = query.filter.range;
    let counts = run_tasks(running.context.pool, overlapping, Vec::new, |index, counts| {
        let counted = running.open(*index).and_then(|source| {
            let matched = select(&*source, &query.filter)?.len();
            Ok((matched, source.time_bounds()))
        });
        let counted = running.skip_if_corrupt(*index, counted)?;
        let Some((matched, (first, last))) = counted.filter(|(matched, _)| *matched > 0) else {
            return Ok(());
        };
        let (first, last) = (first.max(range.start.0), last.min(range.end.0 - 1));
        counts.push(SourceMatches { index: *index, matched, first, last });
        Ok::<(), crate::error::Error>(())
    })?;
    let mut counts: Vec<SourceMatches> = counts.into_iter().flatten().collect();
    counts.sort_unstable_by_key(|source| source.index);
    Ok(counts)
}

/// Reads the events of the page, with one call for each source that contains any.
fn read(
    running: &RunningQuery<'_, '_>,
    query: &EventListQuery,
    counted: &[SourceMatches],
) -> Result<Vec<Event>, page::SourceError> {
    let rows = page::rows(running, query, counted)?;
    let mut by_source: Vec<(usize, Vec<(u32, usize)>)> = Vec::new();
    for (at, (source, position)) in rows.iter().enumerate() {
        match by_source.iter_mut().find(|(index, _)| index == source) {
            Some((_, rows)) => rows.push((*position, at)),
            None => by_source.push((*source, vec![(*position, at)])),
        }
    }
    let parts = run_tasks(running.context.pool, &by_source, Vec::new, |(index, rows), events| {
        // The rows were found newest first; the source stores them oldest first.
        let positions: Vec<u32> = rows.iter().rev().map(|(position, _)| *position).collect();
        let outcome = running.open(*index).and_then(|source| {
            let read = source.events(&positions)?;
            page::check_len(read.len(), positions.len())?;
            running.context.in_progress.take_for_result(read.iter().map(Event::bytes).sum())?;
            Ok(read)
        });
        let read = outcome.map_err(|error| page::SourceError { source: *index, error })?;
        events.extend(rows.iter().rev().map(|(_, at)| *at).zip(read));
        Ok(())
    })?;
    let mut events: Vec<(usize, Event)> = parts.into_iter().flatten().collect();
    events.sort_unstable_by_key(|(at, _)| *at);
    Ok(events.into_iter().map(|(_, event)| event).collect())
}
