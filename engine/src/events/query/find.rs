//! One event by its id: reads the ids of the events that match a filter, and one event.

use super::super::EventSource;
use super::super::source::ClosedSource;
use super::query_context::{QueryContext, RunningQuery, check_range};
use super::select::select;
use crate::error::Result;
use crate::model::{Event, EventFilter, EventId};

/// Returns the matching event with this id, if there is one, and the number of corrupt sources that
/// were skipped.
pub(crate) fn find(
    sources: &[Box<dyn ClosedSource + '_>],
    (filter, id): (&EventFilter, EventId),
    context: &QueryContext<'_>,
) -> Result<(Option<Event>, u64)> {
    check_range(filter.range)?;
    let running = RunningQuery::new(sources, context);
    for index in running.overlapping(filter.range) {
        let Some(source) = running.skip_if_corrupt(index, running.open(index))? else { continue };
        let found = running.skip_if_corrupt(index, event_of(&*source, filter, id))?;
        if let Some(event) = found.flatten() {
            return Ok((Some(event), running.quarantined()));
        }
    }
    Ok((None, running.quarantined()))
}

fn event_of(source: &dyn EventSource, filter: &EventFilter, id: EventId) -> Result<Option<Event>> {
    let selected = select(source, filter)?;
    let mut rows = Vec::new();
    selected.each(selected.span.clone(), |row| rows.push(row));
    if rows.is_empty() {
        return Ok(None);
    }
    let ids = source.ids(&rows)?;
    let row = rows.into_iter().zip(ids).find(|(_, known)| *known == id);
    let Some((row, _)) = row else { return Ok(None) };
    Ok(source.events(&[row])?.pop())
}
