//! The HTTP routes of the area.
//!
//! The `ETag` of every response about one dashboard contains the dashboard's revision; `If-Match`
//! on any change of the dashboard, including its widgets and layout, is compared with that
//! revision.

use std::sync::Arc;

use http::header::ETAG;
use serde::Serialize;

use super::data::{RenderedWidgets, RequestedRange, render};
use super::error::{DashboardsError, INVALID_WIDGET_TYPE};
use super::model::{Dashboard, DashboardId, GraphForm, Versioned, WidgetId};
use super::ops::{self, Edit};
use super::variables::ChosenValues;
use super::wire::{
    CopyInput, DashboardInput, DashboardPatch, DashboardView, ExportView, ImportInput, LayoutInput,
    SummaryView, WidgetDataView, WidgetInput, WidgetPatch, WidgetView, page,
};
use crate::app::App;
use crate::http::{
    ApiResult, Data, Deleted, Doc, ErrorCode, Form, Link, PAGING, Page, Param, PathParam, Request,
    Response, Route, Success, etag_of_response, fits,
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
    // A list has no revision, so its ETag depends on the body only; 0 is never a revision.
    Ok(tagged(Response::ok(&page(all, paging))?, 0))
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = req.json::<DashboardInput>()?.into_draft()?;
    let by = req.identity().user().to_owned();
    let dashboard = app.blocking(move |app| ops::build(app, draft, &by)).await?;
    created(&app, &req, dashboard).await
}

async fn import(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = req.json::<ImportInput>()?.into_draft()?;
    let by = req.identity().user().to_owned();
    let dashboard = app.blocking(move |app| ops::build(app, draft, &by)).await?;
    created(&app, &req, dashboard).await
}

async fn duplicate(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let name = req.json_or_default::<CopyInput>()?.into_name()?;
    let (id, by): (DashboardId, _) = (req.path("id")?, req.identity().user().to_owned());
    let dashboard = app.blocking(move |app| ops::copy(app, &id, name, &by)).await?;
    created(&app, &req, dashboard).await
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let requested = RequestedRange::read(req.query(), app.now())?;
    let id: DashboardId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, &id)).await?;
    let chosen = ChosenValues::new(&found.value.variables, &chosen_values(&req))?;
    let shown = (requested, chosen, graph_form(&req)?);
    respond_with_values(&app, Success::Ok, &found, shown).await
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<DashboardPatch>()?.into_change()?;
    let id: DashboardId = req.path("id")?;
    let work = move |app: &App| ops::update(app, &id, &change, &edit(&req));
    let written = app.blocking(work).await?;
    respond_after_write(&app, Success::Ok, &written).await
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: DashboardId = req.path("id")?;
    let deleted = Deleted::new(id.as_str());
    app.blocking(move |app| ops::delete(app, &id, &edit(&req))).await?;
    Response::ok(&Data { data: deleted })
}

async fn export(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: DashboardId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, &id)).await?;
    respond(Success::Ok, ExportView::from(found.value), found.revision)
}

async fn arrange(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let moves = req.json::<LayoutInput>()?.into_moves()?;
    let id: DashboardId = req.path("id")?;
    let work = move |app: &App| ops::arrange(app, &id, &moves, &edit(&req));
    let written = app.blocking(work).await?;
    respond(Success::Ok, DashboardView::widgets(&written.value), written.revision)
}

async fn add_widget(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let widget_draft = req.json::<WidgetInput>()?.into_widget_draft()?;
    let id: DashboardId = req.path("id")?;
    let work = move |app: &App| ops::add_widget(app, &id, &widget_draft, &edit(&req));
    let (widget_id, written) = app.blocking(work).await?;
    respond(Success::Created, WidgetView::from(written.value.widget(&widget_id)?), written.revision)
}

async fn update_widget(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<WidgetPatch>()?.into_change()?;
    let (id, widget_id): (DashboardId, WidgetId) = (req.path("id")?, req.path("widget_id")?);
    let changed_id = widget_id.clone();
    let work = move |app: &App| ops::update_widget(app, &id, &changed_id, &change, &edit(&req));
    let written = app.blocking(work).await?;
    respond(Success::Ok, WidgetView::from(written.value.widget(&widget_id)?), written.revision)
}

async fn delete_widget(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (id, widget_id): (DashboardId, WidgetId) = (req.path("id")?, req.path("widget_id")?);
    let deleted = Deleted::new(widget_id.as_str());
    let work = move |app: &App| ops::delete_widget(app, &id, &widget_id, &edit(&req));
    app.blocking(work).await?;
    Response::ok(&Data { data: deleted })
}

