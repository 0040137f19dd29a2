//! The HTTP route of the NDJSON import.

use std::sync::Arc;

use schemars::{Schema, SchemaGenerator, json_schema};

use super::lines::Lines;
use crate::app::App;
use crate::areas::bulk::intake;
use crate::areas::metrics::MetricInput;
use crate::http::{
    ApiResult, BodyDoc, BodyKind, BulkOutcome, Data, Doc, LimitClass, Request, Response, Route,
    Scope,
};

/// The routes of the protocol.
pub static ROUTES: &[Route] = &[Route::post("/api/v1/import", &import)
    .scope(Scope::Ingest)
    .limit(LimitClass::Unlimited)
    .body(BodyKind::Bulk)
    .any_query()
    .doc(IMPORT)];

async fn import(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_body();
    let bytes = body.len();
    let lines = Lines::new(body, app.now(), app.engine().memory());
    intake::store(&app, &req, bytes, lines, |outcome| Response::ok(&Data { data: outcome })).await
}

fn lines(generator: &mut SchemaGenerator) -> Schema {
    let line = generator.subschema_for::<MetricInput>();
    json_schema!({
        "type": "string",
        "contentMediaType": "application/x-ndjson",
        "description": "One metric input per line.",
        "x-line": line,
    })
}

const IMPORT: Doc = Doc::new("Bulk protocols", "Import metrics as NDJSON")
    .about(
        "One metric input per line, any number of lines; the content type is ignored. Valid lines are \
         stored. Invalid lines, including lines that are not JSON, are counted, and the first 50 are \
         reported with their line number (from 1) and their index among the non-empty lines (from 0). \
         A body of more than a million samples is stored in several writes; if it is sent again after a \
         failure with the same `Idempotency-Key`, it resumes after the stored part.",
    )
    .body(BodyDoc {
        media: "application/x-ndjson",
        schema: lines,
        required: false,
        example: "{\"name\":\"cpu.usage\",\"type\":\"gauge\",\"value\":42.5}\n{\"name\":\"logins\",\"type\":\"counter\",\"value\":3}\n",
    })
    .ok::<Data<BulkOutcome>>()
    .ext();
