//! The routes of the area and their handlers.

use std::sync::Arc;

use super::wire::{BatchInput, CountAnswer, EventInput, ListAnswer, Stats, Tracked};
use super::{ops, respond};
use crate::app::App;
use crate::http::{
    ApiResult, BatchAnswer, BodyKind, Data, Doc, ErrorCode, Form, LimitClass, PAGING, Param,
    Request, Response, Route, Scope,
};
use crate::platform::telemetry::buckets::WIDTH_PATTERN;

/// The routes of the area.
pub static ROUTES: &[Route] = &[
    Route::post("/api/v1/events", &track).scope(Scope::Ingest).limit(LimitClass::Single).doc(TRACK),
    Route::post("/api/v1/events/batch", &track_batch)
        .scope(Scope::Ingest)
        .limit(LimitClass::Batch)
        .body(BodyKind::Batch)
        .doc(TRACK_BATCH),
    Route::get("/api/v1/events", &list).limit(LimitClass::Query).doc(LIST),
    Route::get("/api/v1/events/count", &count).limit(LimitClass::Query).doc(COUNT),
    Route::get("/api/v1/events/stats", &stats).limit(LimitClass::Query).doc(STATS),
];

async fn track(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_json_body()?;
    let (events, tracked) = ops::resolve_one(app.engine(), app.now(), &body, Tracked::new)?;
    let response = Response::created(&Data { data: tracked })?;
    let receipt = req.receipt(&response);
    ops::store(&app, events, receipt).await?;
    Ok(response)
}

async fn track_batch(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_json_body()?;
    let work = |app: &App, body: &[u8]| ops::resolve_batch(app.engine(), app.now(), body);
    let (events, outcome) = app.parse(body, work).await?;
    let response = Response::ok(&Data { data: BatchAnswer::from(outcome) })?;
    let receipt = req.receipt(&response);
    if !events.is_empty() || receipt.is_some() {
        ops::store(&app, events, receipt).await?;
    }
    Ok(response)
}

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let response = app.query(move |app| respond::list(app, req.query())).await?;
    Ok(Response::counted(response))
}

async fn count(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let response = app.query(move |app| respond::count(app, req.query())).await?;
    Ok(Response::counted(response))
}

async fn stats(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let numbers = app.query(move |app| respond::stats(app, req.query())).await?;
    Response::ok(&Data { data: Stats::new(&numbers) })
}

const TAG: &str = "Events";

const TRACK: Doc = Doc::new(TAG, "Track one event")
    .about("Responds when the event is durable according to the server's configuration.")
    .request::<EventInput>(
        r#"{"name": "order.paid", "user_id": "u-1", "value": 49.9, "tags": {"region": "eu"}}"#,
    )
    .created::<Data<Tracked>>()
    .errors(&[
        ErrorCode::InvalidJson,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::ReservedName,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidValue,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTags,
    ]);

const TRACK_BATCH: Doc = Doc::new(TAG, "Track up to 500 events")
    .about(
        "Valid items are stored; invalid items are counted and the first 50 listed. A body that is not JSON or has more than \
         500 items stores nothing.",
    )
    .request::<BatchInput>(r#"{"events": [{"name": "order.paid", "value": 49.9}]}"#)
    .ok::<Data<BatchAnswer>>()
    .errors(&[
        ErrorCode::InvalidJson,
        ErrorCode::InvalidParameter,
        ErrorCode::MissingField,
        ErrorCode::BatchTooLarge,
    ]);

pub(super) const NAME: Param = Param::query(
    "name",
    "Only events of this name; `order.*` and `order*` match names by prefix. Events that the server generates, such as `telltale.error`, \
     are matched only by names that begin with `telltale`.",
)
.example("order.*");
pub(super) const USER: Param =
    Param::query("user_id", "Only events of this user.").form(Form::Filled).example("u-1");
pub(super) const TAGS: Param = Param::query(
    "tags[key]",
    "Only events whose tag matches: `v` (equal), `a,b` (any of these), `!v` (not equal), `v*` (prefix), empty (events without the tag). A `\\` \
     before `,`, `!`, `*` or `\\` escapes that character. May be repeated.",
)
.form(Form::Tags)
.example("eu*");
pub(super) const FROM: Param = Param::query(
    "from",
    "Start, inclusive. Default: 24 hours before `to`. A date means 00:00 UTC of that day.",
)
.form(Form::Time);
pub(super) const TO: Param =
    Param::query("to", "End, exclusive. Default: now. A date means the end of that day in UTC.")
        .form(Form::Time);

const LIST: Doc = Doc::new(TAG, "List events, newest first")
    .about(
        "Events of the same time are ordered by id, descending. Pass `meta.next_cursor` as `cursor` to get the next page; \
         the pages stay consistent while new events arrive.",
    )
    .parameters(&[
        NAME,
        Param::query("from", "Start, inclusive. Default: all retained events. A date means 00:00 UTC of that day.")
            .form(Form::Time),
        Param::query("to", "End, exclusive. Default: no end. A date means the end of that day in UTC.").form(Form::Time),
        USER,
        TAGS,
        PAGING[0],
        PAGING[1],
        Param::query("cursor", "Only events after the page whose `next_cursor` this is.")
            .form(Form::Pattern("^[0-7][0-9A-HJKMNP-TV-Z]{25}(0|[1-9a-f][0-9a-f]{0,11})$")),
    ])
    .ok::<ListAnswer>()
    .errors(&[ErrorCode::InvalidTimestamp, ErrorCode::InvalidRange, ErrorCode::InvalidParameter]);

const COUNT: Doc = Doc::new(TAG, "Count events")
    .about(
        "Buckets are aligned to the epoch, and their timestamp is their start; empty ones are omitted. With `group_by`, the \
         response contains `groups`, and `series` only if `interval` is given: then one for each group.",
    )
    .parameters(&[
        NAME,
        FROM,
        TO,
        Param::query("interval", "Width of the buckets, as a number of seconds, minutes, hours or days. At most 50000 buckets. Default: the smallest of 1m, 5m, 1h and 1d with at most 1500 buckets.")
            .form(Form::Pattern(WIDTH_PATTERN))
            .example("1m"),
        Param::query("group_by", "The field to group by: `tags.<key>`, `user_id` or `name`, or up to 4 of them joined with `,`.")
            .form(Form::Pattern("^(tags\\.[^,]+|user_id|name)(,(tags\\.[^,]+|user_id|name)){0,3}$"))
            .example("tags.region"),
        Param::query(
            "distinct",
            "`tags.<key>`, `user_id` or `name`: the exact number of its distinct values is returned with each count. \
             Events without the field are ignored.",
        )
        .form(Form::Pattern("^(tags\\..+|user_id|name)$"))
        .example("user_id"),
        USER,
        TAGS,
    ])
    .ok::<CountAnswer>()
    .errors(&[
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
        ErrorCode::InvalidInterval,
        ErrorCode::InvalidParameter,
    ]);

const STATS: Doc = Doc::new(TAG, "Compute statistics of events")
    .about(
        "Events without a number in the field are ignored. Percentiles use the nearest rank: exact for up to 100 000 numbers, \
         otherwise within 1 %.",
    )
    .parameters(&[
        NAME,
        Param::query(
            "field",
            "`value`, or a path in the properties: `properties.cart.total`, or `cart.total` for short. Default: \
             `value`.",
        )
        .example("cart.total"),
        FROM,
        TO,
        USER,
        TAGS,
    ])
    .ok::<Data<Stats>>()
    .errors(&[ErrorCode::InvalidTimestamp, ErrorCode::InvalidRange, ErrorCode::InvalidParameter]);
