//! The routes of the area and their handlers.

use std::sync::Arc;

use super::model::{GroupId, OccurrenceId, Sender, StateChange};
use super::occurrences::{self, Sparkline};
use super::ops;
use super::prepare::Arrival;
use super::wire::{
    ActivityView, AssignInput, BulkInput, BulkView, CommentInput, Detail, EmptyInput, EventView,
    GroupItem, GroupStateView, IgnoreInput, MergeInput, OccurrenceView, ReportInput, Reported,
    ResolveInput, SeriesView, TagsView, frame_places,
};
use super::{ErrorsError, query, report};
use crate::app::App;
use crate::areas::errors::limits::{
    ERROR_TAG_VALUES_DEFAULT, ERROR_TAG_VALUES_MAX, ERRORS_PAGE_WITH_SERIES_MAX,
};
use crate::areas::repositories::source_of_frames;
use crate::http::{
    ApiResult, Data, Deleted, Doc, ErrorCode, Form, LimitClass, Link, Page, Param, PathParam,
    Request, Response, Route, Scope, Success,
};
use crate::limits::{
    ERROR_SEARCH_CHARS_MAX, ERRORS_PAGE_DEFAULT, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX,
};
use crate::platform::telemetry::buckets::WIDTH_PATTERN;

/// The routes of the area.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/errors", &list).doc(LIST),
    Route::post("/api/v1/errors", &report_error)
        .scope(Scope::Ingest)
        .limit(LimitClass::Single)
        .doc(REPORT),
    Route::post("/api/v1/errors/bulk", &bulk).drains().doc(BULK),
    Route::get("/api/v1/errors/{id}", &get).doc(GET),
    Route::delete("/api/v1/errors/{id}", &delete).doc(DELETE),
    Route::post("/api/v1/errors/{id}/resolve", &resolve).doc(RESOLVE),
    Route::post("/api/v1/errors/{id}/ignore", &ignore).doc(IGNORE),
    Route::post("/api/v1/errors/{id}/unresolve", &unresolve).doc(UNRESOLVE),
    Route::post("/api/v1/errors/{id}/assign", &assign).doc(ASSIGN),
    Route::post("/api/v1/errors/{id}/merge", &merge).drains().doc(MERGE),
    Route::get("/api/v1/errors/{id}/events", &events).limit(LimitClass::Query).doc(EVENTS),
    Route::get("/api/v1/errors/{id}/events/{event_id}", &event).limit(LimitClass::Query).doc(EVENT),
    Route::get("/api/v1/errors/{id}/tags", &tags).limit(LimitClass::Query).doc(TAGS),
    Route::get("/api/v1/errors/{id}/activity", &activity).doc(ACTIVITY),
    Route::post("/api/v1/errors/{id}/comments", &comment).doc(COMMENT),
    Route::get("/api/v1/errors/{id}/series", &series).limit(LimitClass::Query).doc(SERIES),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let listing = query::listing(req.query(), app.now())?;
    let max = if listing.series.is_some() { ERRORS_PAGE_WITH_SERIES_MAX } else { PAGE_LIMIT_MAX };
    let paging = req.query().paging(ERRORS_PAGE_DEFAULT, max)?;
    let page = ops::list(&app, listing, (paging.offset, paging.limit)).await?;
    let total = page.total;
    Response::ok(&Page { data: GroupItem::all(page), meta: paging.meta(total) })
}

async fn report_error(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_json_body()?;
    let sender = Sender::of(req.identity().key_id());
    let arrival = Arrival { sender, project: 0, event_id: app.new_number(), now: app.now() };
    let admitted = app.blocking(move |app| report::admit(app, &body, arrival)).await?;
    let reported =
        admitted.tickets.first().map(Reported::from).ok_or(ErrorsError::EventTooLarge)?;
    let response = Response::created(&Data { data: reported })?;
    ops::store(&app, admitted, req.receipt(&response)).await?;
    Ok(response)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: GroupId = req.path("id")?;
    let read = move |app: &App| {
        let (group, latest) = ops::detail(app, id)?;
        let (places, release) = latest.as_ref().map(frame_places).unwrap_or_default();
        let source = source_of_frames(app, &places, release.as_deref());
        Ok::<_, ErrorsError>(Detail::new(id, group, latest, source))
    };
    Response::ok(&Data { data: app.query(read).await? })
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: GroupId = req.path("id")?;
    app.blocking(move |app| ops::delete(app, id)).await?;
    Response::ok(&Data { data: Deleted::new(id.format()) })
}

