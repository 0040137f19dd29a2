//! The routes of the area, and what each does: parse, act, answer.

use std::sync::Arc;

use telltale_engine::PropertiesWriter;

use super::model::{Sender, StateChange};
use super::ops;
use super::prepare::{Arrival, prepare};
use super::wire::{
    AssignInput, BulkInput, BulkView, Detail, EmptyInput, EventView, GroupItem, GroupStateView,
    IgnoreInput, MergeInput, ReportInput, Reported, ResolveInput, SeriesView,
};
use super::{ErrorsError, query, report};
use crate::app::App;
use crate::http::{
    ApiResult, Data, Deleted, Doc, ErrorCode, Form, LimitClass, Link, Page, Param, Request,
    Resource, Response, Route, Scope,
};
use crate::limits::{
    ERROR_SEARCH_CHARS_MAX, ERRORS_PAGE_DEFAULT, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX,
};
use crate::platform::json::reserve_document;

/// The routes of the area.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/errors", &list).doc(LIST),
    Route::post("/api/v1/errors", &track).scope(Scope::Ingest).limit(LimitClass::Single).doc(TRACK),
    Route::post("/api/v1/errors/bulk", &bulk).drains().doc(BULK),
    Route::get("/api/v1/errors/{id}", &get).doc(GET),
    Route::delete("/api/v1/errors/{id}", &delete).doc(DELETE),
    Route::post("/api/v1/errors/{id}/resolve", &resolve).doc(RESOLVE),
    Route::post("/api/v1/errors/{id}/ignore", &ignore).doc(IGNORE),
    Route::post("/api/v1/errors/{id}/unresolve", &unresolve).doc(UNRESOLVE),
    Route::post("/api/v1/errors/{id}/assign", &assign).doc(ASSIGN),
    Route::post("/api/v1/errors/{id}/merge", &merge).drains().doc(MERGE),
    Route::get("/api/v1/errors/{id}/events", &events).limit(LimitClass::Query).doc(EVENTS),
    Route::get("/api/v1/errors/{id}/series", &series).limit(LimitClass::Query).doc(SERIES),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(ERRORS_PAGE_DEFAULT, PAGE_LIMIT_MAX)?;
    let listing = query::listing(req.query(), app.now())?;
    let page = (paging.offset, paging.limit);
    let (groups, total) = ops::list(&app, listing, page).await?;
    let data = groups.into_iter().map(GroupItem::from).collect();
    Response::ok(&Page { data, meta: paging.meta(total) })
}

async fn track(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_json_body()?;
    let sender = Sender::of(req.identity().key_id());
    let arrival = Arrival { sender, project: 0, event_id: app.new_number(), now: app.now() };
    let admit = move |app: &App| {
        let mut writer = PropertiesWriter::default();
        let reserved = reserve_document(&body, app.engine().memory())?;
        let prepared = report::read(&body, arrival.now, |occurrence| {
            prepare(&occurrence, arrival, app.errors().scrubber(), &mut writer)
        })?;
        drop(reserved);
        ops::admit(app, prepared.as_slice())
    };
    let admitted = app.blocking(admit).await?;
    let reported =
        admitted.tickets.first().map(Reported::from).ok_or(ErrorsError::EventTooLarge)?;
    let response = Response::created(&Data { data: reported })?;
    ops::store(&app, admitted, req.receipt(&response)).await?;
    Ok(response)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = req.param("id").to_owned();
    let (group, latest) = app.query(move |app| ops::detail(app, req.param("id"))).await?;
    Response::ok(&Data { data: Detail::new(&id, group, latest) })
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let gone = Deleted::new(req.param("id"));
    app.blocking(move |app| ops::delete(app, req.param("id"))).await?;
    Response::ok(&Data { data: gone })
}

async fn resolve(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let order = req.json_or_default::<ResolveInput>()?.into_change()?;
    let moved = app.blocking(move |app| ops::apply_change(app, req.param("id"), &order)).await?;
    Response::ok(&Data { data: GroupStateView::from(moved) })
}

async fn ignore(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let order = req.json_or_default::<IgnoreInput>()?.into_change()?;
    let moved = app.blocking(move |app| ops::apply_change(app, req.param("id"), &order)).await?;
    Response::ok(&Data { data: GroupStateView::from(moved) })
}

