//! The routes of the area, and what each does: parse, act, answer.
//!
//! The `ETag` of everything that is answered about one dashboard names the dashboard's revision; `If-Match` on any
//! change of it, widgets and layout included, is compared with that.

use std::sync::Arc;

use http::StatusCode;
use http::header::ETAG;
use serde::Serialize;
use telltale_engine::Versioned;

use super::data::{RenderedWidgets, Span, render};
use super::error::DashboardsError;
use super::model::Dashboard;
use super::ops;
use super::wire::{
    CopyInput, DashboardInput, DashboardPatch, DashboardView, ExportView, ImportInput, LayoutInput,
    SummaryView, WidgetDataView, WidgetInput, WidgetPatch, WidgetView, page,
};
use crate::app::App;
use crate::http::{
    ApiResult, Data, Deleted, Doc, ErrorCode, Form, Link, PAGING, Page, Param, Request, Resource,
    Response, Route, etag_of_answer,
};
use crate::limits::{self, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of the area.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/dashboards", &list).doc(LIST),
    Route::post("/api/v1/dashboards", &create).doc(CREATE),
    Route::post("/api/v1/dashboards/import", &import).doc(IMPORT),
    Route::get("/api/v1/dashboards/{id}", &get).doc(GET),
    Route::patch("/api/v1/dashboards/{id}", &update).doc(UPDATE),
    Route::delete("/api/v1/dashboards/{id}", &delete).doc(DELETE),
    Route::post("/api/v1/dashboards/{id}/duplicate", &duplicate).doc(DUPLICATE),
    Route::get("/api/v1/dashboards/{id}/export", &export).doc(EXPORT),
    Route::patch("/api/v1/dashboards/{id}/layout", &arrange).doc(LAYOUT),
    Route::post("/api/v1/dashboards/{id}/widgets", &add_widget).doc(ADD_WIDGET),
    Route::patch("/api/v1/dashboards/{id}/widgets/{widget_id}", &update_widget).doc(UPDATE_WIDGET),
    Route::delete("/api/v1/dashboards/{id}/widgets/{widget_id}", &delete_widget).doc(DELETE_WIDGET),
    Route::get(WIDGET_PATH, &widget_data).doc(WIDGET_DATA),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let all = app.blocking(ops::list).await?;
    // No revision is 0: the list has none, only its bytes.
    Ok(tagged(Response::ok(&page(all, paging))?, 0))
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = req.json::<DashboardInput>()?.into_draft()?;
    let dashboard = app.blocking(move |app| ops::make(app, draft)).await?;
    created(&app, &req, dashboard).await
}

async fn import(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = req.json::<ImportInput>()?.into_draft()?;
    let dashboard = app.blocking(move |app| ops::make(app, draft)).await?;
    created(&app, &req, dashboard).await
}

