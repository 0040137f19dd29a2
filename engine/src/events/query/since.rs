//! Events by the order in which they were received: those that came after one that is known.

use super::super::Source;
use super::super::source::Unopened;
use super::ask::{Asked, QueryContext, check_range};
use super::select::select;
use crate::error::Result;
use crate::model::{Event, EventFilter};

/// Events that are read at once: what bounds the memory.
const READ_AT_ONCE: usize = 1_024;

/// Hands every event that matches `filter` and has this number or a greater one to `visit`, source by source. Answers how many
/// sources were left out because they are damaged; of one that turns out so on the way, a part may have been visited.
pub(crate) fn since(
    sources: &[Box<dyn Unopened + '_>],
    (filter, number): (&EventFilter, u64),
    context: &QueryContext<'_>,
    visit: &mut dyn FnMut(Event),
) -> Result<u64> {
    check_range(filter.range)?;
    let asked = Asked::new(sources, context);
    for index in asked.touched(filter.range) {
        let Some(source) = asked.settle(index, asked.open(index))? else { continue };
        let Some(rows) = asked.settle(index, newer(&*source, filter, number))? else { continue };
        for part in rows.chunks(READ_AT_ONCE) {
            let Some(events) = asked.settle(index, source.events(part))? else { break };
            events.into_iter().for_each(&mut *visit);
        }
    }
    Ok(asked.quarantined())
}

/// The rows that match and were numbered late enough.
fn newer(source: &dyn Source, filter: &EventFilter, number: u64) -> Result<Vec<u32>> {
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
