//! The HTTP routes of the line protocol: write in versions 1 and 2, ping and health. Databases,
//! buckets and organisations named by clients are ignored.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use schemars::SchemaGenerator;

use super::lines::Lines;
use super::timestamp::Precision;
use super::wire::Health;
use crate::app::App;
use crate::areas::bulk::intake;
use crate::http::{
    ApiError, ApiResult, BodyDoc, BodyKind, BulkOutcome, Doc, Form, LimitClass, Param, Request,
    Response, Route, Scope,
};

/// The routes of the protocol.
pub static ROUTES: &[Route] = &[
    Route::post("/api/v1/influx/write", &write)
        .scope(Scope::Ingest)
        .limit(LimitClass::Unlimited)
        .body(BodyKind::Bulk)
        .any_query()
        .doc(WRITE),
    Route::post("/api/v1/influx/api/v2/write", &write_v2)
        .scope(Scope::Ingest)
        .limit(LimitClass::Unlimited)
        .body(BodyKind::Bulk)
        .any_query()
        .doc(WRITE_V2),
    Route::get("/api/v1/influx/ping", &ping)
        .public()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(PING),
    Route::get("/api/v1/influx/health", &health)
        .public()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(HEALTH),
];

async fn write(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let precision = precision(&req, Precision::parse, "n, ns, u, us, ms, s, m or h")?;
    store(&app, req, precision).await
}

async fn write_v2(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let precision = precision(&req, Precision::parse_v2, "ns, us, ms or s")?;
    store(&app, req, precision).await
}

async fn store(app: &Arc<App>, mut req: Request, precision: Precision) -> ApiResult<Response> {
    let body = req.take_body();
    let bytes = body.len();
    let lines = Lines::new(body, precision, app.now());
    let respond = |outcome: BulkOutcome| outcome.refusal("lines").map(|()| Response::no_content());
    intake::store(app, &req, bytes, lines, respond).await
}

async fn ping(_: Arc<App>, _: Request) -> ApiResult<Response> {
    Ok(Response::no_content().header(VERSION_HEADER, HeaderValue::from_static(VERSION)))
}

async fn health(_: Arc<App>, _: Request) -> ApiResult<Response> {
    let message = "ready for writes";
    let health = Health { name: "telltale", message, status: "pass", version: VERSION };
    Response::ok(&health)
}

fn precision(
    req: &Request,
    parse: fn(&str) -> Option<Precision>,
    expected: &str,
) -> ApiResult<Precision> {
    match req.query().one("precision")? {
        None | Some("") => Ok(Precision::default()),
        Some(text) => parse(text).ok_or_else(|| {
            ApiError::parameter("precision", format_args!("must be one of {expected}"))
        }),
    }
}

/// The header from which clients read the server's version.
const VERSION_HEADER: HeaderName = HeaderName::from_static("x-influxdb-version");
const VERSION: &str = concat!("telltale-", env!("CARGO_PKG_VERSION"));

const TAG: &str = "Bulk protocols";

const LINES: BodyDoc = BodyDoc {
    media: "text/plain",
    schema: SchemaGenerator::subschema_for::<String>,
    required: false,
    example: "cpu,host=web-1 usage=42.5,steal=0\nsessions value=3i\n",
};

const WRITE: Doc = Doc::new(TAG, "Write Influx line protocol")
    .about(
        "One line per point: `measurement,tag=value field=1.5,other=2i 1767323045678000000`; any \
         number of lines, the content type is ignored. A field becomes a sample of the gauge \
         `measurement.field`, a field named `value` one of the gauge `measurement`; booleans are stored \
         as 1 and 0; string fields are ignored. A line without a timestamp gets the time of receipt. \
         Valid lines are stored even if others are invalid; the response is then `invalid_parameter`, \
         with `details.accepted`, `rejected`, `skipped` and the first 50 `errors`, each with its `line`. \
         Database, bucket and organisation parameters are ignored, and databases cannot be created: set \
         `skip_database_creation = true` in Telegraf. The API key may also be sent as \
         `Authorization: Token <key>` or as the password of `Basic` authentication.",
    )
    .parameters(&[Param::query("precision", "The unit of timestamps. Default: nanoseconds.")
        .form(Form::OneOf(&["n", "ns", "u", "us", "ms", "s", "m", "h"]))])
    .body(LINES)
    .no_content()
    .ext();

const WRITE_V2: Doc = Doc::new(TAG, "Write Influx line protocol (v2 clients)")
    .about("Same as `POST /api/v1/influx/write`, for clients whose URL is `/api/v1/influx`.")
    .parameters(&[Param::query("precision", "The unit of timestamps. Default: nanoseconds.")
        .form(Form::OneOf(&["ns", "us", "ms", "s"]))])
    .body(LINES)
    .no_content()
    .ext();

const PING: Doc = Doc::new(TAG, "Ping for InfluxDB clients").no_content().ext();

const HEALTH: Doc = Doc::new(TAG, "Health check for InfluxDB clients").ok::<Health>().ext();
