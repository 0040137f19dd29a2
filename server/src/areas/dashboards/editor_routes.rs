//! The HTTP routes for editors of dashboards: whole documents, their versions, previews of widgets,
//! and the events that are drawn over graphs.

use std::sync::Arc;

use super::annotations::annotations;
use super::data::{RenderedWidgets, RequestedRange, render};
use super::error::INVALID_WIDGET_TYPE;
use super::history;
use super::model::{DashboardId, VersionNumber};
use super::ops;
use super::options::WidgetOptions;
use super::routes::{NO_DASHBOARD, RANGE, TAG, chosen_values, edit, respond_after_write};
use super::variables::ChosenValues;
use super::wire::{
    AnnotationsView, DashboardView, PreviewInput, ReplacementInput, RestoreInput,
    VersionSummaryView, WidgetPreviewView,
};
use crate::app::App;
use crate::http::{
    ApiResult, Data, Doc, ErrorCode, LimitClass, PAGING, Page, PathParam, Request, Response, Route,
    Scope, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes for editors.
pub static EDITOR_ROUTES: &[Route] = &[
    Route::put("/api/v1/dashboards/{id}", &replace).doc(REPLACE),
    Route::post("/api/v1/dashboards/preview", &preview)
        .scope(Scope::Read)
        .limit(LimitClass::Query)
        .waits()
        .doc(PREVIEW),
    Route::get("/api/v1/dashboards/{id}/annotations", &annotate)
        .limit(LimitClass::Query)
        .doc(ANNOTATIONS),
    Route::get("/api/v1/dashboards/{id}/versions", &versions).doc(VERSIONS),
    Route::get("/api/v1/dashboards/{id}/versions/{version}", &version).doc(VERSION),
    Route::post("/api/v1/dashboards/{id}/restore", &restore).doc(RESTORE),
];

async fn replace(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let replacement = req.json::<ReplacementInput>()?.into_replacement()?;
    let id: DashboardId = req.path("id")?;
    let work = move |app: &App| history::replace(app, &id, &replacement, &edit(&req));
    respond_after_write(&app, Success::Ok, &app.blocking(work).await?).await
}

async fn versions(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let id: DashboardId = req.path("id")?;
    let all = app.blocking(move |app| history::versions(app, &id)).await?;
    Response::ok(&VersionSummaryView::page(all, paging))
}

async fn version(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (id, number): (DashboardId, VersionNumber) = (req.path("id")?, req.path("version")?);
    let found = app.blocking(move |app| history::version(app, &id, number)).await?;
    Response::ok(&Data { data: DashboardView::of_version(&found, number) })
}

async fn restore(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let number = req.json::<RestoreInput>()?.into_version()?;
    let id: DashboardId = req.path("id")?;
    let work = move |app: &App| history::restore(app, &id, number, &edit(&req));
    respond_after_write(&app, Success::Ok, &app.blocking(work).await?).await
}

async fn annotate(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let requested = RequestedRange::read(req.query(), app.now())?;
    let id: DashboardId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, &id)).await?.value;
    let range = requested.range(&WidgetOptions::default())?;
    let chosen = ChosenValues::new(&found.variables, &chosen_values(&req))?;
    let respond = move |app: &App| {
        let data = AnnotationsView::new(range, annotations(app, &found, range, &chosen)?)?;
        Response::counted_json(Success::Ok, &Data { data }, app.engine().memory())
    };
    app.query(respond).await
}

async fn preview(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let requested = RequestedRange::read(req.query(), app.now())?;
    let (draft, variables) = req.json::<PreviewInput>()?.read()?;
    let chosen = ChosenValues::new(&variables, &chosen_values(&req))?;
    let widget = app.blocking(move |app| ops::unstored(app, draft)).await?;
    let range = requested.range(&widget.definition.options)?;
    let RenderedWidgets { mut widgets, memory: _memory } =
        render(&app, [&widget], requested, &chosen).await;
    let Some(rendered) = widgets.pop() else { unreachable!("one widget was rendered") };
    let data = WidgetPreviewView::new(widget.definition.r#type, range, rendered);
    Response::counted_json(Success::Ok, &Data { data }, app.engine().memory())
}

const REPLACE: Doc = Doc::new(TAG, "Replace a whole dashboard")
    .about(
        "For editors: everything is as in the body afterwards, in one step; what is absent is removed. Widgets keep their ids; those without an \
         id are new. The version that is replaced can be named by `If-Match` or by `version`; if it is not the current one, nothing is \
         changed, and `details.version` and the `ETag` of the response are the current one.",
    )
    .request::<ReplacementInput>(
        r#"{"name": "Shop", "widgets": [{"type": "number", "title": "Orders", "query": {"event": "order.paid", "tags": {"shop": "$shop"}}}], "variables": [{"name": "shop", "source": {"event": "order.paid", "tag": "shop"}}], "overlays": [{"event": "deploy.*"}]}"#,
    )
    .ok::<Data<DashboardView>>()
    .errors(&[
        NO_DASHBOARD,
        INVALID_WIDGET_TYPE,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidQuery,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ])
    .versioned()
    .ext();

const VERSIONS: Doc = Doc::new(TAG, "List the versions of a dashboard, the current one first")
    .about("Every change keeps the version before it; 50 of them are kept.")
    .parameters(&PAGING)
    .ok::<Page<VersionSummaryView>>()
    .errors(&[NO_DASHBOARD, ErrorCode::InvalidParameter])
    .ext();

const VERSION: Doc = Doc::new(TAG, "Get a version of a dashboard, without values")
    .ok::<Data<DashboardView>>()
    .errors(&[NO_DASHBOARD, ErrorCode::Missing(VersionNumber::RESOURCE)])
    .ext();

const RESTORE: Doc = Doc::new(TAG, "Restore an earlier version of a dashboard")
    .about("The version before is kept, so this can be undone in the same way.")
    .request::<RestoreInput>("")
    .ok::<Data<DashboardView>>()
    .errors(&[
        NO_DASHBOARD,
        ErrorCode::Missing(VersionNumber::RESOURCE),
        ErrorCode::MissingField,
        ErrorCode::Conflict,
    ])
    .versioned()
    .ext();

const ANNOTATIONS: Doc = Doc::new(
    TAG,
    "Get the events that are drawn over the graphs of a dashboard",
)
.about("Those of its `overlays`: the newest 200 events of each. Without `from`, the last 24 hours.")
.parameters(&RANGE)
.ok::<Data<AnnotationsView>>()
.errors(&[
    NO_DASHBOARD,
    ErrorCode::InvalidParameter,
    ErrorCode::InvalidTimestamp,
    ErrorCode::InvalidRange,
])
.ext();

const PREVIEW: Doc = Doc::new(TAG, "Get the values of a widget that is not stored")
    .about("A widget that fails or times out has an `error` instead of its values.")
    .parameters(&RANGE)
    .request::<PreviewInput>(
        r#"{"type": "graph", "query": {"metric": "cpu.usage", "aggregation": "avg", "tags": {"host": "$host"}}, "variables": [{"name": "host"}]}"#,
    )
    .ok::<Data<WidgetPreviewView>>()
    .errors(&[
        INVALID_WIDGET_TYPE,
        ErrorCode::MissingField,
        ErrorCode::InvalidQuery,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
        ErrorCode::InvalidRange,
    ])
    .ext();
