//! The HTTP routes of dead jobs.

use std::sync::Arc;

use super::wire::{
    Analytics, DeadList, DeadView, DeletedAll, Pagination, Retried, RetriedAll, SelectionInput,
    cursor, filter,
};
use crate::app::App;
use crate::areas::jobs::error::COUNT_CHANGED;
use crate::areas::jobs::fields::{INTERNAL, queue_owner};
use crate::areas::jobs::period::period;
use crate::http::{
    ApiResult, BodyKind, Deleted, Doc, ErrorCode, Form, Param, PathParam, Request, Response, Route,
};
use crate::jobs::{DeadJobId, Period};
use crate::limits::JOB_SEARCH_CHARS_MAX;
use crate::platform::patterns;

/// The routes of dead jobs.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/dead-jobs", &list).doc(LIST),
    Route::delete("/api/v1/dead-jobs", &delete_all).body(BodyKind::Json).doc(DELETE_ALL),
    Route::get("/api/v1/dead-jobs/analytics", &analytics).doc(ANALYTICS),
    Route::post("/api/v1/dead-jobs/retry", &retry_all).doc(RETRY_ALL),
    Route::get("/api/v1/dead-jobs/{id}", &get).doc(GET),
    Route::delete("/api/v1/dead-jobs/{id}", &delete).doc(DELETE),
    Route::post("/api/v1/dead-jobs/{id}/retry", &retry).doc(RETRY),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let pagination = Pagination::read(req.query())?;
    let filter = filter(req.query(), app.now())?;
    let below = cursor(req.query())?;
    if filter.search.is_some() {
        let mut found = app.jobs().find_dead_jobs(filter, below, pagination.limit()).await?;
        let memory = found.memory.take_all();
        return Response::ok(&DeadList::found(found, pagination))?.held_by(memory);
    }
    let mut page = app.jobs().dead_jobs(filter, pagination.offset(), pagination.limit()).await?;
    let memory = page.memory.take_all();
    Response::ok(&DeadList::new(page, pagination))?.held_by(memory)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (dead, memory) = app.jobs().dead_job(req.path("id")?).await?;
    Response::ok(&DeadView::from(dead))?.held_by(memory)
}

async fn retry(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (dead, new) = app.jobs().retry(req.path("id")?).await?;
    Response::ok(&Retried::new(&dead, new))
}

async fn retry_all(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json::<SelectionInput>()?;
    let (is_dry_run, expected) = (input.is_dry_run(), input.expected()?);
    let selection = input.into_selection(req.query(), app.now())?;
    if is_dry_run {
        return Response::ok(&RetriedAll::dry_run(app.jobs().count_dead(&selection).await?));
    }
    Response::ok(&RetriedAll::new(app.jobs().retry_all(selection, expected).await?))
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = app.jobs().forget(req.path("id")?).await?;
    Response::ok(&Deleted::new(id.to_string()))
}

async fn delete_all(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json_or_default::<SelectionInput>()?;
    input.check_confirmed(req.query())?;
    let (is_dry_run, expected) = (input.is_dry_run(), input.expected()?);
    let selection = input.into_selection(req.query(), app.now())?;
    if is_dry_run {
        return Response::ok(&DeletedAll::dry_run(app.jobs().count_dead(&selection).await?));
    }
    Response::ok(&DeletedAll::new(app.jobs().forget_all(selection, expected).await?))
}

async fn analytics(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let allowed = [Period::Day, Period::Week, Period::Month];
    let period = period(req.query(), &allowed, Period::Week)?;
    let whose = queue_owner(req.query())?;
    let deaths = app.query(move |app| app.jobs().history().deaths(period, whose)).await?;
    Response::ok(&Analytics::new(period, deaths))
}

const TAG: &str = "Dead jobs";
const NO_DEAD_JOB: ErrorCode = ErrorCode::Missing(DeadJobId::RESOURCE);

const LIST: Doc = Doc::new(TAG, "List dead jobs, last died first")
    .parameters(&[
        Param::query("class_name", "Only jobs of this class."),
        Param::query("error_class", "Only jobs with this error class."),
        Param::query("queue", "Only jobs of this queue."),
        Param::query("since", "Only jobs that died at or after this time.").form(Form::Time),
        Param::query(
            "search",
            "Only jobs with this string in their class, arguments, error class or error message, ignoring case; at most 200 characters. \
             A request reads a limited number of jobs, so a page may have fewer than `per_page` jobs although more follow: only a page \
             without `next_cursor` is the last one.",
        )
        .form(Form::TextTo(JOB_SEARCH_CHARS_MAX)),
        Param::query("cursor", "`next_cursor` of the previous page of a search.").form(Form::Pattern(patterns::DEAD_JOB_ID)),
        Param::query(
            "per_page",
            "The number of jobs per page; defaults to 50, and is limited to 500.",
        )
        .form(Form::Integer(1)),
        Param::query("limit", "Same as `per_page`.").form(Form::Integer(1)),
        Param::query("page", "The page number, from 1; defaults to 1.").form(Form::Integer(1)),
        INTERNAL,
    ])
    .ok::<DeadList>()
    .errors(&[ErrorCode::InvalidParameter, ErrorCode::InvalidTimestamp]);

const GET: Doc = Doc::new(TAG, "Get a dead job with its failure history")
    .ok::<DeadView>()
    .errors(&[NO_DEAD_JOB]);

const RETRY: Doc = Doc::new(TAG, "Retry a dead job")
    .about("The dead job is replaced by a new job with a new id, atomically. The new job keeps the unique key; while \
         another unfinished job has the same key, the request is refused with `conflict`.")
    .ok::<Retried>()
    .errors(&[NO_DEAD_JOB, ErrorCode::Conflict]);

const RETRY_ALL: Doc = Doc::new(TAG, "Retry dead jobs")
    .about("Select the jobs by ids or by filter, not both. Ids that are not dead jobs, and jobs whose unique key is in use, are counted as `failed`. Jobs that die during the request are not included. \
            `dry_run` only counts them; with `expected_count` nothing is changed if another number of jobs is selected.")
    .parameters(&[INTERNAL])
    .request::<SelectionInput>(r#"{"filter": {"queue": "mails"}}"#)
    .ok::<RetriedAll>()
    .errors(&[
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
        COUNT_CHANGED,
    ]);

const DELETE: Doc = Doc::new(TAG, "Delete a dead job").ok::<Deleted>().errors(&[NO_DEAD_JOB]);

const DELETE_ALL: Doc = Doc::new(TAG, "Delete dead jobs")
    .about("Select the jobs by ids or by filter, not both; requires `confirm`. Ids that are not dead jobs are ignored. \
            `dry_run` only counts the jobs; with `expected_count` nothing is deleted if another number of jobs is selected.")
    .parameters(&[
        Param::query("confirm", "Instead of the field in the body.").form(Form::Flag),
        INTERNAL,
    ])
    .optional_request::<SelectionInput>(r#"{"filter": {"queue": "mails"}, "confirm": true}"#)
    .ok::<DeletedAll>()
    .errors(&[
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
        COUNT_CHANGED,
    ]);

const ANALYTICS: Doc = Doc::new(TAG, "Get analytics of dead jobs")
    .about("Counts the jobs that died on the last 1, 7 or 30 days, whole days in UTC including today. Jobs that were retried or deleted since are included.")
    .parameters(&[
        Param::query("period", "Defaults to `week`.").form(Form::OneOf(&["day", "week", "month"])),
        INTERNAL,
    ])
    .ok::<Analytics>()
    .errors(&[ErrorCode::InvalidParameter]);
