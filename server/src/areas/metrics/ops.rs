//! The operations of the area, between HTTP and the engine. All of them block except those that
//! parse a body of one sample or a short batch; even these may register new series in the engine.

use telltale_engine::{
    BatchBuilder, DefinitionFilter, DefinitionPage, Engine, MetricDefinition, MetricQuery,
    MetricType, PointBatch, QueryResult, Receipt, Refusal, SeriesId, TagValueFilter, TagValuePage,
    TimestampMs, Write,
};

use super::error::MetricsError;
use super::ingest::{Item, Reader, read_batch, read_items, read_one};
use super::model::{Measured, MetricName, Outcome, Point};
use crate::app::{App, AppResult};
use crate::platform::json::{Elements, reserve_document, reserve_document_unconditionally};

/// Parses a body with one sample. Returns the batch to store and the result of `echo` for the
/// sample.
pub fn resolve_one<T>(
    engine: &Engine,
    now: TimestampMs,
    body: &[u8],
    echo: impl FnOnce(&Point<'_>) -> T,
) -> Result<(PointBatch, T), MetricsError> {
    let _reserved = reserve_document(body, engine.memory())?;
    let mut batch = engine.batch();
    let echoed = read_one(body, now, |point| push(&mut batch, point).map(|()| echo(point)))?;
    Ok((batch.finish(), echoed))
}

/// Parses one sample and adds it to a batch of many.
pub fn resolve_into<'b>(
    reader: &mut Reader<'b>,
    batch: &mut BatchBuilder<'_>,
    text: &'b [u8],
) -> Result<(), MetricsError> {
    match reader.one(batch, text) {
        Some(item) => {
            let _reserved = item
                .document()
                .and_then(|text| reserve_document_unconditionally(text, reader.memory()));
            add_item(batch, reader.now(), item)
        }
        None => {
            let _reserved = reserve_document_unconditionally(text, reader.memory());
            read_one(text, reader.now(), |point| push(batch, point))
        }
    }
}

/// Parses a body with a batch of samples. Returns the batch to store and the outcome of the items.
pub fn resolve_batch(
    engine: &Engine,
    now: TimestampMs,
    body: &[u8],
) -> Result<(PointBatch, Outcome), MetricsError> {
    let mut batch = engine.batch();
    let Some(items) = Reader::new(now, engine.memory()).batch(&mut batch, body) else {
        let _reserved = reserve_document(body, engine.memory())?;
        // The old builder may hold the series registry locked while the body is parsed.
        batch = engine.batch();
        let outcome = read_batch(body, now, |point| push(&mut batch, point))?;
        return Ok((batch.finish(), outcome));
    };
    let mut outcome = Outcome::default();
    for item in items {
        let _reserved =
            item.document().map(|text| reserve_document(text, engine.memory())).transpose()?;
        outcome.add(match add_item(&mut batch, now, item) {
            Ok(()) => Ok(()),
            Err(MetricsError::Input(error)) => Err(error),
            Err(error) => return Err(error),
        });
    }
    Ok((batch.finish(), outcome))
}

/// Parses the items of a batch within a larger document. Returns the batch to store and the outcome
/// of the items.
pub fn resolve_items(
    engine: &Engine,
    now: TimestampMs,
    items: Elements<'_>,
) -> (PointBatch, Outcome) {
    let mut batch = engine.batch();
    let outcome = read_items(items, now, |point| push(&mut batch, point));
    (batch.finish(), outcome)
}

fn add_item(
    batch: &mut BatchBuilder<'_>,
    now: TimestampMs,
    item: Item<'_>,
) -> Result<(), MetricsError> {
    match item {
        Item::Known { series, kind, time, value } => {
            add(batch, kind, series, time, value);
            Ok(())
        }
        Item::Other { text, key_hash } => read_one(text.as_bytes(), now, |point| match key_hash {
            None => push(batch, point),
            Some(key_hash) => {
                let Point { name, kind, tags, .. } = *point;
                // An earlier item may have registered the series.
                let series = match batch.known(key_hash) {
                    Some((series, known)) if known == kind => series,
                    _ => batch.series_of_hash(key_hash, name, kind, tags)?,
                };
                add(batch, kind, series, point.time, point.value);
                Ok(())
            }
        }),
    }
}

/// Adds a sample to a batch.
pub(super) fn push(batch: &mut BatchBuilder<'_>, point: &Point<'_>) -> Result<(), Refusal> {
    let series = batch.series(point.name, point.kind, point.tags)?;
    add(batch, point.kind, series, point.time, point.value);
    Ok(())
}

fn add(
    batch: &mut BatchBuilder<'_>,
    kind: MetricType,
    series: SeriesId,
    time: TimestampMs,
    value: Measured<'_>,
) {
    match value {
        Measured::Number(value) => batch.number(kind, series, time, value),
        Measured::Member(member) => batch.member(series, time, member),
    }
}

/// Stores samples together with the receipt of an idempotent request. Returns when they are
/// durable as configured.
pub(super) async fn store(
    app: &App,
    points: PointBatch,
    receipt: Option<Receipt>,
) -> AppResult<()> {
    app.write(Write { points, receipt, events: None }).await.map(drop)
}

/// Returns the definitions that match the filter.
pub(super) fn list(app: &App, filter: &DefinitionFilter) -> DefinitionPage {
    app.engine().metrics(filter)
}

/// Returns the definition of a metric.
pub(super) fn definition(app: &App, name: &MetricName) -> Result<MetricDefinition, MetricsError> {
    app.engine().metric(name.as_str())?.ok_or_else(|| MetricsError::NotFound(name.to_string()))
}

/// Returns the tag keys of a metric, sorted, each with the number of its values.
pub(super) fn tag_keys(app: &App, name: &MetricName) -> Result<Vec<(String, u64)>, MetricsError> {
    Ok(app.engine().tag_keys(name.as_str())?)
}

/// Returns a page of the values of a tag of a metric, each with the number of its series; empty if
/// no series has the tag.
pub(super) fn tag_values(
    app: &App,
    name: &MetricName,
    key: &str,
    filter: &TagValueFilter,
) -> Result<TagValuePage, MetricsError> {
    Ok(app.engine().tag_value_page(name.as_str(), key, filter)?)
}

/// Deletes a metric, its series and its samples.
pub(super) fn delete(app: &App, name: &MetricName) -> Result<(), MetricsError> {
    Ok(app.engine().delete_metric(name.as_str())?)
}

/// Returns the type of a metric; `None` if there is no metric of this name.
pub fn kind_of(app: &App, name: &str) -> Option<MetricType> {
    app.engine().metric_type(name)
}

/// Runs a query of another area.
pub fn ask(app: &App, query: &MetricQuery) -> Result<QueryResult, MetricsError> {
    Ok(app.engine().query(query)?)
}
