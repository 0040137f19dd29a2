//! The route of the protocol: parse, act, answer.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use schemars::{Schema, SchemaGenerator, json_schema};

use super::Version;
use super::request::{WriteRequest, Written};
use crate::app::App;
use crate::areas::bulk::intake;
use crate::http::{
    ApiError, ApiResult, BodyDoc, BodyKind, BulkOutcome, Doc, LimitClass, Packing, Request,
    Response, Route, Scope,
};

/// The routes of the protocol.
pub static ROUTES: &[Route] = &[Route::post("/api/v1/write", &write)
    .scope(Scope::Ingest)
    .limit(LimitClass::Unlimited)
    .body(BodyKind::Bulk)
    .any_query()
    .packing(Packing::Snappy)
    .doc(WRITE)];

async fn write(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let version = Version::of(req.headers())?;
    let body = req.take_body();
    let bytes = body.len();
    let request = WriteRequest::new(body, version, app.now(), app.families().clone());
    let answer = |request: WriteRequest<_>, outcome| match request.end() {
        Ok(written) => answer(version, written, outcome),
        Err(refused) => Err(tell(version, Written::default(), refused.into(), ApiError::header)),
    };
    intake::store_and_ask(&app, &req, bytes, request, answer).await
}

fn answer(version: Version, written: Written, outcome: BulkOutcome) -> ApiResult<Response> {
    match outcome.refusal("samples") {
        Ok(()) => Ok(tell(version, written, Response::no_content(), Response::header)),
        Err(refusal) => Err(tell(version, written, refusal, ApiError::header)),
    }
}

/// Adds to an answer of version 2 how much was stored. Exemplars never are.
fn tell<T>(
    version: Version,
    written: Written,
    answer: T,
    add: impl Fn(T, HeaderName, HeaderValue) -> T,
) -> T {
    if version == Version::V1 {
        return answer;
    }
    [(SAMPLES, written.samples), (HISTOGRAMS, written.histograms), (EXEMPLARS, 0)]
        .into_iter()
        .fold(answer, |answer, (name, count)| add(answer, name, HeaderValue::from(count)))
}

const SAMPLES: HeaderName = HeaderName::from_static("x-prometheus-remote-write-samples-written");
const HISTOGRAMS: HeaderName =
    HeaderName::from_static("x-prometheus-remote-write-histograms-written");
const EXEMPLARS: HeaderName =
    HeaderName::from_static("x-prometheus-remote-write-exemplars-written");

const WRITE: Doc = Doc::new("Bulk protocols", "Write by Prometheus remote-write")
        .about(
            "Remote-write 1.0 (`application/x-protobuf`) and 2.0 \
             (`application/x-protobuf;proto=io.prometheus.write.v2.Request`), packed by Snappy in its block format, which \
             is also what a body is taken for that names no `Content-Encoding`. For Prometheus: `remote_write: [{url: \
             …/api/v1/write, authorization: {credentials: tt_…}}]`.\n\n\
             `__name__` is the metric, the other labels are its tags; a label without a value is none. A metric that does \
             not exist gets its type from the metadata, or else from its name: a counter where it says that counts grow, or \
             ends in `_total`, `_count`, `_sum` or `_bucket`, a gauge otherwise, a distribution for native histograms. \
             What is stored of a counter is what was added from one reading to the next, over restarts of either side; the \
             first reading of a series is what later ones are compared with, unless version 2 says that it began counting \
             in the last five minutes. Markers of ended series are taken and store nothing; exemplars are passed over.\n\n\
             Good samples are stored, also when others are bad: those are `invalid_parameter`, with `details.accepted`, \
             `rejected` and the first 50 `errors`, each with the `index` of its series in the request. Answers to 2.0 tell \
             in `X-Prometheus-Remote-Write-Samples-Written`, `-Histograms-Written` and `-Exemplars-Written` how many were \
             stored.",
        )
        .body(BodyDoc { media: "application/x-protobuf", schema: message, required: false, example: "" })
        .no_content()
        .ext();

fn message(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "format": "binary",
        "description": "`prometheus.WriteRequest` or `io.prometheus.write.v2.Request`, as the content type says.",
    })
}
