//! The operations of the area, between HTTP and the engine. Those that query the engine block and
//! may take long.

use telltale_engine::{Engine, Error, EventBatch, EventId, NewEvent, TimestampMs};

use super::error::EventsError;
use super::ingest::{read_batch, read_items, read_one};
use super::model::Outcome;
use super::{query, render};
use crate::app::App;
use crate::http::{ApiResult, Query};
use crate::platform::json::{ChargedJson, Elements, reserve_document};

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
    let _reserved = reserve_document(body, engine.memory())?;
    let mut batch = engine.event_batch();
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

/// Returns a page of events as JSON.
pub(super) fn list(app: &App, parameters: &Query) -> ApiResult<ChargedJson> {
    let request = query::list(parameters, app.now())?;
    let page = app.engine().list_events(&request.query)?;
    Ok(render::list(&request, &page, app.engine().memory()).map_err(Error::from)?)
}

/// Returns the number of events as JSON.
pub(super) fn count(app: &App, parameters: &Query) -> ApiResult<ChargedJson> {
    let query = query::count(parameters, app.now())?;
    let result = app.engine().query_events(&query)?;
    render::count(&query, &result, app.engine().memory())
}

/// Returns statistics of a number of events, in the order of [`query::STATISTICS`].
pub(super) fn stats(app: &App, parameters: &Query) -> ApiResult<Vec<Option<f64>>> {
    let query = query::stats(parameters, app.now())?;
    Ok(app.engine().query_events(&query)?.all.whole)
}
