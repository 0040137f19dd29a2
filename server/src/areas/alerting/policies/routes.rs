//! The HTTP routes of escalation policies.

use std::sync::Arc;

use super::model::{Policy, Versioned};
use super::ops::{self, NamedPolicy};
use super::wire::{PolicyInput, PolicyPatch, PolicySummaryView, PolicyView};
use crate::app::App;
use crate::areas::alerting::ids::PolicyId;
use crate::areas::alerting::respond::{fits, respond, respond_page};
use crate::areas::alerting::wire::DeletedTargetView;
use crate::http::{
    ApiResult, Data, Doc, ErrorCode, Form, Link, PAGING, Page, Param, PathParam, Request, Response,
    Route, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of escalation policies.
pub static POLICY_ROUTES: &[Route] = &[
    Route::get("/api/v1/escalation_policies", &list).doc(LIST),
    Route::post("/api/v1/escalation_policies", &create).doc(CREATE),
    Route::get("/api/v1/escalation_policies/{id}", &get).doc(GET),
    Route::patch("/api/v1/escalation_policies/{id}", &update).doc(UPDATE),
    Route::delete("/api/v1/escalation_policies/{id}", &delete).doc(DELETE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let enabled = req.query().flag("enabled")?;
    let select = move |found: Versioned<Policy>| {
        let fits = enabled.is_none_or(|enabled| found.value.enabled == enabled);
        fits.then(|| PolicySummaryView::from(&found.value))
    };
    let selected = app.query(move |app| ops::list(app, select)).await?;
    respond_page(&app, selected, paging)
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = req.json::<PolicyInput>()?.into_draft()?;
    let created = app.blocking(move |app| ops::create(app, draft)).await?;
    view(&app, Success::Created, &created)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: PolicyId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, &id)).await?;
    view(&app, Success::Ok, &found)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: PolicyId = req.path("id")?;
    let change = req.json::<PolicyPatch>()?.into_change()?;
    let work = move |app: &App| ops::update(app, &id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, &written)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: PolicyId = req.path("id")?;
    let deleted = id.as_str().to_owned();
    let left = app.blocking(move |app| ops::delete(app, &id, |now| fits(&req, now))).await?;
    Response::ok(&Data { data: DeletedTargetView::new(deleted, left) })
}

fn view(app: &App, success: Success, named: &NamedPolicy) -> ApiResult<Response> {
    respond(app, success, PolicyView::from(named), named.policy.revision)
}

const TAG: &str = "Escalation policies";
const NO_POLICY: ErrorCode = ErrorCode::Missing(PolicyId::RESOURCE);
const CREATED_LINKS: [Link; 1] = [Link::get("/api/v1/escalation_policies/{id}", "id", "/data/id")];
const LIST_PARAMETERS: [Param; 3] = [
    Param::query("enabled", "Only policies that are enabled, or only those that are not.")
        .form(Form::Flag),
    PAGING[0],
    PAGING[1],
];

const LIST: Doc = Doc::new(TAG, "List escalation policies, newest first")
    .parameters(&LIST_PARAMETERS)
    .ok::<Page<PolicySummaryView>>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned();

const CREATE: Doc = Doc::new(TAG, "Create an escalation policy")
    .about("Each step notifies a channel, some minutes after the start of a cycle.")
    .request::<PolicyInput>(
        r#"{"name": "Shop", "steps": [{"channel_id": "chan_01J0000000000000000000000A", "delay_minutes": 0}], "repeat": true, "repeat_after_minutes": 30, "max_repeats": 2}"#,
    )
    .created::<Data<PolicyView>>()
    .links(&CREATED_LINKS)
    .errors(&[
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ]);

const GET: Doc = Doc::new(TAG, "Get an escalation policy")
    .ok::<Data<PolicyView>>()
    .errors(&[NO_POLICY])
    .versioned();

const UPDATE: Doc = Doc::new(TAG, "Change an escalation policy")
    .about("Absent fields are unchanged; `steps` is replaced as a whole.")
    .request::<PolicyPatch>(r#"{"enabled": false}"#)
    .ok::<Data<PolicyView>>()
    .errors(&[
        NO_POLICY,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
    ])
    .versioned();

const DELETE: Doc = Doc::new(TAG, "Delete an escalation policy")
    .about("Also removes it from every alert rule.")
    .ok::<Data<DeletedTargetView>>()
    .errors(&[NO_POLICY])
    .versioned();
