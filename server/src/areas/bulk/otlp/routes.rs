//! The route of the protocol: parse, act, answer.

use std::sync::Arc;

use schemars::{Schema, SchemaGenerator, json_schema};

use super::answer::{ExportResponse, answer};
use super::export::{Export, Rules};
use super::request::Encoding;
use crate::app::App;
use crate::areas::bulk::intake;
use crate::http::{
    ApiResult, BodyDoc, BodyKind, Doc, ErrorCode, LimitClass, Request, Response, Route, Scope, Twin,
};
use crate::limits::BULK_INLINE_BYTES_MAX;

/// The routes of the protocol.
pub static ROUTES: &[Route] = &[Route::post("/v1/metrics", &export)
    .scope(Scope::Ingest)
    .limit(LimitClass::Unlimited)
    .body(BodyKind::Bulk)
    .any_query()
    .doc(EXPORT)];

async fn export(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let encoding = Encoding::of(req.headers())?;
    let request = open(&app, encoding, req.take_body()).await?;
    let bytes = request.len();
    let (now, began, chosen) = (app.now(), app.began(), Arc::clone(app.otlp_attributes()));
    let export = Export::new(request, Rules { now, began, chosen });
    intake::store(&app, &req, bytes, export, |outcome| answer(encoding, &outcome)).await
}

/// Reads a request to its end; a large one beside the threads that serve connections.
async fn open(app: &Arc<App>, encoding: Encoding, body: Vec<u8>) -> ApiResult<Vec<u8>> {
    if body.len() <= BULK_INLINE_BYTES_MAX {
        return Ok(encoding.open(body)?);
    }
    app.blocking(move |_| encoding.open(body)).await
}

const PROTOBUF: &str = "application/x-protobuf";

const EXPORT: Doc = Doc::new("Bulk protocols", "Export metrics by OTLP/HTTP")
        .about(
            "`ExportMetricsServiceRequest` of OpenTelemetry, as protobuf (`application/x-protobuf`) or in the JSON mapping \
             (`application/json`); the answer is in the same encoding. For SDKs: \
             `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=…/v1/metrics` and \
             `OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20tt_…`.\n\n\
             A gauge is a gauge. A delta sum is a counter. Of a cumulative sum that only grows a counter is stored that has \
             what was added from one data point to the next, over restarts of either side; the first data point of a series \
             counts from zero when its start is not before the start of this server, and is else what later ones are compared \
             with. A cumulative sum that also sinks is a gauge. Histograms and exponential histograms, of both \
             temporalities, are distributions. Summaries are passed over.\n\n\
             The attributes of data points are tags; so are those attributes of resource and scope that the settings \
             `otlp.resource_attributes` and `otlp.scope_attributes` name. Good data points are stored, also when others are \
             bad: `partialSuccess` tells how many were rejected, and the first reasons. A request that cannot be read \
             stores nothing.",
        )
        .body(BodyDoc { media: PROTOBUF, schema: message, required: false, example: "" })
    .encoded(PROTOBUF, answer_message)
    .twin(Twin { media: "application/json", request: json_message, answer: SchemaGenerator::subschema_for::<ExportResponse> })
        .errors(&[ErrorCode::InvalidJson, ErrorCode::UnsupportedMediaType])
        .ext();

fn answer_message(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "format": "binary",
        "description": "`opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse`.",
    })
}

fn json_message(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "`opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest` in the JSON mapping of OTLP.",
    })
}

fn message(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "format": "binary",
        "description": "`opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest`.",
    })
}
