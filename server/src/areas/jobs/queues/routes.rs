//! The HTTP routes of queues.

use std::sync::Arc;

use super::wire::{
    Paused, PurgeInput, Purged, QueueDetail, QueueHistory, QueueList, QueueSummary, Resumed,
};
use crate::app::App;
use crate::areas::jobs::fields::{INTERNAL, queue_owner, user_queue};
use crate::areas::jobs::period::{period, resolution};
use crate::http::{
    ApiResult, BodyKind, Deleted, Doc, ErrorCode, Form, PAGING, Param, PathParam, Request,
    Response, Route,
};
use crate::jobs::{JobsError, Period, QueueName};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of queues.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/queues", &list).doc(LIST),
    Route::get("/api/v1/queues/{name}", &get).doc(GET),
    Route::get("/api/v1/queues/{name}/metrics", &history).doc(HISTORY),
    Route::post("/api/v1/queues/{name}/pause", &pause).doc(PAUSE),
    Route::post("/api/v1/queues/{name}/resume", &resume).drains().doc(RESUME),
    Route::delete("/api/v1/queues/{name}", &delete).doc(DELETE),
    Route::delete("/api/v1/queues/{name}/jobs", &purge).body(BodyKind::Json).doc(PURGE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let whose = queue_owner(req.query())?;
    let page = app.jobs().queue_page(whose, paging.offset, paging.limit).await?;
    let mut throughputs = app.query(|app| app.jobs().history().throughput()).await?;
    let summary = |queue: crate::jobs::QueueView| {
        let throughput = throughputs.remove(&*queue.name).unwrap_or_default();
        QueueSummary::new(queue, throughput)
    };
    let queues = page.queues.into_iter().map(summary).collect();
    Response::ok(&QueueList { queues, total: page.total })
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let name: QueueName = req.path("name")?;
    let queue = app.jobs().queue(name.clone()).await?;
    let past = app.query(move |app| {
        let history = app.jobs().history();
        let throughput = history.throughput()?.remove(&*name).unwrap_or_default();
        Ok::<_, JobsError>((throughput, history.today(&name)?))
    });
    let (throughput, today) = past.await?;
    Response::ok(&QueueDetail::new(queue, throughput, today))
}

async fn history(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let allowed = [Period::Hour, Period::Day, Period::Week];
    let period = period(req.query(), &allowed, Period::Hour)?;
    let resolution = resolution(req.query(), period)?;
    let name: QueueName = req.path("name")?;
    let queue_name = name.clone();
    let now = app.jobs().queue(name.clone()).await?;
    let moments = app.query(move |app| app.jobs().history().queue(&queue_name, period, resolution));
    let mut moments = moments.await?;
    moments.last_mut().into_iter().for_each(|moment| moment.fill_current(&now));
    Response::ok(&QueueHistory::new(&name, period, resolution, moments))
}

async fn pause(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let name = user_queue(&req)?;
    let since = app.jobs().pause(name.clone()).await?;
    Response::ok(&Paused::new(&name, since))
}

async fn resume(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let name = user_queue(&req)?;
    let since = app.jobs().resume(name.clone()).await?;
    Response::ok(&Resumed::new(&name, since))
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let name = user_queue(&req)?;
    app.jobs().delete_queue(name.clone()).await?;
    Response::ok(&Deleted::new(name.to_string()))
}

async fn purge(app: Arc<App>, req: Request) -> ApiResult<Response> {
    req.json_or_default::<PurgeInput>()?.check(req.query())?;
    let name = user_queue(&req)?;
    let deleted = app.jobs().purge(name.clone()).await?;
    Response::ok(&Purged::new(&name, deleted))
}

const TAG: &str = "Queues";
const NO_QUEUE: ErrorCode = ErrorCode::Missing(QueueName::RESOURCE);

const LIST: Doc = Doc::new(TAG, "List queues, by name")
    .about("A queue exists from the first job or worker that names it until it has been unused for a day: without jobs, including finished \
         and dead ones, without workers, and not paused.")
    .parameters(&[PAGING[0], PAGING[1], INTERNAL])
    .ok::<QueueList>()
    .errors(&[ErrorCode::InvalidParameter]);

const GET: Doc = Doc::new(TAG, "Get a queue with today's statistics")
    .about("Today is the current day in UTC. Failed attempts count as processed.")
    .ok::<QueueDetail>()
    .errors(&[NO_QUEUE]);

const HISTORY: Doc = Doc::new(TAG, "Get the history of a queue")
    .about("One entry for every bucket of the period; the last one is incomplete.")
    .parameters(&[
        Param::query("period", "Defaults to `hour`.").form(Form::OneOf(&["hour", "day", "week"])),
        Param::query(
            "resolution",
            "Defaults to `minute` for an hour, `5min` for a day, `hour` for a week.",
        )
        .form(Form::OneOf(&["minute", "5min", "hour"])),
    ])
    .ok::<QueueHistory>()
    .errors(&[NO_QUEUE, ErrorCode::InvalidParameter]);

const PAUSE: Doc = Doc::new(TAG, "Pause a queue")
    .about("A paused queue accepts jobs but hands none out, until it is resumed, also across restarts. Running jobs continue. Pausing a paused queue has no effect.")
    .ok::<Paused>()
    .errors(&[NO_QUEUE, ErrorCode::ReservedName]);

const RESUME: Doc = Doc::new(TAG, "Resume a queue").ok::<Resumed>().errors(&[
    NO_QUEUE,
    ErrorCode::ReservedName,
    ErrorCode::InvalidState,
]);

const DELETE: Doc = Doc::new(TAG, "Delete an empty queue")
    .about("The queue must have no waiting or running jobs, or the response is `invalid_state`. Its dead jobs are kept. The queue is created again \
         by the next job or worker that names it.")
    .ok::<Deleted>()
    .errors(&[NO_QUEUE, ErrorCode::ReservedName, ErrorCode::InvalidState])
    .ext();

const PURGE: Doc = Doc::new(TAG, "Delete the waiting jobs of a queue")
    .about("Deletes jobs that are ready, scheduled or retrying, but not running ones.")
    .parameters(&[
        Param::query("confirm", "Instead of the body, which some proxies drop.").form(Form::Flag)
    ])
    .optional_request::<PurgeInput>(r#"{"confirm": true}"#)
    .ok::<Purged>()
    .errors(&[NO_QUEUE, ErrorCode::ReservedName, ErrorCode::MissingField]);
