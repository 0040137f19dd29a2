//! The JSON of the area: the answer as it is written, the request as it is described.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::ops::Outcomes;
use crate::areas::events::EventInput;
use crate::areas::metrics::MetricInput;
use crate::http::BatchAnswer;
use crate::limits::BATCH_ITEMS_MAX;

/// What became of a combined batch.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TelemetryBatchAnswer")]
pub(super) struct CombinedAnswer {
    events: BatchAnswer,
    metrics: BatchAnswer,
}

/// What a combined batch sends.
pub(super) enum CombinedInput {}

impl From<Outcomes> for CombinedAnswer {
    fn from(outcomes: Outcomes) -> Self {
        Self { events: outcomes.events.into(), metrics: outcomes.metrics.into() }
    }
}

impl JsonSchema for CombinedInput {
    fn schema_name() -> Cow<'static, str> {
        "TelemetryBatchInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let event = generator.subschema_for::<EventInput>();
        let metric = generator.subschema_for::<MetricInput>();
        json_schema!({
            "type": "object",
            "description": format!("Up to {BATCH_ITEMS_MAX} items in all."),
            "properties": {
                "events": { "type": ["array", "null"], "maxItems": BATCH_ITEMS_MAX, "items": event },
                "metrics": { "type": ["array", "null"], "maxItems": BATCH_ITEMS_MAX, "items": metric }
            }
        })
    }
}
