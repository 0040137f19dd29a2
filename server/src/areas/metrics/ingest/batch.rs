//! Parsing of complete bodies: one item, or `{"metrics": […]}`.

use telltale_engine::{Refusal, TimestampMs};

use super::super::error::MetricsError;
use super::super::model::{Outcome, Point};
use super::input::read_input;
use crate::platform::json::{Elements, Json, with_document};
use crate::platform::telemetry::batch;

/// Parses a body with one item and returns the result of `take` for its sample.
pub fn read_one<T>(
    body: &[u8],
    now: TimestampMs,
    take: impl FnOnce(&Point<'_>) -> Result<T, Refusal>,
) -> Result<T, MetricsError> {
    with_document(body, |document| match document.json() {
        Json::Object(_) => Ok(read_input(document, now, take)?),
        _ => Err(MetricsError::NotAnObject),
    })?
}

/// Parses a body with a batch and passes the samples of its valid items to `take`, in order. An
/// invalid batch is refused before the first sample is passed; an item that `take` refuses is an
/// invalid item.
pub fn read_batch(
    body: &[u8],
    now: TimestampMs,
    take: impl FnMut(&Point<'_>) -> Result<(), Refusal>,
) -> Result<Outcome, MetricsError> {
    with_document(body, |document| Ok(read_items(batch::items(document, "metrics")?, now, take)))?
}

/// Parses the items of a batch and passes the samples of the valid ones to `take`, in order.
pub(in crate::areas::metrics) fn read_items(
    items: Elements<'_>,
    now: TimestampMs,
    mut take: impl FnMut(&Point<'_>) -> Result<(), Refusal>,
) -> Outcome {
    Outcome::of(items, |item| read_input(item, now, &mut take))
}
