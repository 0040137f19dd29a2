//! The HTTP routes of status pages.

use std::sync::Arc;

use super::ops::{self, CurrentPage};
use super::wire::{ComponentInput, PageInput, PageListView, PagePut, PageView};
use crate::app::App;
use crate::areas::status::ids::{MonitorId, PageId};
use crate::areas::status::respond::{fits, respond, respond_list, respond_read};
use crate::http::{
    ApiResult, Deleted, Doc, ErrorCode, Link, PAGING, PathParam, Request, Response, Route, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of status pages.
pub static PAGE_ROUTES: &[Route] = &[
    Route::get("/api/v1/status-pages", &list).doc(LIST),
    Route::post("/api/v1/status-pages", &create).doc(CREATE),
    Route::get(PAGE, &get).doc(GET),
    Route::put(PAGE, &update).doc(UPDATE),
    Route::delete(PAGE, &delete).doc(DELETE),
    Route::post("/api/v1/status-pages/{id}/monitors", &add_monitor).doc(ADD_MONITOR),
    Route::delete("/api/v1/status-pages/{id}/monitors/{monitor_id}", &take_monitor_off)
        .doc(TAKE_MONITOR_OFF),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let found = app.query(move |app| ops::list(app, paging.offset, paging.limit)).await?;
    let shown = found.iter().map(|(page, status)| (page.as_ref(), *status));
    respond_list(&app, &PageListView::new(shown))
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = req.json::<PageInput>()?.into_draft()?;
    let created_by = req.identity().user().to_owned();
    let created = app.blocking(move |app| ops::create(app, draft, created_by)).await?;
    view(&app, Success::Created, &created)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: PageId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, id)).await?;
    respond_read(&app, &PageView::from(&found), found.revision)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<PagePut>()?.into_change()?;
    let id: PageId = req.path("id")?;
    let work = move |app: &App| ops::update(app, id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, &written)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: PageId = req.path("id")?;
    app.blocking(move |app| ops::delete(app, id, |now| fits(&req, now))).await?;
    Response::ok(&Deleted::new(id.text()))
}

async fn add_monitor(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let component = req.json::<ComponentInput>()?.into_component()?;
    let id: PageId = req.path("id")?;
    let written = app.blocking(move |app| ops::add_monitor(app, id, component)).await?;
    view(&app, Success::Ok, &written)
}

async fn take_monitor_off(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: PageId = req.path("id")?;
    let monitor: MonitorId = req.path("monitor_id")?;
    let work = move |app: &App| ops::take_monitor_off(app, id, monitor, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, &written)
}

fn view(app: &App, success: Success, current: &CurrentPage) -> ApiResult<Response> {
    respond(app, success, &PageView::from(current), current.revision)
}

const PAGE: &str = "/api/v1/status-pages/{id}";
const TAG: &str = "Status pages";
const NO_PAGE: ErrorCode = ErrorCode::Missing(PageId::RESOURCE);
const CREATED_LINKS: [Link; 1] = [Link::get(PAGE, "id", "/id")];

const LIST: Doc = Doc::new(TAG, "List status pages, newest first")
    .parameters(&PAGING)
    .ok::<PageListView>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned();

const CREATE: Doc = Doc::new(TAG, "Create a status page")
    .about(
        "Visitors find it on its `custom_domain`, on its `subdomain` of the domain in the setting \
         `status.domain`, and always at `/status/{subdomain}` of the server.",
    )
    .request::<PageInput>(
        r##"{"name": "Shop", "subdomain": "shop", "branding": {"logo_url": "https://shop.example.com/logo.svg", "primary_color": "#4f46e5"}}"##,
    )
    .created::<PageView>()
    .links(&CREATED_LINKS)
    .errors(&[
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ]);

const GET: Doc = Doc::new(TAG, "Get a status page").ok::<PageView>().errors(&[NO_PAGE]).versioned();

const UPDATE: Doc = Doc::new(TAG, "Change a status page")
    .about("Absent fields are unchanged, also those of `branding`.")
    .request::<PagePut>(r##"{"branding": {"primary_color": "#0f766e"}}"##)
    .ok::<PageView>()
    .errors(&[
        NO_PAGE,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ])
    .versioned();

const DELETE: Doc = Doc::new(TAG, "Delete a status page")
    .about("Its incidents and its scheduled maintenances are deleted with it.")
    .ok::<Deleted>()
    .errors(&[NO_PAGE])
    .versioned();

const ADD_MONITOR: Doc = Doc::new(TAG, "Add a monitor to a status page, after the others")
    .request::<ComponentInput>(
        r#"{"monitor_id": "mon_01J0000000000000000000000A", "display_name": "Checkout", "group": "Web"}"#,
    )
    .ok::<PageView>()
    .errors(&[NO_PAGE, ErrorCode::MissingField, ErrorCode::InvalidField, ErrorCode::Conflict]);

const TAKE_MONITOR_OFF: Doc = Doc::new(TAG, "Take a monitor off a status page")
    .about("It is also removed from the incidents and the scheduled maintenances of the page.")
    .ok::<PageView>()
    .errors(&[NO_PAGE, ErrorCode::Missing(MonitorId::RESOURCE)])
    .versioned();
