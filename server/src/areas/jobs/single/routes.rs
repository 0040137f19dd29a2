//! The HTTP routes of jobs.

use std::sync::Arc;

use super::wire::{
    AckedView, BatchInput, BatchView, EnqueuedView, ExtendInput, ExtendedView, FailInput,
    FailedView, JobInput, JobListView, JobView, TokenInput, cursor, filter,
};
use crate::app::App;
use crate::areas::jobs::error::RESERVATION_LOST;
use crate::areas::jobs::fields::{INTERNAL, enqueue_route, worker_route};
use crate::http::{
    ApiResult, BodyKind, Deleted, Doc, ErrorCode, Form, Link, PAGING, Param, PathParam, Request,
    Response, Route,
};
use crate::jobs::JobId;
use crate::limits::{JOB_SEARCH_CHARS_MAX, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};
use crate::platform::patterns;

/// The routes of jobs.
pub static ROUTES: &[Route] = &[
    enqueue_route("/api/v1/jobs", &enqueue).doc(ENQUEUE),
    enqueue_route("/api/v1/jobs/batch", &enqueue_batch).body(BodyKind::Batch).doc(ENQUEUE_BATCH),
    Route::get("/api/v1/jobs", &list).doc(LIST),
    Route::get("/api/v1/jobs/{id}", &get).doc(GET),
    Route::delete("/api/v1/jobs/{id}", &delete).doc(DELETE),
    Route::post("/api/v1/jobs/{id}/run", &run).doc(RUN),
    worker_route("/api/v1/jobs/{id}/ack", &ack).doc(ACK),
    worker_route("/api/v1/jobs/{id}/fail", &fail).doc(FAIL),
    worker_route("/api/v1/jobs/{id}/extend", &extend).doc(EXTEND),
];

async fn enqueue(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = app.jobs().draft(req.json::<JobInput>()?.into_job()?);
    let response = Response::created(&EnqueuedView::from(draft.answer()))?;
    app.jobs().enqueue(draft, req.receipt(&response)).await?;
    Ok(response)
}

async fn enqueue_batch(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (valid, rejected) = req.json::<BatchInput>()?.parse()?;
    let drafts = valid.into_iter().map(|job| app.jobs().draft(job)).collect();
    // The response is built when the jobs are accepted, so that its receipt is durable together
    // with them.
    let respond = move |outcomes| {
        let response = Response::created(&BatchView::new(rejected, outcomes));
        let receipt = response.as_ref().ok().and_then(|response| req.receipt(response));
        (response, receipt)
    };
    app.jobs().enqueue_all(drafts, respond).await?
}

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let limit = req.query().limit("limit", PAGE_LIMIT_MAX)?.unwrap_or(PAGE_LIMIT_DEFAULT);
    let (filter, before) = (filter(req.query())?, cursor(req.query())?);
    let mut page = app.jobs().list(filter, before, limit).await?;
    let memory = page.memory.take_all();
    Response::ok(&JobListView::from(page))?.held_by(memory)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (job, memory) = app.jobs().job(req.path("id")?).await?;
    Response::ok(&JobView::from(job))?.held_by(memory)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: JobId = req.path("id")?;
    app.jobs().delete(id).await?;
    Response::ok(&Deleted::new(id.to_string()))
}

async fn run(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: JobId = req.path("id")?;
    app.jobs().run_now(id).await?;
    let (job, memory) = app.jobs().job(id).await?;
    Response::ok(&JobView::from(job))?.exempt_from_memory_limit().held_by(memory)
}

async fn ack(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json::<TokenInput>()?;
    let id: JobId = req.path("id")?;
    app.jobs().for_clients().ack(id, input.token(id)?).await?;
    Response::ok(&AckedView::new(id))
}

async fn fail(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json::<FailInput>()?;
    let id: JobId = req.path("id")?;
    let (token, report) = input.into_report(id)?;
    let failed = app.jobs().for_clients().fail(id, token, report).await?;
    Response::ok(&FailedView::new(id, failed))
}

async fn extend(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json::<ExtendInput>()?;
    let id: JobId = req.path("id")?;
    let (token, seconds) = input.into_seconds(id)?;
    let expires_at = app.jobs().for_clients().extend(id, token, seconds).await?;
    Response::ok(&ExtendedView::new(id, expires_at))
}

const TAG: &str = "Jobs";
const NO_JOB: ErrorCode = ErrorCode::Missing(JobId::RESOURCE);

