//! A page of events: how many match is counted in every source, rows are read only where the page lies.

use super::super::source::Unopened;
use super::ask::{Asked, QueryContext, check_range, each};
use super::page::{self, Counted};
use super::select::select;
use crate::error::Result;
use crate::memory::AnswerMemory;
use crate::model::{Event, EventListQuery, EventPage, EventQueryStats};

/// Lists the events of all sources, blocks and chunks in any order.
pub(crate) fn list(
    sources: &[Box<dyn Unopened + '_>],
    query: &EventListQuery,
    context: &QueryContext<'_>,
) -> Result<EventPage> {
    check_range(query.filter.range)?;
    let asked = Asked::new(sources, context);
    let touched = asked.touched(query.filter.range);
    let mut counted = count(&asked, query, &touched)?;
    let events = loop {
        match read(&asked, query, &counted) {
            Ok(events) => break events,
            Err(failure) => {
                // Without the damaged source the page lies elsewhere.
                asked.settle::<()>(failure.source, Err(failure.error))?;
                counted.retain(|source| source.index != failure.source);
            }
        }
    };
    let total = counted.iter().map(|source| source.matched).sum();
    let quarantined = asked.quarantined();
    let stats = EventQueryStats { matched: total, sources: touched.len() as u64, quarantined };
    Ok(EventPage { total, events, stats, memory: AnswerMemory::default() })
}

/// Counts what matches in each source.
fn count(asked: &Asked<'_, '_>, query: &EventListQuery, touched: &[usize]) -> Result<Vec<Counted>> {
    let range = query.filter.range;
    let counts = each(asked.context.pool, touched, Vec::new, |index, counts| {
        let counted = asked.open(*index).and_then(|source| {
            let matched = select(&*source, &query.filter)?.len();
            Ok((matched, source.time_bounds()))
        });
        let counted = asked.settle(*index, counted)?;
        let Some((matched, (first, last))) = counted.filter(|(matched, _)| *matched > 0) else {
            return Ok(());
        };
        let (first, last) = (first.max(range.start.0), last.min(range.end.0 - 1));
        counts.push(Counted { index: *index, matched, first, last });
        Ok::<(), crate::error::Error>(())
    })?;
    let mut counts: Vec<Counted> = counts.into_iter().flatten().collect();
    counts.sort_unstable_by_key(|source| source.index);
    Ok(counts)
}

/// Reads the events of the page: one call for each source that has any.
fn read(
    asked: &Asked<'_, '_>,
    query: &EventListQuery,
    counted: &[Counted],
) -> Result<Vec<Event>, page::Failure> {
    let rows = page::rows(asked, query, counted)?;
    let mut by_source: Vec<(usize, Vec<(u32, usize)>)> = Vec::new();
    for (at, (source, position)) in rows.iter().enumerate() {
        match by_source.iter_mut().find(|(index, _)| index == source) {
            Some((_, rows)) => rows.push((*position, at)),
            None => by_source.push((*source, vec![(*position, at)])),
        }
    }
    let parts = each(asked.context.pool, &by_source, Vec::new, |(index, rows), events| {
        // From the newest to the oldest they were found; what is read is laid out the other way.
        let positions: Vec<u32> = rows.iter().rev().map(|(position, _)| *position).collect();
        let outcome = asked.open(*index).and_then(|source| {
            let read = source.events(&positions)?;
            page::check_len(read.len(), positions.len())?;
            asked.context.asking.take_for_answer(read.iter().map(Event::bytes).sum())?;
            Ok(read)
        });
        let read = outcome.map_err(|error| page::Failure { source: *index, error })?;
        events.extend(rows.iter().rev().map(|(_, at)| *at).zip(read));
        Ok(())
    })?;
    let mut events: Vec<(usize, Event)> = parts.into_iter().flatten().collect();
    events.sort_unstable_by_key(|(at, _)| *at);
    Ok(events.into_iter().map(|(_, event)| event).collect())
}
