//! The HTTP routes of workers.

use std::sync::Arc;
use std::time::Duration;

use super::wire::{
    FetchInput, Fetched, HeartbeatView, QuietedAll, RegisteredView, StatusView, VitalsInput,
    WorkerDetail, WorkerHistory, WorkerInput, WorkerList,
};
use crate::app::App;
use crate::areas::jobs::fields::{INTERNAL, queue_owner, worker_route};
use crate::areas::jobs::period::period;
use crate::http::{
    ApiResult, Deleted, Doc, ErrorCode, Form, LimitClass, Link, PAGING, Param, PathParam, Request,
    Response, Route, Scope,
};
use crate::jobs::{Period, WorkerId, WorkerStatus};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of workers.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/workers", &list).doc(LIST),
    worker_route("/api/v1/workers", &register).doc(REGISTER),
    Route::get("/api/v1/workers/stats", &stats).doc(STATS),
    Route::post("/api/v1/workers/quiet-all", &quiet_all).doc(QUIET_ALL),
    Route::get("/api/v1/workers/{id}", &get).doc(GET),
    Route::delete("/api/v1/workers/{id}", &deregister)
        .scope(Scope::Work)
        .limit(LimitClass::Unlimited)
        .doc(DEREGISTER),
    worker_route("/api/v1/workers/{id}/heartbeat", &heartbeat).doc(HEARTBEAT),
    worker_route("/api/v1/workers/{id}/fetch", &fetch).waits().doc(FETCH),
    Route::post("/api/v1/workers/{id}/quiet", &quiet).doc(QUIET),
    Route::post("/api/v1/workers/{id}/stop", &stop).doc(STOP),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let whose = queue_owner(req.query())?;
    let page = app.jobs().worker_page(whose, paging.offset, paging.limit).await?;
    Response::ok(&WorkerList::from(page))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let worker = app.jobs().worker(req.path("id")?).await?;
    Response::ok(&WorkerDetail::new(worker, app.now()))
}

async fn stats(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let allowed = [Period::Hour, Period::Day, Period::Week];
    let period = period(req.query(), &allowed, Period::Hour)?;
    let whose = queue_owner(req.query())?;
    let now = app.jobs().worker_page(whose, 0, 0).await?;
    let mut past = app.query(move |app| app.jobs().history().workers(period, whose)).await?;
    past.timeline.last_mut().into_iter().for_each(|moment| moment.fill_current(&now));
    Response::ok(&WorkerHistory::new(period, past))
}

async fn register(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let worker = req.json::<WorkerInput>()?.into_worker()?;
    Response::created(&RegisteredView::from(app.jobs().register(worker).await?))
}

async fn heartbeat(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let vitals = req.json_or_default::<VitalsInput>()?.into_vitals()?;
    let state = app.jobs().for_clients().heartbeat(req.path("id")?, vitals).await?;
    Response::ok(&HeartbeatView::from(state))
}

async fn fetch(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let (limit, wait) = req.json_or_default::<FetchInput>()?.read()?;
    let worker: WorkerId = req.path("id")?;
    let may_wait = !wait.is_zero();
    let permit = may_wait.then(|| app.jobs().permit_wait(req.identity().key_id())).flatten();
    let mut granted = match permit {
        Some(_permit) => req.wait(app.jobs().for_clients().fetch(worker, limit, wait)).await??,
        None => app.jobs().for_clients().fetch(worker, limit, Duration::ZERO).await?,
    };
    let response = Response::ok(&Fetched::new(granted.jobs()))?.may_use_reserve();
    // The response takes over the memory of the jobs, so that it is counted once. If the response
    // cannot reserve the rest, the jobs are returned to their queues.
    let response = response.held_by(granted.take_memory())?;
    // The response is about to be sent; from here on the worker holds the jobs.
    granted.keep();
    Ok(response)
}

async fn deregister(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: WorkerId = req.path("id")?;
    app.jobs().for_clients().deregister(id).await?;
    Response::ok(&Deleted::new(id.to_string()))
}

