//! Events in order of receipt: those numbered after a known one.

use super::super::EventSource;
use super::super::source::ClosedSource;
use super::query_context::{QueryContext, RunningQuery, check_range};
use super::select::select;
use crate::error::Result;
use crate::model::{Event, EventFilter};

/// Maximum number of events read at once; bounds the memory.
const READ_AT_ONCE: usize = 1_024;

/// Calls `visit` with every event that matches `filter` and whose number is at least `number`,
/// source by source. Returns the number of corrupt sources that were skipped. If a source turns out
/// to be corrupt midway, some of its events were already visited.
pub(crate) fn since(
    sources: &[Box<dyn ClosedSource + '_>],
    (filter, number): (&EventFilter, u64),
    context: &QueryContext<'_>,
    visit: &mut dyn FnMut(Event),
) -> Result<u64> {
    check_range(filter.range)?;
    let running = RunningQuery::new(sources, context);
    for index in running.overlapping(filter.range) {
        let Some(source) = running.skip_if_corrupt(index, running.open(index))? else { continue };
        let Some(rows) = running.skip_if_corrupt(index, newer(&*source, filter, number))? else {
            continue;
        };
        for part in rows.chunks(READ_AT_ONCE) {
            let Some(events) = running.skip_if_corrupt(index, source.events(part))? else { break };
            events.into_iter().for_each(&mut *visit);
        }
    }
    Ok(running.quarantined())
}

/// Returns the matching rows whose number is at least `number`.
fn newer(source: &dyn EventSource, filter: &EventFilter, number: u64) -> Result<Vec<u32>> {
    let selected = select(source, filter)?;
    let mut rows = Vec::new();
    selected.each(selected.span.clone(), |row| rows.push(row));
    if rows.is_empty() {
        return Ok(rows);
    }
    let ids = source.ids(&rows)?;
    let numbered = rows.into_iter().zip(ids).filter(|(_, id)| id.number() >= number);
    Ok(numbered.map(|(row, _)| row).collect())
}
