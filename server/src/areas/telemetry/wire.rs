//! The JSON types of the area: the response type, and the schema of the request.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::ops::Outcomes;
use crate::areas::events::EventInput;
use crate::areas::metrics::MetricInput;
use crate::http::BatchAnswer;
use crate::limits::BATCH_ITEMS_MAX;

/// The result of a combined batch.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TelemetryBatchAnswer")]
pub(super) struct CombinedAnswer {
    events: BatchAnswer,
    metrics: BatchAnswer,
}

/// The schema of a combined batch.
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
