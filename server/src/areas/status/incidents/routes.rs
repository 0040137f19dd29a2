//! The HTTP routes of incidents.

use std::sync::Arc;

use super::model::{Incident, Versioned};
use super::ops;
use super::wire::{IncidentInput, IncidentListView, IncidentPatch, IncidentView};
use crate::app::App;
use crate::areas::status::ids::{IncidentId, PageId};
use crate::areas::status::respond::{fits, respond, respond_list, respond_read};
use crate::http::{
    ApiError, ApiResult, Deleted, Doc, ErrorCode, Form, Link, PAGING, Param, PathParam, Request,
    Response, Route, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of incidents.
pub static INCIDENT_ROUTES: &[Route] = &[
    Route::get(INCIDENTS, &list).doc(LIST),
    Route::post(INCIDENTS, &create).doc(CREATE),
    Route::get(INCIDENT, &get).doc(GET),
    Route::patch(INCIDENT, &update).doc(UPDATE),
    Route::delete(INCIDENT, &delete).doc(DELETE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let page: PageId = req.path("id")?;
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let open = match req.query().one("status")? {
        None => None,
        Some("open") => Some(true),
        Some("resolved") => Some(false),
        Some(_) => return Err(ApiError::parameter("status", "must be one of open, resolved")),
    };
    let found = app.blocking(move |app| ops::list(app, page, open)).await?;
    let shown = found.iter().skip(paging.offset).take(paging.limit);
    respond_list(&app, &IncidentListView::new(shown.map(AsRef::as_ref)))
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = req.json::<IncidentInput>()?.into_draft()?;
    let page: PageId = req.path("id")?;
    let created_by = req.identity().user().to_owned();
    let created = app.blocking(move |app| ops::create(app, page, draft, created_by)).await?;
    view(&app, Success::Created, &created)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let page: PageId = req.path("id")?;
    let id: IncidentId = req.path("incident_id")?;
    let found = app.blocking(move |app| ops::get(app, page, id)).await?;
    respond_read(&app, &IncidentView::from(&found.value), found.revision)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<IncidentPatch>()?.into_change()?;
    let page: PageId = req.path("id")?;
    let id: IncidentId = req.path("incident_id")?;
    let work = move |app: &App| ops::update(app, page, id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, &written)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let page: PageId = req.path("id")?;
    let id: IncidentId = req.path("incident_id")?;
    app.blocking(move |app| ops::delete(app, page, id, |now| fits(&req, now))).await?;
    Response::ok(&Deleted::new(id.text()))
}

fn view(app: &App, success: Success, incident: &Versioned<Incident>) -> ApiResult<Response> {
    respond(app, success, &IncidentView::from(&incident.value), incident.revision)
}

const INCIDENTS: &str = "/api/v1/status-pages/{id}/incidents";
const INCIDENT: &str = "/api/v1/status-pages/{id}/incidents/{incident_id}";
const TAG: &str = "Status pages";
const NO_PAGE: ErrorCode = ErrorCode::Missing(PageId::RESOURCE);
const NO_INCIDENT: ErrorCode = ErrorCode::Missing(IncidentId::RESOURCE);
const STATUSES: [&str; 2] = ["open", "resolved"];
const CREATED_LINKS: [Link; 1] = [Link::get(INCIDENT, "incident_id", "/id").within("id")];
const LIST_PARAMETERS: [Param; 3] = [
    Param::query("status", "Only incidents that are open, or only those that are resolved.")
        .form(Form::OneOf(&STATUSES)),
    PAGING[0],
    PAGING[1],
];

const LIST: Doc = Doc::new(TAG, "List the incidents of a status page, newest first")
    .parameters(&LIST_PARAMETERS)
    .ok::<IncidentListView>()
    .errors(&[NO_PAGE, ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const CREATE: Doc = Doc::new(TAG, "Open an incident")
    .about(
        "The message is its first update. While it is open it makes the status of the page at least \
         `degraded_performance` (minor), `partial_outage` (major) or `major_outage` (critical). A page \
         has at most 50 open incidents.",
    )
    .request::<IncidentInput>(
        r#"{"title": "Slow checkout", "impact": "minor", "message": "We are looking into it."}"#,
    )
    .created::<IncidentView>()
    .links(&CREATED_LINKS)
    .errors(&[NO_PAGE, ErrorCode::MissingField, ErrorCode::InvalidField, ErrorCode::Conflict])
    .ext();

const GET: Doc = Doc::new(TAG, "Get an incident")
    .ok::<IncidentView>()
    .errors(&[NO_PAGE, NO_INCIDENT])
    .versioned()
    .ext();

const UPDATE: Doc = Doc::new(TAG, "Change an incident")
    .about(
        "Absent fields are unchanged. A status or a message adds an update, at most 100, the last of \
         which is reserved for the resolution. A resolved incident stays resolved, and takes messages.",
    )
    .request::<IncidentPatch>(
        r#"{"status": "resolved", "message": "The checkout is as fast as before."}"#,
    )
    .ok::<IncidentView>()
    .errors(&[
        NO_PAGE,
        NO_INCIDENT,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidState,
    ])
    .versioned()
    .ext();

const DELETE: Doc = Doc::new(TAG, "Delete an incident")
    .about("The status page shows it no more, as if it never was. To end one, resolve it.")
    .ok::<Deleted>()
    .errors(&[NO_PAGE, NO_INCIDENT])
    .versioned()
    .ext();