async fn widget_data(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let requested = RequestedRange::read(req.query(), app.now())?;
    let widget_id: WidgetId = req.path("widget_id")?;
    let id: DashboardId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, &id)).await?;
    let widget = found.value.widget(&widget_id)?;
    let range = requested.range(&widget.definition.options)?;
    let chosen = ChosenValues::new(&found.value.variables, &chosen_values(&req))?;
    let form = graph_form(&req)?;
    let RenderedWidgets { mut widgets, memory: _memory } =
        render(&app, [widget], requested, &chosen).await;
    let Some(rendered) = widgets.pop() else {
        return Err(DashboardsError::WidgetNotFound(widget_id.into()).into());
    };
    let data = WidgetDataView::new(widget, range, (rendered, form));
    respond_accounted(&app, Success::Ok, data, found.revision)
}

/// Returns who sent a request, and which revisions its `If-Match` allows to be changed.
pub(super) fn edit(req: &Request) -> Edit<impl Fn(u64) -> bool + '_> {
    Edit { by: req.identity().user().to_owned(), fits: |now| fits(req, now) }
}

/// Returns the values of variables that a request sends.
pub(super) fn chosen_values(req: &Request) -> Vec<(String, String)> {
    let sent = req.query().bracketed("var");
    sent.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// Returns the form in which a request wants the values of graphs.
fn graph_form(req: &Request) -> ApiResult<GraphForm> {
    let expected = || "must be one of points, columns";
    Ok(req.query().parsed("format", expected, GraphForm::parse)?.unwrap_or(GraphForm::Points))
}

/// Stores a new dashboard and responds with it, including the values of its widgets. The response
/// stored for repeated requests has no values: they could exceed the size limit of stored
/// responses, and would be out of date.
async fn created(app: &Arc<App>, req: &Request, dashboard: Dashboard) -> ApiResult<Response> {
    let repeated = Response::created(&Data { data: DashboardView::plain(&dashboard) })?;
    let is_kept = repeated.body().len() <= limits::IDEMPOTENT_BODY_BYTES_MAX;
    let receipt = if is_kept { req.receipt(&repeated) } else { None };
    let stored = app.blocking(move |app| ops::insert(app, dashboard, receipt)).await?;
    respond_after_write(app, Success::Created, &stored).await
}

/// Responds with a dashboard after a write, including the values of its widgets, or without them if
/// memory is short.
pub(super) async fn respond_after_write(
    app: &Arc<App>,
    success: Success,
    stored: &Versioned<Dashboard>,
) -> ApiResult<Response> {
    let chosen = ChosenValues::new(&stored.value.variables, &[])?;
    let shown = (RequestedRange::own(app.now()), chosen, GraphForm::Points);
    match respond_with_values(app, success, stored, shown).await {
        Err(refused) if refused.code() == ErrorCode::Overloaded => {
            let plain = DashboardView::plain(&stored.value).at(stored.revision);
            respond(success, plain, stored.revision)
        }
        response => response,
    }
}

/// Responds with a dashboard, including the values of its widgets.
async fn respond_with_values(
    app: &Arc<App>,
    success: Success,
    found: &Versioned<Dashboard>,
    (requested, chosen, form): (RequestedRange, ChosenValues, GraphForm),
) -> ApiResult<Response> {
    let RenderedWidgets { widgets, memory: _memory } =
        render(app, &found.value.widgets, requested, &chosen).await;
    let data = DashboardView::rendered(&found.value, widgets, form).at(found.revision);
    respond_accounted(app, success, data, found.revision)
}

/// Responds with values, whose JSON may be large and is accounted for.
fn respond_accounted<T: Serialize>(
    app: &App,
    success: Success,
    data: T,
    revision: u64,
) -> ApiResult<Response> {
    let response = Response::counted_json(success, &Data { data }, app.engine().memory())?;
    Ok(tagged(response, revision))
}

fn respond<T: Serialize>(success: Success, data: T, revision: u64) -> ApiResult<Response> {
    Ok(tagged(Response::json(success, &Data { data })?, revision))
}

fn tagged(response: Response, revision: u64) -> Response {
    let etag = etag_of_response(revision, response.body());
    response.header(ETAG, etag)
}

pub(super) const TAG: &str = "Dashboards";
pub(super) const NO_DASHBOARD: ErrorCode = ErrorCode::Missing(DashboardId::RESOURCE);
/// The link from a created dashboard to its resource.
const CREATED_LINKS: [Link; 1] = [Link::get("/api/v1/dashboards/{id}", "id", "/data/id")];
const WIDGET_PATH: &str = "/api/v1/dashboards/{id}/widgets/{widget_id}/data";
const NO_WIDGET: ErrorCode = ErrorCode::Missing(WidgetId::RESOURCE);
const VARIABLE: Param = Param::query(
    "var[name]",
    "The value of a variable of the dashboard, a tag filter: `a`, `a,b`, `!a`, `a*`; `*` selects all. Defaults to the variable's own default.",
)
.form(Form::Tags);
pub(super) const RANGE: [Param; 3] = [
    VARIABLE,
    Param::query("from", "Inclusive. Defaults to `to` minus the widget's `time_range`. A date means its midnight in UTC.")
        .form(Form::Time),
    Param::query("to", "Exclusive; defaults to now. A date means the end of that day.").form(Form::Time),
];
const FORMAT: Param = Param::query(
    "format",
    "`columns` returns the values of graphs as `columns`: one array of times and one of values for each line, a fraction of the size. \
     Graphs whose lines have few times in common have `series` or `groups` in any case. Default: `points`.",
)
.form(Form::OneOf(&["points", "columns"]));
const VALUES: [Param; 4] = [RANGE[0], RANGE[1], RANGE[2], FORMAT];

const LIST: Doc = Doc::new(TAG, "List dashboards, newest first")
    .parameters(&PAGING)
    .ok::<Page<SummaryView>>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned();

const CREATE: Doc = Doc::new(TAG, "Create a dashboard")
    .request::<DashboardInput>(r#"{"name": "Shop", "description": "Orders and machines"}"#)
    .created::<Data<DashboardView>>()
    .links(&CREATED_LINKS)
    .errors(&[ErrorCode::MissingName, ErrorCode::InvalidName, ErrorCode::InvalidField]);

const GET: Doc = Doc::new(TAG, "Get a dashboard with the values of its widgets")
    .about(
        "All widgets are computed concurrently, each within a timeout. A widget that fails or times out has an \
         `error` instead of its values; the others are returned. `from` and `to` replace the range of every widget.",
    )
    .parameters(&VALUES)
    .ok::<Data<DashboardView>>()
    .errors(&[
        NO_DASHBOARD,
        ErrorCode::InvalidParameter,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
    ])
    .versioned();

const UPDATE: Doc = Doc::new(TAG, "Change the name or description of a dashboard")
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
    .optional_request::<CopyInput>(r#"{"name": "Shop (copy)"}"#)
    .created::<Data<DashboardView>>()
    .links(&CREATED_LINKS)
    .errors(&[NO_DASHBOARD, ErrorCode::MissingName, ErrorCode::InvalidName])
    .ext();

const EXPORT: Doc = Doc::new(TAG, "Export a dashboard")
    .about("The export can be imported with `POST /api/v1/dashboards/import`, on this or another server.")
    .ok::<Data<ExportView>>()
    .errors(&[NO_DASHBOARD])
    .versioned()
    .ext();

const IMPORT: Doc = Doc::new(TAG, "Import a dashboard")
    .about(
        "Creates a new dashboard with new widgets. If a widget is invalid, nothing is created.",
    )
    .request::<ImportInput>(
        r#"{"version": 1, "name": "Shop", "widgets": [{"type": "number", "title": "Orders", "query": {"event": "order.paid"}}]}"#,
    )
    .created::<Data<DashboardView>>()
    .links(&CREATED_LINKS)
    .errors(&[
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        INVALID_WIDGET_TYPE,
        ErrorCode::MissingField,
        ErrorCode::InvalidQuery,
        ErrorCode::InvalidField,
    ])
    .ext();

const LAYOUT: Doc = Doc::new(TAG, "Move the widgets of a dashboard")
    .about("All widgets are moved, or none. Widgets not listed stay in place. Returns all widgets, without values.")
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
    .about("A metric that does not exist yet is accepted and has no values.")
    .request::<WidgetInput>(
        r#"{"type": "graph", "title": "Load", "query": {"metric": "cpu.usage", "aggregation": "avg"}, "options": {"style": "line"}}"#,
    )
    .created::<Data<WidgetView>>()
    .links(&[Link::get(WIDGET_PATH, "widget_id", "/data/id").within("id")])
    .errors(&[
        NO_DASHBOARD,
        INVALID_WIDGET_TYPE,
        ErrorCode::MissingField,
        ErrorCode::InvalidQuery,
        ErrorCode::InvalidField,
    ])
    .versioned();

const UPDATE_WIDGET: Doc = Doc::new(TAG, "Change a widget")
    .about("Absent fields are unchanged; `query` and `options` are replaced as a whole.")
    .request::<WidgetPatch>(r#"{"title": "Load of all hosts"}"#)
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

const WIDGET_DATA: Doc = Doc::new(TAG, "Get the values of one widget")
    .about("Includes the range of the values. A widget that fails or times out has an `error` instead of its values.")
    .parameters(&VALUES)
    .ok::<Data<WidgetDataView>>()
    .errors(&[NO_DASHBOARD, NO_WIDGET, ErrorCode::InvalidTimestamp, ErrorCode::InvalidRange])
    .versioned()
    .ext();
