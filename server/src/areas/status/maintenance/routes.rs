//! The HTTP routes of scheduled maintenances.

use std::sync::Arc;

use super::ops::{self, CurrentMaintenance};
use super::wire::{MaintenanceInput, MaintenanceListView, MaintenancePatch, MaintenanceView};
use crate::app::App;
use crate::areas::status::ids::{MaintenanceId, PageId};
use crate::areas::status::respond::{fits, respond, respond_list, respond_read};
use crate::http::{
    ApiResult, Deleted, Doc, ErrorCode, Link, PAGING, PathParam, Request, Response, Route, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of scheduled maintenances.
pub static MAINTENANCE_ROUTES: &[Route] = &[
    Route::get(MAINTENANCES, &list).doc(LIST),
    Route::post(MAINTENANCES, &create).doc(CREATE),
    Route::get(MAINTENANCE, &get).doc(GET),
    Route::patch(MAINTENANCE, &update).doc(UPDATE),
    Route::delete(MAINTENANCE, &delete).doc(DELETE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let page: PageId = req.path("id")?;
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let work = move |app: &App| ops::list(app, page, paging.offset, paging.limit);
    let found = app.blocking(work).await?;
    respond_list(&app, &MaintenanceListView::new(&found, app.now()))
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = req.json::<MaintenanceInput>()?.into_draft()?;
    let page: PageId = req.path("id")?;
    let created_by = req.identity().user().to_owned();
    let created = app.blocking(move |app| ops::create(app, page, draft, created_by)).await?;
    view(&app, Success::Created, &created)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let page: PageId = req.path("id")?;
    let id: MaintenanceId = req.path("maintenance_id")?;
    let found = app.blocking(move |app| ops::get(app, page, id)).await?;
    respond_read(&app, &MaintenanceView::new(&found, app.now()), found.revision)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<MaintenancePatch>()?.into_change()?;
    let page: PageId = req.path("id")?;
    let id: MaintenanceId = req.path("maintenance_id")?;
    let work = move |app: &App| ops::update(app, page, id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, &written)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let page: PageId = req.path("id")?;
    let id: MaintenanceId = req.path("maintenance_id")?;
    app.blocking(move |app| ops::delete(app, page, id, |now| fits(&req, now))).await?;
    Response::ok(&Deleted::new(id.text()))
}

fn view(app: &App, success: Success, current: &CurrentMaintenance) -> ApiResult<Response> {
    respond(app, success, &MaintenanceView::new(current, app.now()), current.revision)
}

const MAINTENANCES: &str = "/api/v1/status-pages/{id}/maintenance";
const MAINTENANCE: &str = "/api/v1/status-pages/{id}/maintenance/{maintenance_id}";
const TAG: &str = "Status pages";
const NO_PAGE: ErrorCode = ErrorCode::Missing(PageId::RESOURCE);
const NO_MAINTENANCE: ErrorCode = ErrorCode::Missing(MaintenanceId::RESOURCE);
const CREATED_LINKS: [Link; 1] = [Link::get(MAINTENANCE, "maintenance_id", "/id").within("id")];

const LIST: Doc =
    Doc::new(TAG, "List the scheduled maintenances of a status page, those that end last first")
        .about("They are kept for 90 days after their end.")
        .parameters(&PAGING)
        .ok::<MaintenanceListView>()
        .errors(&[NO_PAGE, ErrorCode::InvalidParameter])
        .versioned()
        .ext();

const CREATE: Doc = Doc::new(TAG, "Schedule a maintenance of a status page")
    .about(
        "It begins and ends by itself. While it is in progress, its monitors are `under_maintenance` \
         on the page, and the time does not count for their uptime. With `mute_alerts` a maintenance \
         window is created with it, changed with it, and deleted with it or after its end.",
    )
    .request::<MaintenanceInput>(
        r#"{"title": "New database", "description": "Orders are read-only.", "monitors": ["mon_01J0000000000000000000000A"], "starts_at": "2026-01-04T02:00:00Z", "ends_at": "2026-01-04T04:00:00Z", "notify_subscribers": true}"#,
    )
    .created::<MaintenanceView>()
    .links(&CREATED_LINKS)
    .errors(&[
        NO_PAGE,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
        ErrorCode::Conflict,
    ]);

const GET: Doc = Doc::new(TAG, "Get a scheduled maintenance")
    .ok::<MaintenanceView>()
    .errors(&[NO_PAGE, NO_MAINTENANCE])
    .versioned()
    .ext();

const UPDATE: Doc = Doc::new(TAG, "Change a scheduled maintenance that is not completed")
    .about(
        "Absent fields are unchanged. The result must be a valid maintenance. An end in the past ends \
         one in progress now.",
    )
    .request::<MaintenancePatch>(r#"{"description": "Orders and returns are read-only."}"#)
    .ok::<MaintenanceView>()
    .errors(&[
        NO_PAGE,
        NO_MAINTENANCE,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidState,
        ErrorCode::Conflict,
    ])
    .versioned()
    .ext();

const DELETE: Doc = Doc::new(TAG, "Delete a scheduled maintenance")
    .about(
        "Its maintenance window, if it has one, is deleted with it. The status page shows it no more, \
         as if it never was. To end one in progress, change `ends_at`.",
    )
    .ok::<Deleted>()
    .errors(&[NO_PAGE, NO_MAINTENANCE])
    .versioned()
    .ext();
