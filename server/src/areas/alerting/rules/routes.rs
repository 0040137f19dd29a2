//! The HTTP routes of alert rules.

use std::sync::Arc;

use super::model::{Rule, Versioned};
use super::ops;
use super::wire::{RuleInput, RulePatch, RuleSummaryView, RuleView};
use crate::app::App;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::respond::{fits, respond, respond_page};
use crate::areas::alerting::wire::severity_parameter;
use crate::http::{
    ApiResult, Data, Deleted, Doc, ErrorCode, Form, Link, PAGING, Page, Param, PathParam, Request,
    Response, Route, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of alert rules.
pub static RULE_ROUTES: &[Route] = &[
    Route::get("/api/v1/alert_rules", &list).doc(LIST),
    Route::post("/api/v1/alert_rules", &create).doc(CREATE),
    Route::get("/api/v1/alert_rules/{id}", &get).doc(GET),
    Route::patch("/api/v1/alert_rules/{id}", &update).doc(UPDATE),
    Route::delete("/api/v1/alert_rules/{id}", &delete).doc(DELETE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let enabled = req.query().flag("enabled")?;
    let severity = req.query().one("severity")?.map(severity_parameter).transpose()?;
    let select = move |found: Versioned<Rule>| {
        let settings = &found.value.settings;
        let fits = enabled.is_none_or(|enabled| settings.enabled == enabled)
            && severity.is_none_or(|severity| settings.severity == severity);
        fits.then(|| RuleSummaryView::from(&found.value))
    };
    let selected = app.query(move |app| ops::list(app, select)).await?;
    respond_page(&app, selected, paging)
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let settings = req.json::<RuleInput>()?.into_settings()?;
    let created_by = req.identity().user().to_owned();
    let created = app.blocking(move |app| ops::create(app, settings, created_by)).await?;
    view(&app, Success::Created, created)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RuleId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, &id)).await?;
    view(&app, Success::Ok, found)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RuleId = req.path("id")?;
    let change = req.json::<RulePatch>()?.into_change()?;
    let work = move |app: &App| ops::update(app, &id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, written)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RuleId = req.path("id")?;
    let deleted = Deleted::new(id.as_str());
    app.blocking(move |app| ops::delete(app, &id, |now| fits(&req, now))).await?;
    Response::ok(&Data { data: deleted })
}

fn view(app: &App, success: Success, rule: Versioned<Rule>) -> ApiResult<Response> {
    let failure = app.alerting().evaluation().failure(&rule.value.id);
    respond(app, success, RuleView::new(rule.value, failure), rule.revision)
}

const TAG: &str = "Alert rules";
const NO_RULE: ErrorCode = ErrorCode::Missing(RuleId::RESOURCE);
const CREATED_LINKS: [Link; 1] = [Link::get("/api/v1/alert_rules/{id}", "id", "/data/id")];
const LIST_PARAMETERS: [Param; 4] = [
    Param::query("enabled", "Only rules that are enabled, or only those that are not.")
        .form(Form::Flag),
    Param::query("severity", "Only rules of this severity.")
        .form(Form::OneOf(&["info", "warning", "critical"])),
    PAGING[0],
    PAGING[1],
];

const LIST: Doc = Doc::new(TAG, "List alert rules, newest first")
    .parameters(&LIST_PARAMETERS)
    .ok::<Page<RuleSummaryView>>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const CREATE: Doc = Doc::new(TAG, "Create an alert rule")
    .about(
        "Computes the value of `query` over the last `window`, for each group, and compares it as `condition` says. An \
         alert fires when the condition has been met for as long as `for`. All strings of a rule together have at most \
         8192 bytes.",
    )
    .request::<RuleInput>(
        r#"{"name": "CPU high", "query": {"metric": "cpu.usage", "aggregation": "avg"}, "condition": {"op": "gt", "threshold": 90}, "window": "5m", "for": "2m", "group_by": "tags.host", "severity": "critical", "services": ["shop"]}"#,
    )
    .created::<Data<RuleView>>()
    .links(&CREATED_LINKS)
    .errors(&[
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidQuery,
        ErrorCode::Conflict,
    ])
    .ext();

const GET: Doc =
    Doc::new(TAG, "Get an alert rule").ok::<Data<RuleView>>().errors(&[NO_RULE]).versioned().ext();

const UPDATE: Doc = Doc::new(TAG, "Change an alert rule")
    .about(
        "Absent fields are unchanged; `query` and `condition` are replaced as a whole. The result must be a valid rule.",
    )
    .request::<RulePatch>(r#"{"enabled": false}"#)
    .ok::<Data<RuleView>>()
    .errors(&[
        NO_RULE,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidQuery,
    ])
    .versioned()
    .ext();

const DELETE: Doc = Doc::new(TAG, "Delete an alert rule")
    .about(
        "Also removes it from every maintenance window that mutes it. A window that muted no other rule mutes none then.",
    )
    .ok::<Data<Deleted>>()
    .errors(&[NO_RULE])
    .versioned()
    .ext();
