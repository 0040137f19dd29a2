//! The HTTP route of OTLP.

use std::sync::Arc;

use schemars::{Schema, SchemaGenerator, json_schema};

use super::export::{Export, Rules};
use super::request::Encoding;
use super::response::{ExportResponse, respond};
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
    let (now, process_start, chosen) = (app.now(), app.began(), Arc::clone(app.otlp()));
    let export = Export::new(request, Rules { now, process_start, chosen });
    intake::store(&app, &req, bytes, export, |outcome| respond(encoding, &outcome)).await
}

/// Decodes and validates a request; a large one on a blocking thread.
async fn open(app: &Arc<App>, encoding: Encoding, body: Vec<u8>) -> ApiResult<Vec<u8>> {
    if body.len() <= BULK_INLINE_BYTES_MAX {
        return Ok(encoding.open(body)?);
    }
    app.blocking(move |_| encoding.open(body)).await
}

const PROTOBUF: &str = "application/x-protobuf";

const EXPORT: Doc = Doc::new("Bulk protocols", "Export metrics by OTLP/HTTP")
        .about(
            "`ExportMetricsServiceRequest` of OpenTelemetry, as protobuf (`application/x-protobuf`) or in its JSON \
             mapping (`application/json`); the response has the same encoding. For SDKs: \
             `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=…/v1/metrics` and \
             `OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20tt_…`.\n\n\
             A gauge is stored as a gauge, a delta sum as a counter. A monotonic cumulative sum is stored as a counter \
             that contains the increases between consecutive data points, across restarts of either side. The first data \
             point of a series counts in full if its start time is not before the start of this server; otherwise it only \
             sets the value that later data points are compared with. A non-monotonic cumulative sum is stored as a \
             gauge. Histograms and exponential histograms of both temporalities are stored as distributions. Summaries \
             are ignored.\n\n\
             The attributes of data points become tags; so do the resource and scope attributes named in the settings \
             `otlp.resource_attributes` and `otlp.scope_attributes`. Valid data points are stored even if others are \
             invalid: `partialSuccess` contains the number of rejected data points and the first reasons. A request that \
             cannot be parsed stores nothing.",
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
