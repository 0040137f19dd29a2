//! Whole bodies: one input, or `{"events": […]}`.

use telltale_engine::{InvalidEvent, NewEvent, TimestampMs};

use super::super::error::EventsError;
use super::super::model::Outcome;
use super::input::{Buffers, read_input};
use crate::platform::json::{Elements, Json, with_document};
use crate::platform::telemetry::batch;

/// Reads a body that is one input and answers what `take` makes of its event.
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

/// Reads a body that is a batch and hands its good items to `take`, in their order. Refuses the whole batch
/// before the first event is handed over, or not at all; what `take` refuses is a bad item.
pub fn read_batch(
    body: &[u8],
    now: TimestampMs,
    take: impl FnMut(&NewEvent<'_>) -> Result<(), InvalidEvent>,
) -> Result<Outcome, EventsError> {
    with_document(body, |document| Ok(read_items(batch::items(document, "events")?, now, take)))?
}

/// Reads the items of a batch and hands the good ones to `take`, in their order.
pub(in crate::areas::events) fn read_items(
    items: Elements<'_>,
    now: TimestampMs,
    mut take: impl FnMut(&NewEvent<'_>) -> Result<(), InvalidEvent>,
) -> Outcome {
    let mut buffers = Buffers::default();
    Outcome::of(items, |item| read_input(item, now, &mut buffers, &mut take))
}