async fn resolve(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json_or_default::<ResolveInput>()?.into_change()?;
    apply(app, &req, change).await
}

async fn ignore(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json_or_default::<IgnoreInput>()?.into_change()?;
    apply(app, &req, change).await
}

async fn unresolve(app: Arc<App>, req: Request) -> ApiResult<Response> {
    req.json_or_default::<EmptyInput>()?;
    apply(app, &req, StateChange::Unresolve).await
}

async fn assign(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<AssignInput>()?.into_change()?;
    apply(app, &req, change).await
}

/// Applies a state change to the group in the path.
async fn apply(app: Arc<App>, req: &Request, change: StateChange) -> ApiResult<Response> {
    let (id, by): (GroupId, _) = (req.path("id")?, req.identity().user().to_owned());
    let changed = app.blocking(move |app| ops::apply_change(app, id, &change, &by)).await?;
    Response::ok(&Data { data: GroupStateView::from(changed) })
}

async fn merge(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let others = req.json::<MergeInput>()?.into_ids()?;
    let (id, by): (GroupId, _) = (req.path("id")?, req.identity().user().to_owned());
    let merged = app.blocking(move |app| ops::merge(app, id, &others, &by)).await?;
    Response::ok(&Data { data: GroupStateView::from(merged) })
}

async fn bulk(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (selection, action) = req.json::<BulkInput>()?.into_parts(app.now())?;
    let by = req.identity().user().to_owned();
    let (matched, changed) = ops::apply_bulk(&app, selection, action, by).await?;
    Response::ok(&Data { data: BulkView { matched, changed } })
}

async fn events(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let (id, within): (GroupId, _) = (req.path("id")?, (paging.offset, paging.limit));
    let page = app.query(move |app| ops::events(app, id, within)).await?;
    let total = usize::try_from(page.total).unwrap_or(usize::MAX);
    let data = page.events.into_iter().map(EventView::from).collect();
    Response::ok(&Page { data, meta: paging.meta(total) })
}

async fn series(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (range, width) = query::series(req.query(), app.now())?;
    let id: GroupId = req.path("id")?;
    let answer = app.query(move |app| ops::series(app, id, range, width)).await?;
    Response::ok(&Data { data: SeriesView::new(id, width, &answer) })
}

async fn event(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: GroupId = req.path("id")?;
    let occurrence: OccurrenceId = req.path("event_id")?;
    let found = app.query(move |app| occurrences::in_order(app, id, occurrence)).await?;
    Response::ok(&Data { data: OccurrenceView::from(found) })
}

async fn tags(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let range = query::tag_range(req.query(), app.now())?;
    let limit =
        req.query().limit("limit", ERROR_TAG_VALUES_MAX)?.unwrap_or(ERROR_TAG_VALUES_DEFAULT);
    let key = req.query().one("key")?.map(occurrences::event_key);
    let id: GroupId = req.path("id")?;
    let count = move |app: &App| occurrences::tag_counts(app, id, range, key.as_deref(), limit);
    let data = TagsView::new(id, app.query(count).await?);
    Response::counted_json(Success::Ok, &Data { data }, app.engine().memory())
}

async fn activity(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let id: GroupId = req.path("id")?;
    let (group, recorded) = app.blocking(move |app| ops::activity(app, id)).await?;
    let all = ActivityView::all(&group, recorded);
    let total = all.len();
    let data: Vec<_> = all.into_iter().skip(paging.offset).take(paging.limit).collect();
    Response::ok(&Page { data, meta: paging.meta(total) })
}

async fn comment(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let text = req.json::<CommentInput>()?.into_text()?;
    let (id, by): (GroupId, _) = (req.path("id")?, req.identity().user().to_owned());
    let added = app.blocking(move |app| ops::comment(app, id, text, &by)).await?;
    Response::created(&Data { data: ActivityView::from(added) })
}

