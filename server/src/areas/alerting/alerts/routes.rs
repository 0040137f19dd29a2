//! The HTTP routes of alerts.

use std::sync::Arc;

use super::ops;
use super::wire::{AlertDetailView, AlertView, status_parameter};
use crate::app::App;
use crate::areas::alerting::ids::AlertId;
use crate::areas::alerting::ledger::AlertFilter;
use crate::areas::alerting::respond::respond_part;
use crate::areas::alerting::wire::severity_parameter;
use crate::http::{
    ApiResult, BodyKind, Data, Doc, ErrorCode, Form, PAGING, Page, Param, PathParam, Request,
    Response, Route,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of alerts.
pub static ALERT_ROUTES: &[Route] = &[
    Route::get("/api/v1/alerts", &list).doc(LIST),
    Route::get("/api/v1/alerts/{id}", &get).doc(GET),
    Route::post("/api/v1/alerts/{id}/acknowledge", &acknowledge)
        .body(BodyKind::None)
        .doc(ACKNOWLEDGE),
    Route::post("/api/v1/alerts/{id}/resolve", &resolve).body(BodyKind::None).doc(RESOLVE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let filter = AlertFilter {
        status: req.query().one("status")?.map(status_parameter).transpose()?,
        severity: req.query().one("severity")?.map(severity_parameter).transpose()?,
        rule: req.query().one("rule_id")?.map(|id| id.to_owned().into()),
    };
    let work = move |app: &App| ops::page(app, &filter, paging.offset, paging.limit);
    let (page, total) = app.query(work).await?;
    respond_part(&app, page.iter().map(AlertView::from).collect(), paging.meta(total))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: AlertId = req.path("id")?;
    let (found, names) = app.blocking(move |app| ops::detail(app, id)).await?;
    Response::ok(&Data { data: AlertDetailView::new(found, &names) })
}

async fn acknowledge(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: AlertId = req.path("id")?;
    let by = req.identity().user().to_owned();
    let changed = app.blocking(move |app| ops::acknowledge(app, id, &by)).await?;
    Response::ok(&Data { data: AlertView::from(&changed) })
}

async fn resolve(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: AlertId = req.path("id")?;
    let by = req.identity().user().to_owned();
    let changed = app.blocking(move |app| ops::resolve(app, id, &by)).await?;
    Response::ok(&Data { data: AlertView::from(&changed) })
}

const TAG: &str = "Alerts";
const NO_ALERT: ErrorCode = ErrorCode::Missing(AlertId::RESOURCE);
const LIST_PARAMETERS: [Param; 5] = [
    Param::query("status", "Only alerts with this status.").form(Form::OneOf(&[
        "firing",
        "acknowledged",
        "resolved",
    ])),
    Param::query("severity", "Only alerts of this severity.")
        .form(Form::OneOf(&["info", "warning", "critical"])),
    Param::query("rule_id", "Only alerts of this rule, which may be deleted."),
    PAGING[0],
    PAGING[1],
];

const LIST: Doc = Doc::new(TAG, "List alerts, newest first")
    .about(
        "An alert begins when the condition of a rule has been met for a group for as long as `for` says, and is resolved \
         when the condition ends or somebody resolves it. Resolved alerts are kept for `alerting.keep_resolved`.",
    )
    .parameters(&LIST_PARAMETERS)
    .ok::<Page<AlertView>>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const GET: Doc = Doc::new(TAG, "Get an alert with its notifications and history")
    .ok::<Data<AlertDetailView>>()
    .errors(&[NO_ALERT])
    .ext();

const ACKNOWLEDGE: Doc = Doc::new(TAG, "Acknowledge an alert")
    .about(
        "Takes charge of it: its escalation stops, and whoever was notified of it gets to know. An alert that is already \
         acknowledged is unchanged.",
    )
    .ok::<Data<AlertView>>()
    .errors(&[NO_ALERT, ErrorCode::InvalidState])
    .ext();

const RESOLVE: Doc = Doc::new(TAG, "Resolve an alert")
    .about(
        "Ends it, also if its condition is still met: the next alert of the same group begins after the condition was not \
         met once.",
    )
    .ok::<Data<AlertView>>()
    .errors(&[NO_ALERT, ErrorCode::InvalidState])
    .ext();
