//! A sample of events: the newest that match, up to a bounded number and size.

use telltale_engine::{Event, EventFilter, EventListQuery, TimestampMs};

use crate::app::App;
use crate::areas::events::error::EventsError;
use crate::areas::events::limits::{SAMPLE_BYTES_MAX, SAMPLE_PAGE_EVENTS};

/// How many events a sample consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SampleSize {
    /// The events that were read.
    pub(super) read: u64,
    /// The events that match.
    pub(super) matched: u64,
}

/// Calls `visit` with the newest matching events, up to `events_max` of them.
pub(super) fn read_newest(
    app: &App,
    filter: &EventFilter,
    events_max: u64,
    mut visit: impl FnMut(&Event) -> Result<(), EventsError>,
) -> Result<SampleSize, EventsError> {
    let mut size = SampleSize::default();
    let (mut bytes, mut after, mut filter) = (0, None, filter.clone());
    while size.read < events_max && bytes < SAMPLE_BYTES_MAX {
        let left = usize::try_from(events_max - size.read).unwrap_or(usize::MAX);
        let limit = SAMPLE_PAGE_EVENTS.min(left);
        let query = EventListQuery { filter: filter.clone(), after, offset: 0, limit };
        let page = app.engine().list_events(&query)?;
        if after.is_none() {
            size.matched = page.total;
        }
        for event in &page.events {
            size.read += 1;
            bytes += event.properties.as_ref().map_or(0, String::len);
            visit(event)?;
        }
        match page.events.last() {
            Some(last) if page.events.len() == limit => {
                after = Some((last.time, last.id));
                // Each page counts what matches in its range: the range ends with the page before.
                filter.range.end = filter.range.end.min(TimestampMs(last.time.0.saturating_add(1)));
            }
            _ => break,
        }
    }
    // Events that arrived meanwhile are among neither.
    size.matched = size.matched.max(size.read);
    Ok(size)
}
