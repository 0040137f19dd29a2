//! The HTTP routes of maintenance windows.

use std::sync::Arc;

use super::model::{Versioned, Window};
use super::ops;
use super::wire::{WindowInput, WindowPatch, WindowSummaryView, WindowView};
use crate::app::App;
use crate::areas::alerting::ids::WindowId;
use crate::areas::alerting::respond::{fits, respond, respond_page};
use crate::http::{
    ApiResult, Data, Deleted, Doc, ErrorCode, Form, Link, PAGING, Page, Param, PathParam, Request,
    Response, Route, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of maintenance windows.
pub static WINDOW_ROUTES: &[Route] = &[
    Route::get("/api/v1/maintenance_windows", &list).doc(LIST),
    Route::post("/api/v1/maintenance_windows", &create).doc(CREATE),
    Route::get("/api/v1/maintenance_windows/{id}", &get).doc(GET),
    Route::patch("/api/v1/maintenance_windows/{id}", &update).doc(UPDATE),
    Route::delete("/api/v1/maintenance_windows/{id}", &delete).doc(DELETE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (query, now) = (req.query(), app.now());
    let paging = query.paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let (active, current) = (query.flag("active")?, query.flag("current")?);
    let select = move |window: &Window| {
        let fits = active.is_none_or(|active| window.settings.active == active)
            && current.is_none_or(|current| window.is_active_at(now) == current);
        fits.then(|| WindowSummaryView::new(window, now))
    };
    let selected = app.query(move |app| ops::list(app, select)).await?;
    respond_page(&app, selected, paging)
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let settings = req.json::<WindowInput>()?.into_settings()?;
    let created_by = req.identity().user().to_owned();
    let created = app.blocking(move |app| ops::create(app, settings, created_by)).await?;
    view(&app, Success::Created, created)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: WindowId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, &id)).await?;
    view(&app, Success::Ok, found)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: WindowId = req.path("id")?;
    let change = req.json::<WindowPatch>()?.into_change()?;
    let work = move |app: &App| ops::update(app, &id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, written)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: WindowId = req.path("id")?;
    let deleted = Deleted::new(id.as_str());
    app.blocking(move |app| ops::delete(app, &id, |now| fits(&req, now))).await?;
    Response::ok(&Data { data: deleted })
}

fn view(app: &App, success: Success, window: Versioned<Window>) -> ApiResult<Response> {
    respond(app, success, WindowView::new(window.value, app.now()), window.revision)
}

const TAG: &str = "Maintenance windows";
const NO_WINDOW: ErrorCode = ErrorCode::Missing(WindowId::RESOURCE);
const CREATED_LINKS: [Link; 1] = [Link::get("/api/v1/maintenance_windows/{id}", "id", "/data/id")];
const LIST_PARAMETERS: [Param; 4] = [
    Param::query("active", "Only windows that are switched on, or only those that are not.")
        .form(Form::Flag),
    Param::query("current", "Only windows that mute alerts now, or only those that do not.")
        .form(Form::Flag),
    PAGING[0],
    PAGING[1],
];

const LIST: Doc = Doc::new(TAG, "List maintenance windows, newest first")
    .parameters(&LIST_PARAMETERS)
    .ok::<Page<WindowSummaryView>>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned();

const CREATE: Doc = Doc::new(TAG, "Create a maintenance window")
    .about(
        "Mutes the notifications of the rules in `rule_ids`, or of all rules. A recurring window repeats as \
         `recurrence_rule` says on the wall clock of `timezone`, each time as long as from `starts_at` to `ends_at`.",
    )
    .request::<WindowInput>(
        r#"{"name": "Weekly update", "starts_at": "2026-01-04T02:00:00Z", "ends_at": "2026-01-04T04:00:00Z", "recurring": true, "recurrence_rule": "FREQ=WEEKLY;BYDAY=SU", "timezone": "Europe/Berlin", "services": ["shop"]}"#,
    )
    .created::<Data<WindowView>>()
    .links(&CREATED_LINKS)
    .errors(&[
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
        ErrorCode::Conflict,
    ]);

const GET: Doc = Doc::new(TAG, "Get a maintenance window")
    .ok::<Data<WindowView>>()
    .errors(&[NO_WINDOW])
    .versioned();

const UPDATE: Doc = Doc::new(TAG, "Change a maintenance window")
    .about("Absent fields are unchanged. The result must be a valid window.")
    .request::<WindowPatch>(r#"{"active": false}"#)
    .ok::<Data<WindowView>>()
    .errors(&[
        NO_WINDOW,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
    ])
    .versioned();

const DELETE: Doc = Doc::new(TAG, "Delete a maintenance window")
    .ok::<Data<Deleted>>()
    .errors(&[NO_WINDOW])
    .versioned();
