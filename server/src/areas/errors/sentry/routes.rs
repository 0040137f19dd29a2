//! The routes of the Sentry protocol. A DSN names a key, and any number as the project, which
//! separates event ids.

use std::sync::Arc;

use schemars::SchemaGenerator;

use super::envelope::Envelope;
use super::intake::{Intake, calls_of};
use super::{skim, untaken};
use crate::app::App;
use crate::areas::errors::error::ErrorsError;
use crate::areas::errors::event_id::format_event_id;
use crate::areas::errors::model::Sender;
use crate::areas::errors::ops;
use crate::areas::errors::prepare::PreparedOccurrence;
use crate::areas::errors::wire::SentryAnswer;
use crate::http::{
    ApiResult, BodyDoc, BodyEncoding, BodyKind, Doc, DsnIn, ErrorCode, Form, Handle, LimitClass,
    Param, Request, Response, Route, Scope,
};

/// The routes of the protocol. SDKs send the trailing slash; proxies and people leave it out.
pub static ROUTES: &[Route] = &[
    route("/api/{project}/envelope/", &envelope, Some(dsn_in_envelope))
        .charges(calls_of)
        .sifting(skim::SIFTING)
        .doc(ENVELOPE),
    route("/api/{project}/envelope", &envelope, Some(dsn_in_envelope))
        .charges(calls_of)
        .sifting(skim::SIFTING)
        .doc(ENVELOPE),
    route("/api/{project}/store/", &store, None).doc(STORE),
    route("/api/{project}/store", &store, None).doc(STORE),
];

const fn route(path: &'static str, handler: &'static dyn Handle, dsn_in: Option<DsnIn>) -> Route {
    Route::post(path, handler)
        .dsn(Scope::Ingest, dsn_in)
        .limit(LimitClass::Single)
        .body(BodyKind::Bulk)
        .any_query()
        .packing(BodyEncoding::Brotli)
        .cors()
}

async fn envelope(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let (body, origin) = (req.take_body(), origin(&req)?);
    let read = move |intake: &mut Intake<'_>, body: &[u8]| intake.envelope(body);
    ingest(app, origin, body, read).await
}

async fn store(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let (body, origin) = (req.take_body(), origin(&req)?);
    let read = move |intake: &mut Intake<'_>, body: &[u8]| {
        let event = intake.event(body, None)?;
        let id = event.event_id;
        Ok((vec![event], Some(id)))
    };
    ingest(app, origin, body, read).await
}

/// Returns the DSN in the headers of an envelope.
fn dsn_in_envelope(body: &[u8]) -> Option<String> {
    Envelope::open(body).ok().and_then(|envelope| envelope.dsn)
}

/// The events of a body, and the id to respond with.
type ParsedBody = (Vec<PreparedOccurrence>, Option<u128>);

/// Parses a body and stores its events.
async fn ingest(
    app: Arc<App>,
    origin: (Sender, u64),
    body: Vec<u8>,
    read: impl FnOnce(&mut Intake<'_>, &[u8]) -> Result<ParsedBody, ErrorsError> + Send + 'static,
) -> ApiResult<Response> {
    let admit = move |app: &App| {
        let new_id = || app.new_number();
        let (scrubber, memory) = (app.errors().scrubber(), app.engine().memory());
        let mut intake = Intake::new(scrubber, memory, origin, app.now(), &new_id);
        let (events, id) = read(&mut intake, &body)?;
        Ok::<_, ErrorsError>((ops::admit(app, &events)?, id))
    };
    let (admitted, id) = app.blocking(admit).await?;
    ops::store(&app, admitted, None).await?;
    Ok(untaken::with_rate_limits(Response::ok(&SentryAnswer { id: id.map(format_event_id) })?))
}

/// Returns the sender, and the project of the path, which may be any number.
fn origin(req: &Request) -> Result<(Sender, u64), ErrorsError> {
    let text = req.param("project");
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let project = is_number.then(|| text.parse().ok()).flatten().ok_or(ErrorsError::Project)?;
    Ok((Sender::of(req.identity().key_id()), project))
}

const TAG: &str = "Errors";
const PROJECT: [Param; 1] =
    [Param::path("project", "The project: any number, the last part of the DSN.")
        .form(Form::Pattern("^[0-9]{1,19}$"))
        .example("1")];

const ENVELOPE_BODY: BodyDoc = BodyDoc {
    media: "application/octet-stream",
    schema: SchemaGenerator::subschema_for::<String>,
    required: true,
    example: "",
};

const ENVELOPE: Doc = Doc::new(TAG, "Ingest an envelope of a Sentry SDK")
    .about(
        "The DSN is `https://<key id>:<secret>@<host>/<any number>`, or without the secret for a key created with \
         `public_ingest`. The key may be given in `X-Sentry-Auth`, as `sentry_key` in the query string, or in the `dsn` of \
         the envelope; if it is given several times, all must agree. Bodies may be compressed with gzip, deflate, br or zstd. \
         Events are stored; items of other types are accepted and dropped. The response is sent when the events are durable. \
         An event whose id is already stored is acknowledged and not stored again. Each event counts against the quota of the \
         key, items of other types do not. Beyond the quota the response is 429 with `Retry-After` and \
         `X-Sentry-Rate-Limits`. Every response has that header: it lists the categories of items that are not stored, so \
         that SDKs stop sending them. An envelope may have at most 200 MiB after decompression, and 32 MiB (`bodies.bulk`) \
         without the dropped items. An envelope compressed with deflate or br has the same 32 MiB limit before decompression, \
         and one with the key only in its first line is limited to 1 MiB (`bodies.json`).",
    )
    .parameters(&PROJECT)
    .body(BodyDoc { media: "application/x-sentry-envelope", ..ENVELOPE_BODY })
    .ok::<SentryAnswer>()
    .errors(&[ErrorCode::InvalidJson, ErrorCode::NotFound, ErrorCode::PayloadTooLarge])
    .ext();

const STORE: Doc = Doc::new(TAG, "Ingest a single event of an old Sentry SDK")
    .about("The body is the event; otherwise the same as for envelopes.")
    .parameters(&PROJECT)
    .body(ENVELOPE_BODY)
    .ok::<SentryAnswer>()
    .errors(&[ErrorCode::InvalidJson, ErrorCode::NotFound, ErrorCode::PayloadTooLarge])
    .ext();
