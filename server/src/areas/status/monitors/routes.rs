//! The HTTP routes of monitors.

use std::sync::Arc;

use super::change::MonitorKind;
use super::model::{Monitor, MonitorState};
use super::response::{DeletedMonitorView, HistoryView, MonitorListView, MonitorView, UptimeView};
use super::table::CurrentMonitor;
use super::wire::{HeartbeatInput, MonitorInput, MonitorPatch};
use super::{ops, work};
use crate::app::App;
use crate::areas::status::ids::MonitorId;
use crate::areas::status::limits;
use crate::areas::status::respond::{fits, respond, respond_list};
use crate::http::{
    ApiError, ApiResult, Doc, ErrorCode, Form, LimitClass, Link, PAGING, Param, PathParam, Request,
    Response, Route, Scope, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of monitors.
pub static MONITOR_ROUTES: &[Route] = &[
    Route::get("/api/v1/monitors", &list).doc(LIST),
    Route::post("/api/v1/monitors", &create).doc(CREATE),
    Route::get("/api/v1/monitors/{id}", &get).doc(GET),
    Route::patch("/api/v1/monitors/{id}", &update).doc(UPDATE),
    Route::delete("/api/v1/monitors/{id}", &delete).doc(DELETE),
    Route::post("/api/v1/monitors/{id}/pause", &pause).doc(PAUSE),
    Route::post("/api/v1/monitors/{id}/resume", &resume).doc(RESUME),
    Route::post("/api/v1/monitors/{id}/check", &check).doc(CHECK),
    Route::post("/api/v1/monitors/{id}/heartbeat", &heartbeat)
        .scope(Scope::Ingest)
        .limit(LimitClass::Single)
        .private()
        .doc(HEARTBEAT),
    Route::get("/api/v1/monitors/{id}/history", &history).doc(HISTORY),
    Route::get("/api/v1/monitors/{id}/uptime", &uptime).doc(UPTIME),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (query, now) = (req.query(), app.now());
    let paging = query.paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let state = query.one_of("status", &STATES)?.and_then(MonitorState::parse);
    let kind = query.one_of("type", &KINDS)?.and_then(MonitorKind::parse);
    let is_wanted = move |monitor: &Monitor, now: MonitorState| {
        state.is_none_or(|state| state == now)
            && kind.is_none_or(|kind| monitor.settings.target.kind() == kind)
    };
    let positions = paging.offset..paging.offset.saturating_add(paging.limit);
    let work = move |app: &App| Ok::<_, ApiError>(ops::list(app, is_wanted, positions));
    let monitors = app.query(work).await?.into_iter();
    respond_list(
        &app,
        &MonitorListView::new(monitors.map(|one| MonitorView::new(one, now)).collect()),
    )
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let settings = req.json::<MonitorInput>()?.into_settings()?;
    let created_by = req.identity().user().to_owned();
    let created = app.blocking(move |app| ops::create(app, settings, created_by)).await?;
    view(&app, Success::Created, created)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: MonitorId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, id)).await?;
    view(&app, Success::Ok, found)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<MonitorPatch>()?.into_change()?;
    let id: MonitorId = req.path("id")?;
    let work = move |app: &App| ops::update(app, id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, written)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: MonitorId = req.path("id")?;
    let work = move |app: &App| ops::delete(app, id, |now| fits(&req, now));
    let removed_from = app.blocking(work).await?;
    Response::ok(&DeletedMonitorView::new(id.text(), removed_from))
}

async fn pause(app: Arc<App>, req: Request) -> ApiResult<Response> {
    set_paused(app, req, true).await
}

async fn resume(app: Arc<App>, req: Request) -> ApiResult<Response> {
    set_paused(app, req, false).await
}

async fn set_paused(app: Arc<App>, req: Request, is_paused: bool) -> ApiResult<Response> {
    let id: MonitorId = req.path("id")?;
    let work = move |app: &App| ops::pause(app, id, is_paused, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, written)
}

async fn check(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let id: MonitorId = req.path("id")?;
    let waiting = work::check_now(&app, id);
    let checked = req.wait(waiting).await??;
    view(&app, Success::Ok, checked)
}

async fn heartbeat(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let result = req.json_or_default::<HeartbeatInput>()?.into_result(app.now())?;
    let id: MonitorId = req.path("id")?;
    let reported = work::report(&app, id, result).await?;
    view(&app, Success::Ok, reported)
}

async fn history(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: MonitorId = req.path("id")?;
    let limit = req.query().limit("limit", limits::HISTORY_LIMIT_MAX)?;
    let limit = limit.unwrap_or(PAGE_LIMIT_DEFAULT);
    let changes = app.blocking(move |app| ops::history(app, id, limit)).await?;
    respond_list(&app, &HistoryView::new(changes))
}

async fn uptime(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: MonitorId = req.path("id")?;
    let days = req.query().limit("days", UPTIME_DAYS)?.unwrap_or(UPTIME_DAYS);
    let found = app.blocking(move |app| ops::get(app, id)).await?;
    let days = i64::try_from(days).unwrap_or(limits::UPTIME_DAYS);
    respond_list(&app, &UptimeView::new(&found, days, app.now()))
}

fn view(app: &App, success: Success, current: CurrentMonitor) -> ApiResult<Response> {
    let revision = current.revision;
    respond(app, success, &MonitorView::new(current, app.now()), revision)
}