async fn duplicate(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let name = req.json_or_default::<CopyInput>()?.into_name()?;
    let id = req.param("id").to_owned();
    let dashboard = app.blocking(move |app| ops::copy(app, &id, name)).await?;
    created(&app, &req, dashboard).await
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let span = Span::read(req.query(), app.now())?;
    let found = app.blocking(move |app| ops::get(app, req.param("id"))).await?;
    shown(&app, StatusCode::OK, &found, span).await
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<DashboardPatch>()?.into_change()?;
    let work = move |app: &App| ops::update(app, req.param("id"), &change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    shown_after_write(&app, StatusCode::OK, &written).await
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let gone = Deleted::new(req.param("id"));
    app.blocking(move |app| ops::delete(app, req.param("id"), |now| fits(&req, now))).await?;
    Response::ok(&Data { data: gone })
}

async fn export(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let found = app.blocking(move |app| ops::get(app, req.param("id"))).await?;
    answer(StatusCode::OK, ExportView::from(found.value), found.revision)
}

async fn arrange(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let moves = req.json::<LayoutInput>()?.into_moves()?;
    let work = move |app: &App| ops::arrange(app, req.param("id"), &moves, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    answer(StatusCode::OK, DashboardView::widgets(&written.value), written.revision)
}

async fn add_widget(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let sketch = req.json::<WidgetInput>()?.into_sketch()?;
    let work =
        move |app: &App| ops::add_widget(app, req.param("id"), &sketch, |now| fits(&req, now));
    let (id, written) = app.blocking(work).await?;
    answer(StatusCode::CREATED, WidgetView::from(written.value.widget(&id)?), written.revision)
}

async fn update_widget(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<WidgetPatch>()?.into_change()?;
    let widget_id = req.param("widget_id").to_owned();
    let id = widget_id.clone();
    let work = move |app: &App| {
        ops::update_widget(app, req.param("id"), &id, &change, |now| fits(&req, now))
    };
    let written = app.blocking(work).await?;
    answer(StatusCode::OK, WidgetView::from(written.value.widget(&widget_id)?), written.revision)
}

async fn delete_widget(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let gone = Deleted::new(req.param("widget_id"));
    let work = move |app: &App| {
        ops::delete_widget(app, req.param("id"), req.param("widget_id"), |now| fits(&req, now))
    };
    app.blocking(work).await?;
    Response::ok(&Data { data: gone })
}

async fn widget_data(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let span = Span::read(req.query(), app.now())?;
    let widget_id = req.param("widget_id").to_owned();
    let found = app.blocking(move |app| ops::get(app, req.param("id"))).await?;
    let widget = found.value.widget(&widget_id)?;
    let range = span.range(&widget.definition.options)?;
    let RenderedWidgets { mut widgets, memory: _memory } = render(&app, [widget], span).await;
    let Some(rendered) = widgets.pop() else {
        return Err(DashboardsError::WidgetNotFound(widget_id).into());
    };
    let data = WidgetDataView::new(widget, range, rendered);
    counted_answer(&app, StatusCode::OK, data, found.revision)
}

/// Whether the caller's `If-Match` allows a change of this revision.
fn fits(req: &Request, revision: u64) -> bool {
    req.check_if_match(revision).is_ok()
}

/// Stores a new dashboard and answers it with what it shows. A repeated request is answered without the values:
/// they may be larger than what is kept for it, and would be old.
async fn created(app: &Arc<App>, req: &Request, dashboard: Dashboard) -> ApiResult<Response> {
    let remembered = Response::created(&Data { data: DashboardView::plain(&dashboard) })?;
    let is_kept = remembered.body().len() <= limits::IDEMPOTENT_BODY_BYTES_MAX;
    let receipt = if is_kept { req.receipt(&remembered) } else { None };
    let stored = app.blocking(move |app| ops::insert(app, dashboard, receipt)).await?;
    shown_after_write(app, StatusCode::CREATED, &stored).await
}

/// Answers a dashboard that was stored with what its widgets show, or without where there is no memory for that.
async fn shown_after_write(
    app: &Arc<App>,
    status: StatusCode,
    stored: &Versioned<Dashboard>,
) -> ApiResult<Response> {
    match shown(app, status, stored, Span::own(app.now())).await {
        Err(refused) if refused.code() == ErrorCode::Overloaded => {
            answer(status, DashboardView::plain(&stored.value), stored.revision)
        }
        shown => shown,
    }
}

/// Answers a dashboard with what its widgets show.
async fn shown(
    app: &Arc<App>,
    status: StatusCode,
    found: &Versioned<Dashboard>,
    span: Span,
) -> ApiResult<Response> {
    let RenderedWidgets { widgets, memory: _memory } =
        render(app, &found.value.widgets, span).await;
    let data = DashboardView::rendered(&found.value, widgets);
    counted_answer(app, status, data, found.revision)
}

/// Answers with values, whose text may be large.
fn counted_answer<T: Serialize>(
    app: &App,
    status: StatusCode,
    data: T,
    revision: u64,
) -> ApiResult<Response> {
    let response = Response::counted_json(status, &Data { data }, app.engine().memory())?;
    Ok(tagged(response, revision))
}

fn answer<T: Serialize>(status: StatusCode, data: T, revision: u64) -> ApiResult<Response> {
    Ok(tagged(Response::json(status, &Data { data })?, revision))
}

fn tagged(response: Response, revision: u64) -> Response {
    let etag = etag_of_answer(revision, response.body());
    response.header(ETAG, etag)
}

const TAG: &str = "Dashboards";
const NO_DASHBOARD: ErrorCode = ErrorCode::Missing(Resource::Dashboard);
/// From what was made to the dashboard.
const MADE: [Link; 1] = [Link::get("/api/v1/dashboards/{id}", "id", "/data/id")];
const WIDGET_PATH: &str = "/api/v1/dashboards/{id}/widgets/{widget_id}/data";
const NO_WIDGET: ErrorCode = ErrorCode::Missing(Resource::Widget);
const RANGE: [Param; 2] = [
    Param::query("from", "Inclusive. As far before `to` as the widget's `time_range` says when absent. A date is its midnight in UTC.")
        .form(Form::Time),
    Param::query("to", "Exclusive; now when absent. A date is the end of that day.").form(Form::Time),
];

const LIST: Doc = Doc::new(TAG, "List dashboards, the newest first")
    .parameters(&PAGING)
    .ok::<Page<SummaryView>>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned();

const CREATE: Doc = Doc::new(TAG, "Make a dashboard")
    .request::<DashboardInput>(r#"{"name": "Shop", "description": "Orders and machines"}"#)
    .created::<Data<DashboardView>>()
    .links(&MADE)
    .errors(&[ErrorCode::MissingName, ErrorCode::InvalidName, ErrorCode::InvalidField]);

const GET: Doc = Doc::new(TAG, "Get a dashboard with what its widgets show")
    .about(
        "All widgets are computed at once, each within a budget of time. One that fails or is late has an `error` in \
         place of its values, and the others are answered. `from` and `to` replace the range of every widget.",
    )
    .parameters(&RANGE)
    .ok::<Data<DashboardView>>()
    .errors(&[NO_DASHBOARD, ErrorCode::InvalidTimestamp, ErrorCode::InvalidRange])
    .versioned();

const UPDATE: Doc = Doc::new(TAG, "Rename or describe a dashboard")
    .request::<DashboardPatch>(r#"{"description": null}"#)
    .ok::<Data<DashboardView>>()
    .errors(&[
        NO_DASHBOARD,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ])
    .versioned();

const DELETE: Doc = Doc::new(TAG, "Delete a dashboard with its widgets")
    .ok::<Data<Deleted>>()
    .errors(&[NO_DASHBOARD, ErrorCode::Conflict])
    .versioned();

const DUPLICATE: Doc = Doc::new(TAG, "Copy a dashboard with its widgets")
    .optional_request::<CopyInput>(r#"{"name": "Shop, again"}"#)
    .created::<Data<DashboardView>>()
    .links(&MADE)
    .errors(&[NO_DASHBOARD, ErrorCode::MissingName, ErrorCode::InvalidName])
    .ext();

const EXPORT: Doc = Doc::new(TAG, "Export a dashboard")
    .about("What comes out goes into `POST /api/v1/dashboards/import`, here or on another server.")
    .ok::<Data<ExportView>>()
    .errors(&[NO_DASHBOARD])
    .versioned()
    .ext();

const IMPORT: Doc = Doc::new(TAG, "Import a dashboard")
    .about(
        "Makes a new dashboard with new widgets. All of it, or nothing when a widget is refused.",
    )
    .request::<ImportInput>(
        r#"{"version": 1, "name": "Shop", "widgets": [{"type": "number", "title": "Orders", "query": {"event": "order.paid"}}]}"#,
    )
    .created::<Data<DashboardView>>()
    .links(&MADE)
    .errors(&[
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::InvalidWidgetType,
        ErrorCode::MissingField,
        ErrorCode::InvalidQuery,
        ErrorCode::InvalidField,
    ])
    .ext();

const LAYOUT: Doc = Doc::new(TAG, "Move the widgets of a dashboard")
    .about("All or nothing. Widgets that are not named stay. Answers all widgets, without values.")
    .request::<LayoutInput>(r#"{"widgets": []}"#)
    .ok::<Data<Vec<WidgetView>>>()
    .errors(&[
        NO_DASHBOARD,
        NO_WIDGET,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ])
    .versioned();

const ADD_WIDGET: Doc = Doc::new(TAG, "Add a widget")
    .about("A metric that does not exist yet is accepted and shows nothing.")
    .request::<WidgetInput>(
        r#"{"type": "graph", "title": "Load", "query": {"metric": "cpu.usage", "aggregation": "avg"}, "options": {"style": "line"}}"#,
    )
    .created::<Data<WidgetView>>()
    .links(&[Link::get(WIDGET_PATH, "widget_id", "/data/id").within("id")])
    .errors(&[
        NO_DASHBOARD,
        ErrorCode::InvalidWidgetType,
        ErrorCode::MissingField,
        ErrorCode::InvalidQuery,
        ErrorCode::InvalidField,
    ])
    .versioned();

const UPDATE_WIDGET: Doc = Doc::new(TAG, "Change a widget")
    .about("Absent fields stay; `query` and `options` are replaced whole.")
    .request::<WidgetPatch>(r#"{"title": "Load of all machines"}"#)
    .ok::<Data<WidgetView>>()
    .errors(&[
        NO_DASHBOARD,
        NO_WIDGET,
        ErrorCode::MissingField,
        ErrorCode::InvalidQuery,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ])
    .versioned();

const DELETE_WIDGET: Doc = Doc::new(TAG, "Remove a widget")
    .ok::<Data<Deleted>>()
    .errors(&[NO_DASHBOARD, NO_WIDGET, ErrorCode::Conflict])
    .versioned();

const WIDGET_DATA: Doc = Doc::new(TAG, "Get what one widget shows")
    .about("With the range that it was computed of. A widget that fails or is late has an `error` in place of its values.")
    .parameters(&RANGE)
    .ok::<Data<WidgetDataView>>()
    .errors(&[NO_DASHBOARD, NO_WIDGET, ErrorCode::InvalidTimestamp, ErrorCode::InvalidRange])
    .versioned()
    .ext();