const TAG: &str = "Errors";
const NO_ERROR: ErrorCode = ErrorCode::Missing(GroupId::RESOURCE);

const LIST: Doc = Doc::new(TAG, "List error groups, most recently seen first")
    .parameters(&[
        Param::query("status", "Only errors with this status. An error whose ignore has expired is unresolved.")
            .form(Form::OneOf(&["unresolved", "resolved", "ignored"])),
        Param::query("level", "Only errors of this level.")
            .form(Form::OneOf(&["warning", "error", "fatal"])),
        Param::query(
            "since",
            "Only errors last seen within this duration before now (`30m`, `24h`, `7d`, `2w`), or since this date or time.",
        )
        .form(Form::Since)
        .example("24h"),
        Param::query(
            "from",
            "Only errors with an occurrence at this time or later. One occurrence must meet all conditions on occurrences.",
        )
        .form(Form::Time),
        Param::query("to", "Only errors with an occurrence before this time; a date means the end of that day.")
            .form(Form::Time),
        Param::query(
            "environment",
            "Only errors with an occurrence in this environment: `a`, any of `a,b`, none of `!a,b`, or with a prefix, `a*`.",
        ),
        Param::query("release", "The same filter on the release."),
        Param::query(
            "tags[key]",
            "The same filter on a tag. Applies to the first 24 tags of an occurrence whose keys have at most 96 characters.",
        )
        .form(Form::Tags),
        Param::query(
            "search",
            "Only errors with this string in their title or in the first 2000 characters of the message of their newest \
             occurrence, ignoring case. Only the first 300 characters of new messages are searchable while the memory for \
             long messages is exhausted.",
        )
        .form(Form::TextTo(ERROR_SEARCH_CHARS_MAX)),
        Param::query("assignee", "Only errors assigned to this user; an empty value selects unassigned errors."),
        Param::query("sort", "The sort key, in descending order. Default: `last_seen`.")
            .form(Form::OneOf(&["last_seen", "first_seen", "occurrences", "users_affected"])),
        Param::query(
            "series",
            "Adds `series` to each error: its occurrences within this duration, in 12 to 30 buckets, regardless of the other conditions on \
             occurrences. `limit` is then reduced to 100.",
        )
        .form(Form::OneOf(&Sparkline::NAMES)),
        Param::query(
            "limit",
            "Maximum number of items. Default: 50. Values above 1000 are reduced to 1000.",
        )
        .form(Form::Integer(1)),
        Param::query("offset", "Number of items to skip. Default: 0.")
            .form(Form::Integer(0)),
    ])
    .ok::<Page<GroupItem>>()
    .errors(&[
        ErrorCode::InvalidParameter,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
    ]);

const REPORT: Doc = Doc::new(TAG, "Report an error")
    .about(
        "For programs without a Sentry SDK. The response is sent when the occurrence is durable as configured; it contains the \
         id of the error that the occurrence belongs to.",
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

const BULK: Doc = Doc::new(TAG, "Change or delete many errors")
    .about("The action is applied to all selected errors or to none. Errors are selected by `ids` or by `filter`, not both. Deleting requires `confirm`.")
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
    .about("The id of an error that was merged into another returns that one, with its id in `merged_into`. The same applies to occurrences, their counts and state changes, also in bulk, but not to merging and deleting.")
    .ok::<Data<Detail>>()
    .errors(&[NO_ERROR])
    .ext();

const DELETE: Doc = Doc::new(TAG, "Delete an error and all its events")
    .about("The error is deleted when the response is sent, its events shortly afterwards. A later occurrence creates a new error.")
    .ok::<Data<Deleted>>()
    .errors(&[NO_ERROR]);

const RESOLVE: Doc = Doc::new(TAG, "Resolve an error")
    .about("An occurrence that arrives later makes it unresolved again and sets `regressed_at`, regardless of its timestamp.")
    .optional_request::<ResolveInput>(r#"{"note": "fixed in 1.2.4"}"#)
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR, ErrorCode::InvalidField]);

const IGNORE: Doc = Doc::new(TAG, "Ignore an error, for a limited time or indefinitely")
    .about("If the error is already ignored, duration and reason are replaced.")
    .optional_request::<IgnoreInput>(r#"{"duration": "24h", "reason": "a holiday"}"#)
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR, ErrorCode::InvalidField]);

