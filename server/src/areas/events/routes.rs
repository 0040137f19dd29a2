//! The routes of the area, and what each does: parse, act, answer.

use std::sync::Arc;

use telltale_engine::Write;

use super::ops;
use super::wire::{BatchInput, CountAnswer, EventInput, ListAnswer, Stats, Tracked};
use crate::app::App;
use crate::http::{
    ApiResult, BatchAnswer, BodyKind, Data, Doc, ErrorCode, Form, LimitClass, PAGING, Param,
    Request, Response, Route, Scope,
};
use crate::limits::JSON_SCRATCH_BYTES_MAX;

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
    app.write(Write { events: Some(events), receipt, ..Write::default() }).await?;
    Ok(response)
}

async fn track_batch(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_json_body()?;
    let (events, outcome) = if body.len() <= JSON_SCRATCH_BYTES_MAX {
        ops::resolve_batch(app.engine(), app.now(), &body)?
    } else {
        app.blocking(move |app| ops::resolve_batch(app.engine(), app.now(), &body)).await?
    };
    let response = Response::ok(&Data { data: BatchAnswer::from(outcome) })?;
    let receipt = req.receipt(&response);
    if !events.is_empty() || receipt.is_some() {
        app.write(Write { events: Some(events), receipt, ..Write::default() }).await?;
    }
    Ok(response)
}

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let answer = app.query(move |app| ops::list(app, req.query())).await?;
    Ok(Response::counted(answer))
}

async fn count(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let answer = app.query(move |app| ops::count(app, req.query())).await?;
    Ok(Response::counted(answer))
}

async fn stats(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let numbers = app.query(move |app| ops::stats(app, req.query())).await?;
    Response::ok(&Data { data: Stats::new(&numbers) })
}

const TAG: &str = "Events";

const TRACK: Doc = Doc::new(TAG, "Track one event")
    .about("Answers when the event is durable as the server is configured.")
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
        "Good items are stored, bad ones counted and the first 50 listed. A body that is not JSON or has more than \
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

const NAME: Param = Param::query(
    "name",
    "Only events of this name; `order.*` and `order*` are beginnings of names. Events that the server makes itself, such as `telltale.error`, \
     are found only by names that begin with `telltale`.",
)
.example("order.*");
const USER: Param =
    Param::query("user_id", "Only events of this user.").form(Form::Filled).example("u-1");
const TAGS: Param = Param::query(
    "tags[key]",
    "Only events whose tag is so: `v`, `a,b` (one of them), `!v` (not it), `v*` (begins so), empty (without the tag). A `\\` \
     before `,`, `!`, `*` or `\\` takes the character as it is. May repeat.",
)
.form(Form::Tags)
.example("eu*");
const FROM: Param = Param::query(
    "from",
    "Inclusive; 24 hours before `to` when absent. A date is its midnight in UTC.",
)
.form(Form::Time);
const TO: Param = Param::query("to", "Exclusive; now when absent. A date is the end of that day.")
    .form(Form::Time);

const LIST: Doc = Doc::new(TAG, "List events, newest first")
    .about(
        "Events of the same time stand by id, descending. `meta.next_cursor` leads to the next page, however deep, \
         whatever comes in meanwhile.",
    )
    .parameters(&[
        NAME,
        Param::query("from", "Inclusive; everything retained when absent. A date is its midnight in UTC.")
            .form(Form::Time),
        Param::query("to", "Exclusive; no end when absent. A date is the end of that day.").form(Form::Time),
        USER,
        TAGS,
        PAGING[0],
        PAGING[1],
        Param::query("cursor", "Only what follows the page that answered this as its `next_cursor`.")
            .form(Form::Pattern("^[0-7][0-9A-HJKMNP-TV-Z]{25}(0|[1-9a-f][0-9a-f]{0,11})$")),
    ])
    .ok::<ListAnswer>()
    .errors(&[ErrorCode::InvalidTimestamp, ErrorCode::InvalidRange, ErrorCode::InvalidParameter]);

const COUNT: Doc = Doc::new(TAG, "Count events")
    .about(
        "Buckets are aligned to the epoch and stamped with their start; empty ones are left out. With `group_by` the \
         answer has `groups`, and `series` only where `interval` is given: then one for each group.",
    )
    .parameters(&[
        NAME,
        FROM,
        TO,
        Param::query("interval", "The finest that gives at most 1500 buckets when absent.")
            .form(Form::OneOf(&["1m", "5m", "1h", "1d"])),
        Param::query("group_by", "`tags.<key>`, `user_id` or `name`, or up to 4 of them joined with `,`.")
            .form(Form::Pattern("^(tags\\.[^,]+|user_id|name)(,(tags\\.[^,]+|user_id|name)){0,3}$"))
            .example("tags.region"),
        Param::query(
            "distinct",
            "`tags.<key>`, `user_id` or `name`: how many different ones the events have is told beside each count, \
             exactly; events without one are passed over.",
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
        "Events without a number in the field are passed over. Percentiles are nearest-rank: exact to 100 000 numbers, \
         else within 1 %.",
    )
    .parameters(&[
        NAME,
        Param::query(
            "field",
            "`value`, or a path in the properties: `properties.cart.total`, or `cart.total` for short; `value` when \
             absent.",
        )
        .example("cart.total"),
        FROM,
        TO,
        USER,
        TAGS,
    ])
    .ok::<Data<Stats>>()
    .errors(&[ErrorCode::InvalidTimestamp, ErrorCode::InvalidRange, ErrorCode::InvalidParameter]);
