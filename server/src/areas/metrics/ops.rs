//! The verbs of the area, below HTTP and above the engine. All of them block, but for the two that only read a
//! body, and those may meet new series, which the engine must remember.

use telltale_engine::{
    BatchBuilder, DefinitionFilter, DefinitionPage, Engine, MetricDefinition, MetricName,
    MetricQuery, MetricType, PointBatch, QueryResult, Refusal, SeriesId, TimestampMs,
};

use super::error::MetricsError;
use super::ingest::{Item, Reader, read_batch, read_items, read_one};
use super::model::{Measured, Outcome, Point, Question};
use super::render::Answers;
use super::{query, render};
use crate::app::App;
use crate::http::{ApiError, ApiResult, Query};
use crate::limits;
use crate::platform::json::{
    CountedText, Elements, reserve_document, reserve_document_unconditionally,
};

/// Reads a body that is one point. Answers the batch to store, and what `echo` made of the point.
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

/// Reads a text that is one point, and adds it to a batch of many.
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
            take(batch, reader.now(), item)
        }
        None => {
            let _reserved = reserve_document_unconditionally(text, reader.memory());
            read_one(text, reader.now(), |point| push(batch, point))
        }
    }
}

/// Reads a body that is a batch of points. Answers the batch to store, and what became of the items.
pub fn resolve_batch(
    engine: &Engine,
    now: TimestampMs,
    body: &[u8],
) -> Result<(PointBatch, Outcome), MetricsError> {
    let mut batch = engine.batch();
    let Some(items) = Reader::new(now, engine.memory()).batch(&mut batch, body) else {
        let _reserved = reserve_document(body, engine.memory())?;
        // A new one, since the old one may keep others from making series while the body is read.
        batch = engine.batch();
        let outcome = read_batch(body, now, |point| push(&mut batch, point))?;
        return Ok((batch.finish(), outcome));
    };
    let mut outcome = Outcome::default();
    for item in items {
        let _reserved =
            item.document().map(|text| reserve_document(text, engine.memory())).transpose()?;
        outcome.add(match take(&mut batch, now, item) {
            Ok(()) => Ok(()),
            Err(MetricsError::Input(error)) => Err(error),
            Err(error) => return Err(error),
        });
    }
    Ok((batch.finish(), outcome))
}

/// Reads the items of a batch that stand among other things. Answers the batch to store, and what became of them.
pub fn resolve_items(
    engine: &Engine,
    now: TimestampMs,
    items: Elements<'_>,
) -> (PointBatch, Outcome) {
    let mut batch = engine.batch();
    let outcome = read_items(items, now, |point| push(&mut batch, point));
    (batch.finish(), outcome)
}

fn take(
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
                // An item before it may have made the series.
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

/// Adds a point to a batch.
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

/// The definitions that the filter lets through.
pub(super) fn list(app: &App, filter: &DefinitionFilter) -> DefinitionPage {
    app.engine().metrics(filter)
}

/// The definition of one metric.
pub(super) fn definition(app: &App, name: &str) -> Result<MetricDefinition, MetricsError> {
    app.engine().metric(name)?.ok_or_else(|| MetricsError::NotFound(name.to_owned()))
}

/// The tag keys of a metric, sorted, each with the number of its values.
pub(super) fn tag_keys(app: &App, name: &str) -> Result<Vec<(String, u64)>, MetricsError> {
    Ok(app.engine().tag_keys(name)?)
}

/// The values of one tag of a metric, sorted, each with the number of series that have it; none when no
/// series has the tag.
pub(super) fn tag_values(
    app: &App,
    name: &str,
    key: &str,
) -> Result<Vec<(String, u64)>, MetricsError> {
    Ok(app.engine().tag_values(name, key)?)
}

/// Forgets a metric, its series and its points.
pub(super) fn delete(app: &App, name: &str) -> Result<(), MetricsError> {
    Ok(app.engine().delete_metric(name)?)
}

/// The type of a metric, if there is one of this name.
pub fn kind_of(app: &App, name: &str) -> Option<MetricType> {
    app.engine().metric_type(name)
}

/// Answers a question of another area.
pub fn ask(app: &App, query: &MetricQuery) -> Result<QueryResult, MetricsError> {
    Ok(app.engine().query(query)?)
}

/// Answers a query as JSON.
pub(super) fn answer(app: &App, name: &str, parameters: &Query) -> ApiResult<CountedText> {
    let question = question(app, name, parameters)?;
    let result = app.engine().query(&question.query)?;
    render::answer(&question, &result, app.engine().memory())
}

/// Answers a query of several metrics as JSON, in the order in which they are named.
pub(super) fn answer_several(app: &App, parameters: &Query) -> ApiResult<CountedText> {
    let names: Vec<&str> = parameters.all("metric").collect();
    if names.is_empty() || names.len() > limits::QUERY_METRICS_MAX {
        let max = limits::QUERY_METRICS_MAX;
        return Err(ApiError::parameter("metric", format_args!("must be given 1 to {max} times")));
    }
    let questions: Vec<Question> =
        names.into_iter().map(|name| question(app, name, parameters)).collect::<ApiResult<_>>()?;
    let queries: Vec<MetricQuery> = questions.iter().map(|one| one.query.clone()).collect();
    let mut answers = Answers::list(app.engine().memory())?;
    let mut asked = questions.iter();
    app.engine().query_all(&queries, |result| -> ApiResult<()> {
        asked.next().map_or(Ok(()), |question| answers.push(question, &result))
    })?;
    answers.into_text()
}

/// What a query asks of the metric that it names.
fn question(app: &App, name: &str, parameters: &Query) -> ApiResult<Question> {
    let not_found = || MetricsError::NotFound(name.to_owned());
    let kind = app.engine().metric_type(name).ok_or_else(not_found)?;
    // A text that is no name is the name of no metric.
    let metric = MetricName::new(name).map_err(|_| not_found())?;
    query::read(metric, kind, parameters, app.now())
}
