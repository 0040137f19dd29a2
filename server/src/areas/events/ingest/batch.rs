//! Parsing of complete bodies: one item, or `{"events": […]}`.

use telltale_engine::{InvalidEvent, NewEvent, TimestampMs};

use super::super::error::EventsError;
use super::super::model::Outcome;
use super::input::{Buffers, read_input};
use crate::platform::json::{Elements, Json, with_document};
use crate::platform::telemetry::batch;

/// Parses a body with one item and returns the result of `take` for its event.
pub fn read_one<T>(
    body: &[u8],
    now: TimestampMs,
    take: impl FnOnce(&NewEvent<'_>) -> Result<T, InvalidEvent>,
) -> Result<T, EventsError> {
    with_document(body, |document| match document.json() {
        Json::Object(_) => Ok(read_input(document, now, &mut Buffers::default(), take)?),
        _ => Err(EventsError::NotAnObject),
    })?
}

/// Parses a body with a batch and passes its valid items to `take`, in order. An invalid batch is
/// refused before the first event is passed; an item that `take` refuses is an invalid item.
pub fn read_batch(
    body: &[u8],
    now: TimestampMs,
    take: impl FnMut(&NewEvent<'_>) -> Result<(), InvalidEvent>,
) -> Result<Outcome, EventsError> {
    with_document(body, |document| Ok(read_items(batch::items(document, "events")?, now, take)))?
}

/// Parses the items of a batch and passes the valid ones to `take`, in order.
pub(in crate::areas::events) fn read_items(
    items: Elements<'_>,
    now: TimestampMs,
    mut take: impl FnMut(&NewEvent<'_>) -> Result<(), InvalidEvent>,
) -> Outcome {
    let mut buffers = Buffers::default();
    Outcome::of(items, |item| read_input(item, now, &mut buffers, &mut take))
}
