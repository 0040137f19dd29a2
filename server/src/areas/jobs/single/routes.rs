//! The routes of jobs, and what each does.

use std::sync::Arc;

use super::wire::{
    AckedView, BatchInput, BatchView, EnqueuedView, ExtendInput, ExtendedView, FailInput,
    FailedView, JobInput, JobListView, JobView, TokenInput, cursor, filter, job_id,
};
use crate::app::App;
use crate::areas::jobs::fields::{INTERNAL, enqueueing, working};
use crate::http::{
    ApiResult, BodyKind, Deleted, Doc, ErrorCode, Form, Link, PAGING, Param, Request, Resource,
    Response, Route,
};
use crate::limits::{JOB_SEARCH_CHARS_MAX, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};
use crate::platform::patterns;

/// The routes of jobs.
pub static ROUTES: &[Route] = &[
    enqueueing("/api/v1/jobs", &enqueue).doc(ENQUEUE),
    enqueueing("/api/v1/jobs/batch", &enqueue_batch).body(BodyKind::Batch).doc(ENQUEUE_BATCH),
    Route::get("/api/v1/jobs", &list).doc(LIST),
    Route::get("/api/v1/jobs/{id}", &get).doc(GET),
    Route::delete("/api/v1/jobs/{id}", &delete).doc(DELETE),
    Route::post("/api/v1/jobs/{id}/run", &run).doc(RUN),
    working("/api/v1/jobs/{id}/ack", &ack).doc(ACK),
    working("/api/v1/jobs/{id}/fail", &fail).doc(FAIL),
    working("/api/v1/jobs/{id}/extend", &extend).doc(EXTEND),
];

async fn enqueue(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let drafted = app.jobs().draft(req.json::<JobInput>()?.into_job()?);
    let response = Response::created(&EnqueuedView::from(drafted.answer()))?;
    app.jobs().enqueue(drafted, req.receipt(&response)).await?;
    Ok(response)
}

async fn enqueue_batch(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (good, refused) = req.json::<BatchInput>()?.sort()?;
    let drafted = good.into_iter().map(|job| app.jobs().draft(job)).collect();
    // Made where the jobs are taken, so that the receipt is on disk with them or not at all.
    let answer = move |outcomes| {
        let response = Response::created(&BatchView::new(refused, outcomes));
        let receipt = response.as_ref().ok().and_then(|response| req.receipt(response));
        (response, receipt)
    };
    app.jobs().enqueue_all(drafted, answer).await?
}

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let limit = req.query().limit("limit", PAGE_LIMIT_MAX)?.unwrap_or(PAGE_LIMIT_DEFAULT);
    let (filter, below) = (filter(req.query())?, cursor(req.query())?);
    let mut page = app.jobs().list(filter, below, limit).await?;
    let memory = page.memory.take_all();
    Response::ok(&JobListView::from(page))?.held_by(memory)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (job, memory) = app.jobs().job(job_id(req.param("id"))?).await?;
    Response::ok(&JobView::from(job))?.held_by(memory)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = job_id(req.param("id"))?;
    app.jobs().delete(id).await?;
    Response::ok(&Deleted::new(id.to_string()))
}

async fn run(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = job_id(req.param("id"))?;
    app.jobs().run_now(id).await?;
    let (job, memory) = app.jobs().job(id).await?;
    Response::ok(&JobView::from(job))?.never_refused().held_by(memory)
}

async fn ack(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json::<TokenInput>()?;
    let id = job_id(req.param("id"))?;
    app.jobs().for_users().ack(id, input.token(id)?).await?;
    Response::ok(&AckedView::new(id))
}

async fn fail(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json::<FailInput>()?;
    let id = job_id(req.param("id"))?;
    let (token, report) = input.into_report(id)?;
    let failed = app.jobs().for_users().fail(id, token, report).await?;
    Response::ok(&FailedView::new(id, failed))
}

async fn extend(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json::<ExtendInput>()?;
    let id = job_id(req.param("id"))?;
    let (token, seconds) = input.into_seconds(id)?;
    let expires_at = app.jobs().for_users().extend(id, token, seconds).await?;
    Response::ok(&ExtendedView::new(id, expires_at))
}

