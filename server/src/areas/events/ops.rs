//! The verbs of the area, below HTTP and above the engine. Those that ask the engine block and may take long.

use telltale_engine::{Engine, Error, EventBatch, EventId, NewEvent, TimestampMs};

use super::error::EventsError;
use super::ingest::{read_batch, read_items, read_one};
use super::model::Outcome;
use super::{query, render};
use crate::app::App;
use crate::http::{ApiResult, Query};
use crate::platform::json::{CountedText, Elements, reserve_document};

/// Reads a body that is one event. Answers the batch to store, and what `echo` made of the event.
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

/// Reads a body that is a batch of events. Answers the batch to store, and what became of the items.
pub fn resolve_batch(
    engine: &Engine,
    now: TimestampMs,
    body: &[u8],
) -> Result<(EventBatch, Outcome), EventsError> {
    let _reserved = reserve_document(body, engine.memory())?;
    let mut batch = engine.event_batch();
    let outcome = read_batch(body, now, |event| batch.push(event).map(drop))?;
    Ok((batch, outcome))
}

/// Reads the items of a batch that stand among other things. Answers the batch to store, and what became of them.
pub fn resolve_items(
    engine: &Engine,
    now: TimestampMs,
    items: Elements<'_>,
) -> (EventBatch, Outcome) {
    let mut batch = engine.event_batch();
    let outcome = read_items(items, now, |event| batch.push(event).map(drop));
    (batch, outcome)
}

/// A page of events as JSON.
pub(super) fn list(app: &App, parameters: &Query) -> ApiResult<CountedText> {
    let listing = query::list(parameters, app.now())?;
    let page = app.engine().list_events(&listing.query)?;
    Ok(render::list(&listing, &page, app.engine().memory()).map_err(Error::from)?)
}

/// How many events there are, as JSON.
pub(super) fn count(app: &App, parameters: &Query) -> ApiResult<CountedText> {
    let query = query::count(parameters, app.now())?;
    let answer = app.engine().query_events(&query)?;
    render::count(&query, &answer, app.engine().memory())
}

/// Statistics of a number of events, in the order of [`query::STATISTICS`].
pub(super) fn stats(app: &App, parameters: &Query) -> ApiResult<Vec<Option<f64>>> {
    let query = query::stats(parameters, app.now())?;
    Ok(app.engine().query_events(&query)?.all.whole)
}
