//! Whole bodies: one input, or `{"metrics": […]}`.

use telltale_engine::{Refusal, TimestampMs};

use super::super::error::MetricsError;
use super::super::model::{Outcome, Point};
use super::input::read_input;
use crate::platform::json::{Elements, Json, with_document};
use crate::platform::telemetry::batch;

/// Reads a body that is one input and answers what `take` makes of its point.
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

/// Reads a body that is a batch and hands the points of its good items to `take`, in their order. Refuses the
/// whole batch before the first point is handed over, or not at all; what `take` refuses is a bad item.
pub fn read_batch(
    body: &[u8],
    now: TimestampMs,
    take: impl FnMut(&Point<'_>) -> Result<(), Refusal>,
) -> Result<Outcome, MetricsError> {
    with_document(body, |document| Ok(read_items(batch::items(document, "metrics")?, now, take)))?
}

/// Reads the items of a batch and hands the points of the good ones to `take`, in their order.
pub(in crate::areas::metrics) fn read_items(
    items: Elements<'_>,
    now: TimestampMs,
    mut take: impl FnMut(&Point<'_>) -> Result<(), Refusal>,
) -> Outcome {
    Outcome::of(items, |item| read_input(item, now, &mut take))
}
