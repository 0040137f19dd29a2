//! The HTTP route of remote-write.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use schemars::{Schema, SchemaGenerator, json_schema};

use super::Version;
use super::request::{WriteRequest, WrittenCounts};
use crate::app::App;
use crate::areas::bulk::intake;
use crate::http::{
    ApiError, ApiResult, BodyDoc, BodyEncoding, BodyKind, BulkOutcome, Doc, LimitClass, Request,
    Response, Route, Scope,
};

/// The routes of the protocol.
pub static ROUTES: &[Route] = &[Route::post("/api/v1/write", &write)
    .scope(Scope::Ingest)
    .limit(LimitClass::Unlimited)
    .body(BodyKind::Bulk)
    .any_query()
    .packing(BodyEncoding::Snappy)
    .doc(WRITE)];

async fn write(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let version = Version::of(req.headers())?;
    let body = req.take_body();
    let bytes = body.len();
    let request = WriteRequest::new(body, version, app.now(), app.families().clone());
    let finish = |request: WriteRequest<_>, outcome| match request.end() {
        Ok(written) => respond(version, written, outcome),
        Err(refused) => {
            Err(add_counts(version, WrittenCounts::default(), refused.into(), ApiError::header))
        }
    };
    intake::store_with_reader(&app, &req, bytes, request, finish).await
}

fn respond(version: Version, written: WrittenCounts, outcome: BulkOutcome) -> ApiResult<Response> {
    match outcome.refusal("samples") {
        Ok(()) => Ok(add_counts(version, written, Response::no_content(), Response::header)),
        Err(refusal) => Err(add_counts(version, written, refusal, ApiError::header)),
    }
}

/// Adds the numbers of stored values to a response of version 2. Exemplars are never stored.
fn add_counts<T>(
    version: Version,
    written: WrittenCounts,
    response: T,
    add: impl Fn(T, HeaderName, HeaderValue) -> T,
) -> T {
    if version == Version::V1 {
        return response;
    }
    [(SAMPLES, written.samples), (HISTOGRAMS, written.histograms), (EXEMPLARS, 0)]
        .into_iter()
        .fold(response, |response, (name, count)| add(response, name, HeaderValue::from(count)))
}

const SAMPLES: HeaderName = HeaderName::from_static("x-prometheus-remote-write-samples-written");
const HISTOGRAMS: HeaderName =
    HeaderName::from_static("x-prometheus-remote-write-histograms-written");
const EXEMPLARS: HeaderName =
    HeaderName::from_static("x-prometheus-remote-write-exemplars-written");

const WRITE: Doc = Doc::new("Bulk protocols", "Write by Prometheus remote-write")
        .about(
            "Remote-write 1.0 (`application/x-protobuf`) and 2.0 \
             (`application/x-protobuf;proto=io.prometheus.write.v2.Request`), compressed in the block format of Snappy; a \
             body without `Content-Encoding` is assumed to be compressed as well. For Prometheus: `remote_write: [{url: \
             …/api/v1/write, authorization: {credentials: tt_…}}]`.\n\n\
             `__name__` is the metric, the other labels are its tags; a label with an empty value is ignored. A new metric \
             gets its type from the metadata or, without metadata, from its name: a counter if the metadata says that it \
             is cumulative or the name ends in `_total`, `_count`, `_sum` or `_bucket`, otherwise a gauge; native \
             histograms are distributions. A counter stores the increases between consecutive cumulative samples, across \
             restarts of either side. The first sample of a series only sets the value that later ones are compared with, \
             unless version 2 reports a start time within the five minutes before it. Staleness markers are accepted and \
             store nothing; exemplars are ignored.\n\n\
             Valid samples are stored even if others are invalid; the response is then `invalid_parameter`, with \
             `details.accepted`, `rejected` and the first 50 `errors`, each with the `index` of its series in the request. \
             Responses to 2.0 report the numbers of stored values in `X-Prometheus-Remote-Write-Samples-Written`, \
             `-Histograms-Written` and `-Exemplars-Written`.",
        )
        .body(BodyDoc { media: "application/x-protobuf", schema: message, required: false, example: "" })
        .no_content()
        .ext();

fn message(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "format": "binary",
        "description": "`prometheus.WriteRequest` or `io.prometheus.write.v2.Request`, depending on the content type.",
    })
}
