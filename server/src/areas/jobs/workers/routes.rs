//! The routes of workers, and what each does.

use std::sync::Arc;
use std::time::Duration;

use super::wire::{
    FetchInput, Fetched, HeardView, QuietedAll, RegisteredView, Told, VitalsInput, WorkerDetail,
    WorkerHistory, WorkerInput, WorkerList, worker_id,
};
use crate::app::App;
use crate::areas::jobs::fields::{INTERNAL, whose, working};
use crate::areas::jobs::period::period;
use crate::http::{
    ApiResult, Deleted, Doc, ErrorCode, Form, LimitClass, Link, PAGING, Param, Request, Resource,
    Response, Route, Scope,
};
use crate::jobs::{Period, WorkerStatus};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of workers.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/workers", &list).doc(LIST),
    working("/api/v1/workers", &register).doc(REGISTER),
    Route::get("/api/v1/workers/stats", &stats).doc(STATS),
    Route::post("/api/v1/workers/quiet-all", &quiet_all).doc(QUIET_ALL),
    Route::get("/api/v1/workers/{id}", &get).doc(GET),
    Route::delete("/api/v1/workers/{id}", &deregister)
        .scope(Scope::Work)
        .limit(LimitClass::Unlimited)
        .doc(DEREGISTER),
    working("/api/v1/workers/{id}/heartbeat", &heartbeat).doc(HEARTBEAT),
    working("/api/v1/workers/{id}/fetch", &fetch).waits().doc(FETCH),
    Route::post("/api/v1/workers/{id}/quiet", &quiet).doc(QUIET),
    Route::post("/api/v1/workers/{id}/stop", &stop).doc(STOP),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let whose = whose(req.query())?;
    let page = app.jobs().worker_page(whose, paging.offset, paging.limit).await?;
    Response::ok(&WorkerList::from(page))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let worker = app.jobs().worker(worker_id(req.param("id"))?).await?;
    Response::ok(&WorkerDetail::new(worker, app.now()))
}

async fn stats(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let allowed = [Period::Hour, Period::Day, Period::Week];
    let period = period(req.query(), &allowed, Period::Hour)?;
    let whose = whose(req.query())?;
    let now = app.jobs().worker_page(whose, 0, 0).await?;
    let mut past = app.query(move |app| app.jobs().history().workers(period, whose)).await?;
    past.timeline.last_mut().into_iter().for_each(|moment| moment.look_now(&now));
    Response::ok(&WorkerHistory::new(period, past))
}

async fn register(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let worker = req.json::<WorkerInput>()?.into_worker()?;
    Response::created(&RegisteredView::from(app.jobs().register(worker).await?))
}

async fn heartbeat(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let vitals = req.json_or_default::<VitalsInput>()?.into_vitals()?;
    let heard = app.jobs().for_users().heartbeat(worker_id(req.param("id"))?, vitals).await?;
    Response::ok(&HeardView::from(heard))
}

async fn fetch(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let (limit, wait) = req.json_or_default::<FetchInput>()?.read()?;
    let worker = worker_id(req.param("id"))?;
    let may_wait = !wait.is_zero();
    let permit = may_wait.then(|| app.jobs().permit_wait(req.identity().key_id())).flatten();
    let mut granted = match permit {
        Some(_permit) => req.wait(app.jobs().for_users().fetch(worker, limit, wait)).await??,
        None => app.jobs().for_users().fetch(worker, limit, Duration::ZERO).await?,
    };
    let response = Response::ok(&Fetched::new(granted.jobs()))?.that_drains();
    // The answer takes the place of the jobs that it is made of: they count once. Where it has no room they go back.
    let response = response.held_by(granted.take_memory())?;
    // From here on the answer is on its way, and the jobs are the worker's.
    granted.keep();
    Ok(response)
}

async fn deregister(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = worker_id(req.param("id"))?;
    app.jobs().for_users().deregister(id).await?;
    Response::ok(&Deleted::new(id.to_string()))
}

async fn quiet(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = worker_id(req.param("id"))?;
    Response::ok(&Told::new(id, app.jobs().for_users().restrict(id, WorkerStatus::Quiet).await?))
}

async fn stop(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = worker_id(req.param("id"))?;
    Response::ok(&Told::new(id, app.jobs().for_users().restrict(id, WorkerStatus::Stopping).await?))
}

async fn quiet_all(app: Arc<App>, _: Request) -> ApiResult<Response> {
    Response::ok(&QuietedAll::new(app.jobs().quiet_all().await?))
}

const TAG: &str = "Workers";
const NO_WORKER: ErrorCode = ErrorCode::Missing(Resource::Worker);

const LIST: Doc = Doc::new(TAG, "List workers, the newest first")
    .about("`summary` is of all workers, whatever page is asked for. The server's own worker is among them with `internal` only.")
    .parameters(&[PAGING[0], PAGING[1], INTERNAL])
    .ok::<WorkerList>()
    .errors(&[ErrorCode::InvalidParameter]);

const GET: Doc =
    Doc::new(TAG, "Get a worker with the jobs it holds").ok::<WorkerDetail>().errors(&[NO_WORKER]);

const STATS: Doc = Doc::new(TAG, "Get the history of all workers")
    .parameters(&[
        Param::query("period", "`hour` when absent.").form(Form::OneOf(&["hour", "day", "week"])),
        INTERNAL,
    ])
    .ok::<WorkerHistory>()
    .errors(&[ErrorCode::InvalidParameter]);

const REGISTER: Doc = Doc::new(TAG, "Register a worker")
    .about("Queues that it names are made. It is gone when it is not heard of for four heartbeats.")
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

const HEARTBEAT: Doc = Doc::new(TAG, "Tell that a worker is alive")
    .about("The answer says what the worker may do; that never goes back. `worker_not_found`: register again.")
    .optional_request::<VitalsInput>(r#"{"busy_threads": 2, "memory_mb": 180.5}"#)
    .ok::<HeardView>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState, ErrorCode::InvalidField])
    .ext();

const FETCH: Doc = Doc::new(TAG, "Fetch jobs")
    .about(
        "Hands out jobs of the worker's queues, those of the first queue first. With `wait_seconds` it waits for one. Whoever \
         hangs up meanwhile gets none, and none is lost. Where as many fetches wait as may, of the key or in all, it is answered at \
         once. A worker that is not active gets none. An `Idempotency-Key` is ignored: a repetition is another fetch, and jobs of an \
         answer that reaches nobody go back to the front of their queues.",
    )
    .optional_request::<FetchInput>(r#"{"limit": 1}"#)
    .ok::<Fetched>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState, ErrorCode::InvalidField])
    .ext();

const DEREGISTER: Doc = Doc::new(TAG, "Tell that a worker leaves")
    .about("Jobs that it holds go back to the front of their queues, and nothing counts as an attempt.")
    .ok::<Deleted>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState])
    .ext();

const QUIET: Doc = Doc::new(TAG, "Let a worker finish and begin nothing more")
    .about("The server's own worker cannot be told so.")
    .ok::<Told>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState]);

const STOP: Doc = Doc::new(TAG, "Let a worker finish and leave")
    .about("The server's own worker cannot be told so.")
    .ok::<Told>()
    .errors(&[NO_WORKER, ErrorCode::InvalidState]);

const QUIET_ALL: Doc = Doc::new(TAG, "Let all workers finish and begin nothing more")
    .about("The server's own worker goes on.")
    .ok::<QuietedAll>();