const TAG: &str = "Jobs";
const NO_JOB: ErrorCode = ErrorCode::Missing(Resource::Job);

const ENQUEUE: Doc = Doc::new(TAG, "Enqueue a job")
    .about(
        "The job is on disk when this is answered, and is worked at least once. While a job with its `unique_key` is not \
         finished, another one is refused with `conflict`, and `details.id` names the job there is. Public keys cannot enqueue.",
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
    .about("Jobs that are good are enqueued together, all of them or, should the server fail, none; the others are told. Public keys cannot enqueue.")
    .request::<BatchInput>(r#"{"jobs": [{"class_name": "SendMail"}, {"class_name": "SendMail", "run_at": "2026-01-02T03:04:05Z"}]}"#)
    .created::<BatchView>()
    .errors(&[ErrorCode::MissingField, ErrorCode::BatchTooLarge])
    .ext();

const LIST: Doc = Doc::new(TAG, "List the jobs that wait or run, the last to be enqueued first")
    .about(
        "Finished jobs are not in it, and dead ones have a list of their own. A request looks at a limited number of jobs: a page may have fewer \
         than `limit` although others follow. Only a page without `next_cursor` is the last one.",
    )
    .parameters(&[
        Param::query("queue", "Only of this queue."),
        Param::query("status", "Only with this status. `waiting` jobs are ready to be fetched, and their status says `ready`.")
            .form(Form::OneOf(&["waiting", "scheduled", "retrying", "running"])),
        Param::query("class_name", "Only of this class."),
        Param::query("search", "Only with this text in their class or their arguments, in any case; at most 200 characters.")
            .form(Form::TextTo(JOB_SEARCH_CHARS_MAX)),
        Param::query("cursor", "`next_cursor` of the page before.").form(Form::Pattern(patterns::JOB_ID)),
        PAGING[0],
        INTERNAL,
    ])
    .ok::<JobListView>()
    .errors(&[ErrorCode::InvalidParameter])
    .ext();

const RUN: Doc = Doc::new(TAG, "Let a job begin that waits for its time")
    .about("A scheduled or retrying job is ready at once, behind those that are. One that is ready stays as it is; another is `invalid_state`.")
    .ok::<JobView>()
    .errors(&[NO_JOB, ErrorCode::InvalidState])
    .ext();

const GET: Doc = Doc::new(TAG, "Get a job")
    .about("A finished job can be asked for as long as the server is configured to remember it.")
    .ok::<JobView>()
    .errors(&[NO_JOB])
    .ext();

const DELETE: Doc = Doc::new(TAG, "Delete a job that has not started")
    .ok::<Deleted>()
    .errors(&[NO_JOB, ErrorCode::InvalidState])
    .ext();

const ACK: Doc = Doc::new(TAG, "Finish a job")
    .about("The same again is answered alike. A token that is no longer the holder's is `reservation_lost`.")
    .request::<TokenInput>(r#"{"reservation_token": "1"}"#)
    .ok::<AckedView>()
    .errors(&[NO_JOB, ErrorCode::MissingField, ErrorCode::ReservationLost])
    .ext();

const FAIL: Doc = Doc::new(TAG, "Tell that an attempt failed")
    .about("The job is tried again, each time later, until it has had all its attempts; then it is dead.")
    .request::<FailInput>(r#"{"reservation_token": "1", "error_class": "Timeout", "error_message": "no answer"}"#)
    .ok::<FailedView>()
    .errors(&[NO_JOB, ErrorCode::MissingField, ErrorCode::ReservationLost])
    .ext();

const EXTEND: Doc = Doc::new(TAG, "Keep a job for longer")
    .request::<ExtendInput>(r#"{"reservation_token": "1", "seconds": 60}"#)
    .ok::<ExtendedView>()
    .errors(&[NO_JOB, ErrorCode::MissingField, ErrorCode::InvalidField, ErrorCode::ReservationLost])
    .ext();