const ENQUEUE: Doc = Doc::new(TAG, "Enqueue a job")
    .about(
        "When the response is sent, the job is durable; it runs at least once. While an unfinished job has the same `unique_key`, \
         the request is rejected with `conflict`, and `details.id` is the id of that job. Public keys cannot enqueue jobs.",
    )
    .request::<JobInput>(r#"{"class_name": "SendMail", "queue": "mails", "arguments": {"to": "ann@example.com"}}"#)
    .created::<EnqueuedView>()
    .links(&[
        Link::get("/api/v1/jobs/{id}", "id", "/job_id"),
        Link::get("/api/v1/queues/{name}", "name", "/queue"),
    ])
    .errors(&[
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::ReservedName,
        ErrorCode::InvalidTimestamp,
        ErrorCode::Conflict,
    ])
    .ext();

const ENQUEUE_BATCH: Doc = Doc::new(TAG, "Enqueue up to 1000 jobs")
    .about("Valid jobs are enqueued atomically; invalid jobs are reported. Public keys cannot enqueue jobs.")
    .request::<BatchInput>(r#"{"jobs": [{"class_name": "SendMail"}, {"class_name": "SendMail", "run_at": "2026-01-02T03:04:05Z"}]}"#)
    .created::<BatchView>()
    .errors(&[ErrorCode::MissingField, ErrorCode::BatchTooLarge])
    .ext();

const LIST: Doc = Doc::new(TAG, "List waiting and running jobs, last enqueued first")
    .about(
        "Finished and dead jobs are not included; dead jobs have a list of their own. A request examines a limited number of jobs, so a page may \
         have fewer than `limit` jobs although more follow. Only a page without `next_cursor` is the last one.",
    )
    .parameters(&[
        Param::query("queue", "Only jobs of this queue."),
        Param::query("status", "Only jobs with this status. `waiting` selects jobs whose `status` is `ready`.")
            .form(Form::OneOf(&["waiting", "scheduled", "retrying", "running"])),
        Param::query("class_name", "Only jobs of this class."),
        Param::query("search", "Only jobs with this string in their class or arguments, ignoring case; at most 200 characters.")
            .form(Form::TextTo(JOB_SEARCH_CHARS_MAX)),
        Param::query("cursor", "`next_cursor` of the previous page.").form(Form::Pattern(patterns::JOB_ID)),
        PAGING[0],
        INTERNAL,
    ])
    .ok::<JobListView>()
    .errors(&[ErrorCode::InvalidParameter])
    .ext();

const RUN: Doc = Doc::new(TAG, "Make a job ready now")
    .about("A scheduled or retrying job becomes ready at once, at the end of its queue. A ready job is unchanged; any other is `invalid_state`.")
    .ok::<JobView>()
    .errors(&[NO_JOB, ErrorCode::InvalidState])
    .ext();

const GET: Doc = Doc::new(TAG, "Get a job")
    .about("A finished job is available for as long as the server is configured to keep it.")
    .ok::<JobView>()
    .errors(&[NO_JOB])
    .ext();

const DELETE: Doc = Doc::new(TAG, "Delete a job that has not started")
    .ok::<Deleted>()
    .errors(&[NO_JOB, ErrorCode::InvalidState])
    .ext();

const ACK: Doc = Doc::new(TAG, "Finish a job")
    .about("Repeating the request gives the same response. If the token is not that of the current holder, the response is `reservation_lost`.")
    .request::<TokenInput>(r#"{"reservation_token": "1"}"#)
    .ok::<AckedView>()
    .errors(&[NO_JOB, ErrorCode::MissingField, RESERVATION_LOST])
    .ext();

const FAIL: Doc = Doc::new(TAG, "Report a failed attempt")
    .about("The job is retried, with increasing delay, until it has used all its attempts; then it is dead.")
    .request::<FailInput>(r#"{"reservation_token": "1", "error_class": "Timeout", "error_message": "no answer"}"#)
    .ok::<FailedView>()
    .errors(&[NO_JOB, ErrorCode::MissingField, RESERVATION_LOST])
    .ext();

const EXTEND: Doc = Doc::new(TAG, "Extend the reservation of a job")
    .request::<ExtendInput>(r#"{"reservation_token": "1", "seconds": 60}"#)
    .ok::<ExtendedView>()
    .errors(&[NO_JOB, ErrorCode::MissingField, ErrorCode::InvalidField, RESERVATION_LOST])
    .ext();