async fn unresolve(app: Arc<App>, req: Request) -> ApiResult<Response> {
    req.json_or_default::<EmptyInput>()?;
    let work = move |app: &App| ops::apply_change(app, req.param("id"), &StateChange::Unresolve);
    Response::ok(&Data { data: GroupStateView::from(app.blocking(work).await?) })
}

async fn assign(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let order = req.json::<AssignInput>()?.into_change()?;
    let moved = app.blocking(move |app| ops::apply_change(app, req.param("id"), &order)).await?;
    Response::ok(&Data { data: GroupStateView::from(moved) })
}

async fn merge(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let others = req.json::<MergeInput>()?.into_ids()?;
    let merged = app.blocking(move |app| ops::merge(app, req.param("id"), &others)).await?;
    Response::ok(&Data { data: GroupStateView::from(merged) })
}

async fn bulk(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (chosen, action) = req.json::<BulkInput>()?.into_parts(app.now())?;
    let (matched, changed) = ops::in_bulk(&app, chosen, action).await?;
    Response::ok(&Data { data: BulkView { matched, changed } })
}

async fn events(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let page = app.query(move |app| ops::events(app, req.param("id"), paging)).await?;
    let total = usize::try_from(page.total).unwrap_or(usize::MAX);
    let data = page.events.into_iter().map(EventView::from).collect();
    Response::ok(&Page { data, meta: paging.meta(total) })
}

async fn series(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (range, width) = query::series(req.query(), app.now())?;
    let id = req.param("id").to_owned();
    let answer = app.query(move |app| ops::series(app, req.param("id"), range, width)).await?;
    Response::ok(&Data { data: SeriesView::new(id, width, &answer) })
}

const TAG: &str = "Errors";
const NO_ERROR: ErrorCode = ErrorCode::Missing(Resource::ErrorGroup);

const LIST: Doc = Doc::new(TAG, "List errors, the last seen first")
    .parameters(&[
        Param::query("status", "Only errors in this state. An ignore that is over is none.")
            .form(Form::OneOf(&["unresolved", "resolved", "ignored"])),
        Param::query("level", "Only errors of this level.")
            .form(Form::OneOf(&["warning", "error", "fatal"])),
        Param::query(
            "since",
            "Only errors last seen within this range (`30m`, `24h`, `7d`, `2w`), or since this date or time.",
        )
        .form(Form::Since)
        .example("24h"),
        Param::query(
            "from",
            "Only errors with an occurrence at this time or later. All that is asked of occurrences must hold of the same one.",
        )
        .form(Form::Time),
        Param::query("to", "Only errors with an occurrence before this time; a date is the end of its day.")
            .form(Form::Time),
        Param::query(
            "environment",
            "Only errors with an occurrence in this environment, one of `a,b`, none of `!a,b`, or one that begins as `a*`.",
        ),
        Param::query("release", "The same for the release."),
        Param::query(
            "tags[key]",
            "The same for a tag. The first 24 tags of an occurrence with keys of at most 96 characters are looked at.",
        )
        .form(Form::Tags),
        Param::query(
            "search",
            "Only errors with this text in their title or in the first 2000 characters of the message of their newest occurrence, in \
             any case; in the first 300 while long messages take all the memory that is theirs.",
        )
        .form(Form::TextTo(ERROR_SEARCH_CHARS_MAX)),
        Param::query("assignee", "Only errors of this user; empty for those that are nobody's."),
        Param::query("sort", "What the list goes by, the greatest first; last_seen when absent.")
            .form(Form::OneOf(&["last_seen", "first_seen", "occurrences", "users_affected"])),
        Param::query(
            "limit",
            "Items in the answer; 50 when absent, a larger number is taken as 1000.",
        )
        .form(Form::Integer(1)),
        Param::query("offset", "Items to pass over; 0 when absent.")
            .form(Form::Integer(0)),
    ])
    .ok::<Page<GroupItem>>()
    .errors(&[
        ErrorCode::InvalidParameter,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
    ]);

