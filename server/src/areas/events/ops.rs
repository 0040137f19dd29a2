//! The operations of the area, between HTTP and the engine.

use telltale_engine::{Engine, EventBatch, EventId, NewEvent, Receipt, TimestampMs, Write};

use super::error::EventsError;
use super::ingest::{read_batch, read_items, read_one, read_plain_batch};
use super::model::Outcome;
use crate::app::{App, AppResult};
use crate::platform::json::{Elements, reserve_document};

/// Parses a body with one event. Returns the batch to store and the result of `echo` for the event.
pub fn resolve_one<T>(
    engine: &Engine,
    now: TimestampMs,
    body: &[u8],
    echo: impl FnOnce(EventId, &NewEvent<'_>) -> T,
) -> Result<(EventBatch, T), EventsError> {
    let _reserved = reserve_document(body, engine.memory())?;
    let mut batch = engine.event_batch();
    let echoed = read_one(body, now, |event| batch.push(event).map(|id| echo(id, event)))?;
    Ok((batch, echoed))
}

/// Parses a body with a batch of events. Returns the batch to store and the outcome of the items.
pub fn resolve_batch(
    engine: &Engine,
    now: TimestampMs,
    body: &[u8],
) -> Result<(EventBatch, Outcome), EventsError> {
    let mut batch = engine.event_batch();
    if let Some(accepted) = read_plain_batch(body, now, |event| batch.push(event).map(drop)) {
        return Ok((batch, Outcome { accepted, ..Outcome::default() }));
    }
    // Without what was read until the fast parser gave up.
    batch = engine.event_batch();
    let _reserved = reserve_document(body, engine.memory())?;
    let outcome = read_batch(body, now, |event| batch.push(event).map(drop))?;
    Ok((batch, outcome))
}

/// Parses the items of a batch within a larger document. Returns the batch to store and the outcome
/// of the items.
pub fn resolve_items(
    engine: &Engine,
    now: TimestampMs,
    items: Elements<'_>,
) -> (EventBatch, Outcome) {
    let mut batch = engine.event_batch();
    let outcome = read_items(items, now, |event| batch.push(event).map(drop));
    (batch, outcome)
}

/// Stores events together with the receipt of an idempotent request. Returns when they are durable
/// as configured.
pub(super) async fn store(
    app: &App,
    events: EventBatch,
    receipt: Option<Receipt>,
) -> AppResult<()> {
    app.write(Write { events: Some(events), receipt, ..Write::default() }).await.map(drop)
}