const UNRESOLVE: Doc = Doc::new(TAG, "Make an error unresolved again")
    .optional_request::<EmptyInput>("{}")
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR]);

const ASSIGN: Doc = Doc::new(TAG, "Assign an error to a user")
    .request::<AssignInput>(r#"{"user_id": "ann@example.com"}"#)
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR, ErrorCode::MissingField, ErrorCode::InvalidField]);

const MERGE: Doc = Doc::new(TAG, "Merge other errors into one")
    .about(
        "Counts are added up, later occurrences of the others count in the one, and the others are removed. Its state is kept. \
         Occurrences that arrive during the merge are counted when it is done; if too many are waiting, further ones are \
         refused with 503 `overloaded`. The same applies to deletion.",
    )
    .request::<MergeInput>("")
    .ok::<Data<GroupStateView>>()
    .errors(&[NO_ERROR, ErrorCode::MissingField, ErrorCode::InvalidField])
    .ext();

const EVENTS: Doc = Doc::new(TAG, "List the occurrences of an error, newest first")
    .parameters(&crate::http::PAGING)
    .ok::<Page<EventView>>()
    .errors(&[NO_ERROR, ErrorCode::InvalidParameter])
    .ext();

const SERIES: Doc = Doc::new(TAG, "Count the occurrences of an error by time")
    .about(
        "Buckets are aligned to the epoch and identified by their start; empty buckets are omitted.",
    )
    .parameters(&[
        Param::query("from", "Start, inclusive. Default: 24 hours before `to`. A date means 00:00 UTC of that day.")
            .form(Form::Time),
        Param::query("to", "End, exclusive. Default: now. A date means the end of that day in UTC.")
            .form(Form::Time),
        Param::query("interval", "Width of the buckets, as a number of seconds, minutes, hours or days. At most 50000 buckets. Default: the smallest of 1m, 5m, 1h and 1d with at most 1500 buckets.")
            .form(Form::Pattern(WIDTH_PATTERN))
            .example("1m"),
    ])
    .ok::<Data<SeriesView>>()
    .errors(&[
        NO_ERROR,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
        ErrorCode::InvalidInterval,
    ])
    .ext();

const EVENT: Doc = Doc::new(TAG, "Get an occurrence of an error, with its neighbours in time")
    .ok::<Data<OccurrenceView>>()
    .errors(&[NO_ERROR, ErrorCode::Missing(OccurrenceId::RESOURCE)])
    .ext();

const TAGS: Doc = Doc::new(TAG, "Count the values of the tags of an error's occurrences")
    .about(
        "`environment`, `release` and the first 24 tags of occurrences are counted; of an error, those that its newest 100 occurrences \
         in the range have, at most 40; or the one that `key` names, whichever occurrences have it.",
    )
    .parameters(&[
        Param::query("from", "Start, inclusive. Default: all occurrences that are kept.").form(Form::Time),
        Param::query("to", "End, exclusive. Default: now. A date means the end of that day in UTC.")
            .form(Form::Time),
        Param::query("key", "Only this tag: a key, `environment` or `release`; `tags[environment]` is a tag of that name."),
        Param::query("limit", "Maximum number of values of each tag, the most frequent first. Default: 10. Values above 1000 are reduced to 1000.")
            .form(Form::Integer(1)),
    ])
    .ok::<Data<TagsView>>()
    .errors(&[
        NO_ERROR,
        ErrorCode::InvalidParameter,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
    ])
    .ext();

const ACTIVITY: Doc = Doc::new(TAG, "List who changed an error and what people wrote about it, newest first")
    .about("The newest 500 entries of an error are kept. Those of errors that were merged into it are included.")
    .parameters(&crate::http::PAGING)
    .ok::<Page<ActivityView>>()
    .errors(&[NO_ERROR, ErrorCode::InvalidParameter])
    .ext();

const COMMENT: Doc = Doc::new(TAG, "Comment on an error")
    .request::<CommentInput>(r#"{"text": "Only with the new client."}"#)
    .created::<Data<ActivityView>>()
    .errors(&[NO_ERROR, ErrorCode::MissingField, ErrorCode::InvalidField])
    .ext();