const TRACK: Doc = Doc::new(TAG, "Tell of an error")
    .about(
        "For programs without an SDK of Sentry. Answered when the occurrence is durable as the server is configured, with the \
         error that it is one of.",
    )
    .request::<ReportInput>(
        r#"{"exception": {"type": "TypeError", "message": "no total", "backtrace": ["cart.py:12 in total"]}, "release": "shop@1.2.3"}"#,
    )
    .created::<Data<Reported>>()
    .links(&[Link::get("/api/v1/errors/{id}", "id", "/data/id")])
    .errors(&[
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidTags,
    ])
    .ext();

const BULK: Doc = Doc::new(TAG, "Do something to many errors")
    .about("All of it, or nothing. Errors are named by `ids` or found by `filter`, not both. Deleting asks for `confirm`.")
    .request::<BulkInput>(r#"{"action": "resolve", "filter": {"level": "warning"}}"#)
    .ok::<Data<BulkView>>()
    .errors(&[
        NO_ERROR,
        ErrorCode::InvalidParameter,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
    ])
    .ext();

const GET: Doc = Doc::new(TAG, "Get an error with its newest occurrence")
    .about("The id of an error that was merged into another finds that one, which `merged_into` then names. So it does for the occurrences and their counts, and for moves, in bulk too; not for merging and deleting.")
    .ok::<Data<Detail>>()
    .errors(&[NO_ERROR])
    .ext();

const DELETE: Doc = Doc::new(TAG, "Delete an error and all its events")
    .about("It is gone when this is answered, its events shortly after. A later occurrence begins a new error.")
    .ok::<Data<Deleted>>()
    .errors(&[NO_ERROR]);

const RESOLVE: Doc = Doc::new(TAG, "Resolve an error")
    .about("An occurrence that arrives later makes it unresolved again and sets `regressed_at`, whatever time the client gives it.")
    .optional_request::<ResolveInput>(r#"{"note": "fixed in 1.2.4"}"#)
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR, ErrorCode::InvalidField]);

const IGNORE: Doc = Doc::new(TAG, "Ignore an error, for a time or for ever")
    .about("One that is ignored already takes the new duration and reason.")
    .optional_request::<IgnoreInput>(r#"{"duration": "24h", "reason": "a holiday"}"#)
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR, ErrorCode::InvalidField]);

const UNRESOLVE: Doc = Doc::new(TAG, "Take back that an error is resolved or ignored")
    .optional_request::<EmptyInput>("{}")
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR]);

const ASSIGN: Doc = Doc::new(TAG, "Say whose an error is")
    .request::<AssignInput>(r#"{"user_id": "ann@example.com"}"#)
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR, ErrorCode::MissingField, ErrorCode::InvalidField]);

const MERGE: Doc = Doc::new(TAG, "Make other errors part of one")
    .about(
        "What was counted adds up, what comes later goes to the one as well, and the others are gone. The state stays. Occurrences that \
         arrive meanwhile count when it is done; while too many of them wait, more are refused with 503 `overloaded`. Deleting is alike.",
    )
    .request::<MergeInput>("")
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR, ErrorCode::MissingField, ErrorCode::InvalidField])
    .ext();

const EVENTS: Doc = Doc::new(TAG, "List the occurrences of an error, the newest first")
    .parameters(&crate::http::PAGING)
    .ok::<Page<EventView>>()
    .errors(&[NO_ERROR, ErrorCode::InvalidParameter])
    .ext();

const SERIES: Doc = Doc::new(TAG, "Count the occurrences of an error by time")
    .about(
        "Buckets are aligned to the epoch and stamped with their start; empty ones are left out.",
    )
    .parameters(&[
        Param::query("from", "Inclusive; 24 hours before `to` when absent.").form(Form::Time),
        Param::query("to", "Exclusive; now when absent. A date is the end of that day.")
            .form(Form::Time),
        Param::query("interval", "The finest that gives at most 1500 buckets when absent.")
            .form(Form::OneOf(&["1m", "5m", "1h", "1d"])),
    ])
    .ok::<Data<SeriesView>>()
    .errors(&[
        NO_ERROR,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
        ErrorCode::InvalidInterval,
    ])
    .ext();
