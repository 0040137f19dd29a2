//! The routes of dead jobs, and what each does.

use std::sync::Arc;

use super::wire::{
    Analytics, DeadList, DeadView, DeletedAll, Pagination, Retried, RetriedAll, SelectionInput,
    filter,
};
use crate::app::App;
use crate::areas::jobs::fields::{INTERNAL, whose};
use crate::areas::jobs::period::period;
use crate::http::{
    ApiResult, BodyKind, Deleted, Doc, ErrorCode, Form, Param, Request, Resource, Response, Route,
};
use crate::jobs::Period;

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
    let mut page = app.jobs().dead_jobs(filter, pagination.offset(), pagination.limit()).await?;
    let memory = page.memory.take_all();
    Response::ok(&DeadList::new(page, pagination))?.held_by(memory)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (dead, memory) = app.jobs().dead_job(req.param("id").to_owned()).await?;
    Response::ok(&DeadView::from(dead))?.held_by(memory)
}

async fn retry(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (dead, new) = app.jobs().retry(req.param("id").to_owned()).await?;
    Response::ok(&Retried::new(&dead, new))
}

async fn retry_all(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let selection = req.json::<SelectionInput>()?.into_selection(req.query(), app.now())?;
    let (retried, failed) = app.jobs().retry_all(selection).await?;
    Response::ok(&RetriedAll::new(retried, failed))
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = app.jobs().forget(req.param("id").to_owned()).await?;
    Response::ok(&Deleted::new(id.to_string()))
}

async fn delete_all(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json_or_default::<SelectionInput>()?;
    input.check_confirmed(req.query())?;
    let deleted = app.jobs().forget_all(input.into_selection(req.query(), app.now())?).await?;
    Response::ok(&DeletedAll::new(deleted))
}

async fn analytics(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let allowed = [Period::Day, Period::Week, Period::Month];
    let period = period(req.query(), &allowed, Period::Week)?;
    let whose = whose(req.query())?;
    let deaths = app.query(move |app| app.jobs().history().deaths(period, whose)).await?;
    Response::ok(&Analytics::new(period, deaths))
}

const TAG: &str = "Dead jobs";
const NO_DEAD_JOB: ErrorCode = ErrorCode::Missing(Resource::DeadJob);

const LIST: Doc = Doc::new(TAG, "List dead jobs, the last to die first")
    .parameters(&[
        Param::query("class_name", "Only of this class."),
        Param::query("error_class", "Only with this class of error."),
        Param::query("queue", "Only of this queue."),
        Param::query("since", "Only those that died at this time or later.").form(Form::Time),
        Param::query(
            "per_page",
            "Jobs of a page; 50 when absent, a larger number is taken as 500.",
        )
        .form(Form::Integer(1)),
        Param::query("limit", "The same as `per_page`.").form(Form::Integer(1)),
        Param::query("page", "Which page, from 1; 1 when absent.").form(Form::Integer(1)),
        INTERNAL,
    ])
    .ok::<DeadList>()
    .errors(&[ErrorCode::InvalidParameter, ErrorCode::InvalidTimestamp]);

const GET: Doc =
    Doc::new(TAG, "Get a dead job with its story").ok::<DeadView>().errors(&[NO_DEAD_JOB]);

const RETRY: Doc = Doc::new(TAG, "Try a dead job again")
    .about("It becomes a new job with a new id, and is no dead job any more: both or neither. It keeps its unique key; while another job that is \
         not finished has that, it is refused with `conflict`.")
    .ok::<Retried>()
    .errors(&[NO_DEAD_JOB, ErrorCode::Conflict]);

const RETRY_ALL: Doc = Doc::new(TAG, "Try dead jobs again")
    .about("By ids or by filter, never both. Ids of no dead job are counted as `failed`, and so are jobs whose unique key another one has. Jobs that die meanwhile are not touched.")
    .parameters(&[INTERNAL])
    .request::<SelectionInput>(r#"{"filter": {"queue": "mails"}}"#)
    .ok::<RetriedAll>()
    .errors(&[
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
    ]);

const DELETE: Doc = Doc::new(TAG, "Delete a dead job").ok::<Deleted>().errors(&[NO_DEAD_JOB]);

const DELETE_ALL: Doc = Doc::new(TAG, "Delete dead jobs")
    .about("By ids or by filter, never both, and only with `confirm`. Ids of no dead job are passed over.")
    .parameters(&[
        Param::query("confirm", "In place of the field of the body.").form(Form::Flag),
        INTERNAL,
    ])
    .optional_request::<SelectionInput>(r#"{"filter": {"queue": "mails"}, "confirm": true}"#)
    .ok::<DeletedAll>()
    .errors(&[
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
    ]);

const ANALYTICS: Doc = Doc::new(TAG, "Count the jobs that died")
    .about("Of whole days in UTC, of which today is the last: 1, 7 or 30. Jobs that were retried or deleted since count too.")
    .parameters(&[
        Param::query("period", "`week` when absent.").form(Form::OneOf(&["day", "week", "month"])),
        INTERNAL,
    ])
    .ok::<Analytics>()
    .errors(&[ErrorCode::InvalidParameter]);
