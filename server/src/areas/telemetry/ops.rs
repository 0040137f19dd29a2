//! The one operation of the area: parses a body into the write that stores it and the outcome to
//! respond with.

use telltale_engine::{Engine, TimestampMs, Write};

use super::error::TelemetryError;
use crate::areas::{events, metrics};
use crate::limits;
use crate::platform::json::{reserve_document, with_document};
use crate::platform::telemetry::batch;

/// The outcomes of a combined batch.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// The outcome of its events.
    pub(super) events: events::Outcome,
    /// The outcome of its metrics.
    pub(super) metrics: metrics::Outcome,
}

/// Parses a body with events, metrics or both. Returns the write that stores them and the outcomes
/// of the items.
pub(super) fn resolve(
    engine: &Engine,
    now: TimestampMs,
    body: &[u8],
) -> Result<(Write, Outcomes), TelemetryError> {
    let _reserved = reserve_document(body, engine.memory())?;
    with_document(body, |document| {
        let events = batch::list(document, "events")?;
        let metrics = batch::list(document, "metrics")?;
        let items = events.map_or(0, |e| e.len()) + metrics.map_or(0, |m| m.len());
        if items > limits::BATCH_ITEMS_MAX {
            return Err(TelemetryError::TooLong(items));
        }
        let (mut write, mut outcomes) = (Write::default(), Outcomes::default());
        if let Some(items) = events {
            let (batch, outcome) = events::resolve_items(engine, now, items);
            (write.events, outcomes.events) = (Some(batch), outcome);
        }
        if let Some(items) = metrics {
            (write.points, outcomes.metrics) = metrics::resolve_items(engine, now, items);
        }
        Ok((write, outcomes))
    })?
}

impl Outcomes {
    /// Returns whether any item was accepted.
    pub(super) fn any_accepted(&self) -> bool {
        self.events.accepted + self.metrics.accepted > 0
    }
}