const TAG: &str = "Monitors";
const NO_MONITOR: ErrorCode = ErrorCode::Missing(MonitorId::RESOURCE);
const STATES: [&str; 5] = ["pending", "up", "degraded", "down", "paused"];
const KINDS: [&str; 3] = ["http", "tcp", "heartbeat"];
/// The days of an uptime.
const UPTIME_DAYS: usize = limits::UPTIME_DAYS as usize;
const CREATED_LINKS: [Link; 1] = [Link::get("/api/v1/monitors/{id}", "id", "/id")];
const LIST_PARAMETERS: [Param; 4] = [
    Param::query("status", "Only monitors with this status.").form(Form::OneOf(&STATES)),
    Param::query("type", "Only monitors of this type.").form(Form::OneOf(&KINDS)),
    PAGING[0],
    PAGING[1],
];
const HISTORY_PARAMETERS: [Param; 1] = [Param::query(
    "limit",
    "Maximum number of changes to return. Default 100; a value over 1000 is reduced to 1000.",
)
.form(Form::Integer(1))];
const UPTIME_PARAMETERS: [Param; 1] = [Param::query(
    "days",
    "Number of days, today included. Default 90; a value over 90 is reduced to 90.",
)
.form(Form::Integer(1))];
const INVALID: [ErrorCode; 5] = [
    ErrorCode::MissingName,
    ErrorCode::InvalidName,
    ErrorCode::MissingField,
    ErrorCode::InvalidField,
    ErrorCode::Conflict,
];

const LIST: Doc = Doc::new(TAG, "List monitors, newest first")
    .parameters(&LIST_PARAMETERS)
    .ok::<MonitorListView>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const CREATE: Doc = Doc::new(TAG, "Create a monitor")
    .about(
        "The monitor is checked at once and then every `interval_seconds`. It is down when `retries` \
         checks after a failed one have failed too, and then since the first of them. Each check \
         writes `telltale.monitor.up`, `.response_ms` and `.certificate_days`, with the id in the tag \
         `monitor`, which alert rules can watch. Addresses that are not public are refused unless \
         the operator has allowed them.",
    )
    .request::<MonitorInput>(
        r#"{"name": "Shop", "type": "http", "url": "https://shop.example.com/", "expected_status": ["2xx"], "body_contains": "Welcome", "degraded_after_ms": 800}"#,
    )
    .created::<MonitorView>()
    .links(&CREATED_LINKS)
    .errors(&INVALID)
    .ext();

const GET: Doc =
    Doc::new(TAG, "Get a monitor").ok::<MonitorView>().errors(&[NO_MONITOR]).versioned().ext();

const UPDATE: Doc = Doc::new(TAG, "Change a monitor")
    .about("Absent fields are unchanged. If the target changes, it is checked at once.")
    .request::<MonitorPatch>(r#"{"interval_seconds": 30}"#)
    .ok::<MonitorView>()
    .errors(&[NO_MONITOR, ErrorCode::MissingName, ErrorCode::InvalidName, ErrorCode::InvalidField])
    .versioned()
    .ext();

const DELETE: Doc = Doc::new(TAG, "Delete a monitor")
    .about("It is taken off all status pages. Its metrics stay until they expire.")
    .ok::<DeletedMonitorView>()
    .errors(&[NO_MONITOR])
    .versioned()
    .ext();

const PAUSE: Doc = Doc::new(TAG, "Pause a monitor")
    .about("Nothing is checked, and the time does not count for the uptime.")
    .ok::<MonitorView>()
    .errors(&[NO_MONITOR, ErrorCode::InvalidState])
    .ext();

const RESUME: Doc = Doc::new(TAG, "End the pause of a monitor")
    .about("It is `pending` until it was checked, which happens at once.")
    .ok::<MonitorView>()
    .errors(&[NO_MONITOR, ErrorCode::InvalidState])
    .ext();

const CHECK: Doc = Doc::new(TAG, "Check a monitor now")
    .about("Responds when the check is done; its result counts like that of any other.")
    .ok::<MonitorView>()
    .errors(&[NO_MONITOR, ErrorCode::InvalidState])
    .ext();

const HEARTBEAT: Doc = Doc::new(TAG, "Report to a heartbeat monitor")
    .about(
        "Without a report for `interval_seconds` and `grace_seconds` the monitor is down. A report \
         without a body says that all is well.",
    )
    .optional_request::<HeartbeatInput>(r#"{"status": "up", "duration_ms": 1200}"#)
    .ok::<MonitorView>()
    .errors(&[NO_MONITOR, ErrorCode::InvalidState, ErrorCode::InvalidField])
    .ext();

const HISTORY: Doc = Doc::new(TAG, "Get the changes of a monitor's status, newest first")
    .parameters(&HISTORY_PARAMETERS)
    .ok::<HistoryView>()
    .errors(&[NO_MONITOR, ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const UPTIME: Doc = Doc::new(TAG, "Get the uptime of a monitor, by day")
    .about(
        "Counted by time in each state. What was not observed does not count: before the monitor \
         existed, while it was paused, during scheduled maintenance, and while the server did not run.",
    )
    .parameters(&UPTIME_PARAMETERS)
    .ok::<UptimeView>()
    .errors(&[NO_MONITOR, ErrorCode::InvalidParameter])
    .versioned()
    .ext();