async fn quiet(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: WorkerId = req.path("id")?;
    Response::ok(&StatusView::new(
        id,
        app.jobs().for_clients().restrict(id, WorkerStatus::Quiet).await?,
    ))
}

async fn stop(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: WorkerId = req.path("id")?;
    Response::ok(&StatusView::new(
        id,
        app.jobs().for_clients().restrict(id, WorkerStatus::Stopping).await?,
    ))
}

async fn quiet_all(app: Arc<App>, _: Request) -> ApiResult<Response> {
    Response::ok(&QuietedAll::new(app.jobs().quiet_all().await?))
}

const TAG: &str = "Workers";
const NO_WORKER: ErrorCode = ErrorCode::Missing(WorkerId::RESOURCE);

const LIST: Doc = Doc::new(TAG, "List workers, newest first")
    .about("`summary` covers all workers, regardless of the page. The server's own worker is included only with `internal`.")
    .parameters(&[PAGING[0], PAGING[1], INTERNAL])
    .ok::<WorkerList>()
    .errors(&[ErrorCode::InvalidParameter]);

const GET: Doc =
    Doc::new(TAG, "Get a worker with its current jobs").ok::<WorkerDetail>().errors(&[NO_WORKER]);

const STATS: Doc = Doc::new(TAG, "Get the history of all workers")
    .parameters(&[
        Param::query("period", "Defaults to `hour`.").form(Form::OneOf(&["hour", "day", "week"])),
        INTERNAL,
    ])
    .ok::<WorkerHistory>()
    .errors(&[ErrorCode::InvalidParameter]);

const REGISTER: Doc = Doc::new(TAG, "Register a worker")
    .about("Creates the queues it names. The worker is removed after four heartbeat intervals without contact.")
    .request::<WorkerInput>(
        r#"{"hostname": "web-1", "pid": 4711, "queues": ["mails"], "concurrency": 4}"#,
    )
    .created::<RegisteredView>()
    .links(&[Link::get("/api/v1/workers/{id}", "id", "/id")])
    .errors(&[
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::ReservedName,
        ErrorCode::Conflict,
    ])
    .ext();

const HEARTBEAT: Doc = Doc::new(TAG, "Send a heartbeat")
    .about("The response contains the worker's status, which only changes from `active` to `quiet` to `stopping`. On `worker_not_found`, register again.")
    .optional_request::<VitalsInput>(r#"{"busy_threads": 2, "memory_mb": 180.5}"#)
    .ok::<HeartbeatView>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState, ErrorCode::InvalidField])
    .ext();

const FETCH: Doc = Doc::new(TAG, "Fetch jobs")
    .about(
        "Hands out jobs of the worker's queues, in the order of the queues. With `wait_seconds`, the request waits for a job; if the client \
         disconnects meanwhile, no job is handed out or lost. If the limit of waiting fetches is reached, per key or in total, the response \
         is immediate. A worker that is not active gets no jobs. `Idempotency-Key` is ignored: a repeated request is another fetch, and the \
         jobs of a response that could not be delivered return to the front of their queues.",
    )
    .optional_request::<FetchInput>(r#"{"limit": 1}"#)
    .ok::<Fetched>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState, ErrorCode::InvalidField])
    .ext();

const DEREGISTER: Doc = Doc::new(TAG, "Deregister a worker")
    .about("The jobs it holds return to the front of their queues without counting an attempt.")
    .ok::<Deleted>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState])
    .ext();

const QUIET: Doc = Doc::new(TAG, "Quiet a worker: finish current jobs, accept no new ones")
    .about("The server's own worker cannot be quieted.")
    .ok::<StatusView>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState]);

const STOP: Doc = Doc::new(TAG, "Stop a worker after its current jobs")
    .about("The server's own worker cannot be stopped.")
    .ok::<StatusView>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState]);

const QUIET_ALL: Doc = Doc::new(TAG, "Quiet all workers")
    .about("The server's own worker is not affected.")
    .ok::<QuietedAll>();
