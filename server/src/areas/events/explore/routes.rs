//! The routes of fields, values and funnels.

use std::sync::Arc;

use super::wire::{FieldsView, FunnelInput, FunnelView, ValuesView};
use super::{fields as event_fields, funnel as funnels, query, values as event_values};
use crate::app::App;
use crate::areas::events::routes::{FROM, NAME, TAGS, TO, USER};
use crate::http::{
    ApiResult, Data, Doc, ErrorCode, Form, LimitClass, PAGING, Param, Request, Response, Route,
    Scope, Success,
};
use crate::platform::telemetry::limits::SEARCH_CHARS_MAX;

/// The routes of what events contain.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/events/fields", &fields).limit(LimitClass::Query).doc(FIELDS),
    Route::get("/api/v1/events/values", &values).limit(LimitClass::Query).doc(VALUES),
    Route::post("/api/v1/events/funnel", &funnel)
        .scope(Scope::Read)
        .limit(LimitClass::Query)
        .waits()
        .doc(FUNNEL),
];

async fn fields(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let filter = query::fields(req.query(), app.now())?;
    let found = app.query(move |app| event_fields::fields(app, &filter)).await?;
    Response::counted_json(Success::Ok, &FieldsView::from(found), app.engine().memory())
}

async fn values(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let request = query::values(req.query(), app.now())?;
    let limit = request.limit;
    let found = app.query(move |app| event_values::values(app, &request)).await?;
    Response::counted_json(Success::Ok, &ValuesView::new(found, limit), app.engine().memory())
}

async fn funnel(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let funnel = req.json::<FunnelInput>()?.read(app.now())?;
    let work = move |app: &App| funnels::evaluate(app, &funnel).map(|result| (funnel, result));
    let (funnel, result) = app.query(work).await?;
    Response::ok(&Data { data: FunnelView::new(funnel, result) })
}

const TAG: &str = "Events";

const QUERY_ERRORS: &[ErrorCode] =
    &[ErrorCode::InvalidTimestamp, ErrorCode::InvalidRange, ErrorCode::InvalidParameter];

const FIELDS: Doc = Doc::new(TAG, "List the fields of events")
    .about(
        "The fields of the newest 1000 matching events, or of fewer if their properties are large, with types and an example. Arrays are not \
         entered. The fields of most events come first.",
    )
    .parameters(&[NAME, FROM, TO, USER, TAGS])
    .ok::<FieldsView>()
    .errors(QUERY_ERRORS)
    .ext();

const VALUES: Doc = Doc::new(TAG, "List the most frequent values of a field")
    .about(
        "Names, users and tags are counted in all matching events, unless they have too many distinct values. Otherwise, and for properties, \
         the newest 10000 matching events are read, or fewer if their properties are large. Values over 500 characters, empty values, arrays \
         and objects are not counted.",
    )
    .parameters(&[
        Param::query(
            "field",
            "`name`, `user_id`, `tags.<key>`, `value`, or a path in the properties: `properties.cart.total`, or `cart.total` for short.",
        )
        .form(Form::Filled)
        .required()
        .example("tags.region"),
        Param::query(
            "search",
            "Only values that contain this text or all of its words, regardless of case. At most 500 characters and 10 words.",
        )
        .form(Form::TextTo(SEARCH_CHARS_MAX)),
        NAME,
        FROM,
        TO,
        USER,
        TAGS,
        PAGING[0],
    ])
    .ok::<ValuesView>()
    .errors(QUERY_ERRORS)
    .ext();

const FUNNEL: Doc = Doc::new(TAG, "Count the users that take several steps")
    .about(
        "An attempt of a user begins at any event of the first step; each further step is the earliest event after the one before it, within \
         `window` from the first. A user counts for the steps of the attempt that gets furthest, of several the first. Only events within the \
         range count, those without a user are ignored. Counts are exact; medians use the nearest rank.",
    )
    .request::<FunnelInput>(
        r#"{"steps": [{"name": "page.view"}, {"name": "order.paid", "tags": {"region": "eu"}}], "window": "1h"}"#,
    )
    .ok::<Data<FunnelView>>()
    .errors(&[
        ErrorCode::InvalidJson,
        ErrorCode::MissingField,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
        ErrorCode::InvalidParameter,
    ])
    .ext();
