//! The one verb of the area: a body to what is stored and what is answered.

use telltale_engine::{Engine, TimestampMs, Write};

use super::error::TelemetryError;
use crate::areas::{events, metrics};
use crate::limits;
use crate::platform::json::{reserve_document, with_document};
use crate::platform::telemetry::batch;

/// What became of a combined batch.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// Of its events.
    pub(super) events: events::Outcome,
    /// Of its metrics.
    pub(super) metrics: metrics::Outcome,
}

/// Reads a body with events, metrics or both. Answers the one write that stores them, and what became of the items.
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
    /// Whether there is anything to store.
    pub(super) fn any_accepted(&self) -> bool {
        self.events.accepted + self.metrics.accepted > 0
    }
}
