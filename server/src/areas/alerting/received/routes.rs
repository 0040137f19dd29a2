//! The routes of Alertmanager's API.

use std::sync::Arc;

use schemars::SchemaGenerator;

use super::ops;
use crate::app::App;
use crate::areas::alerting::alertmanager::{
    AlertFilter, AlertmanagerStatus, GettableAlert, PostableAlert, PostedBody, gettable_alerts,
    postable_alerts,
};
use crate::areas::alerting::limits;
use crate::http::{
    ApiError, ApiResult, BodyDoc, BodyKind, Doc, ErrorCode, Form, LimitClass, Param, Request,
    Response, Route, Scope,
};
use crate::limits::OVERLOADED_RETRY_SECONDS;

/// The routes of the API.
pub static ALERTMANAGER_ROUTES: &[Route] = &[
    Route::post("/api/v2/alerts", &receive)
        .scope(Scope::Ingest)
        .private()
        .limit(LimitClass::Unlimited)
        .body(BodyKind::Batch)
        .any_query()
        .doc(RECEIVE),
    Route::get("/api/v2/alerts", &list).any_query().doc(LIST),
    Route::get("/api/v2/status", &status).any_query().doc(STATUS),
];

async fn receive(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_json_body()?;
    let posted = app.parse(body, parse).await?;
    let refusal = posted.refusal();
    let left_out = app.blocking(move |app| ops::receive(app, posted.alerts)).await?;
    if left_out > 0 {
        let message = format!("there is no space for {left_out} more alerts");
        return Err(
            ApiError::new(ErrorCode::Overloaded, message).retry_after(OVERLOADED_RETRY_SECONDS)
        );
    }
    // The valid ones are kept, as Alertmanager does.
    refusal.map_or_else(
        || Ok(Response::bytes("application/json", "")),
        |errors| Err(ApiError::new(ErrorCode::InvalidParameter, errors)),
    )
}

fn parse(app: &App, body: &[u8]) -> ApiResult<PostedBody> {
    let alerts =
        postable_alerts(body).map_err(|error| ApiError::new(ErrorCode::InvalidJson, error))?;
    Ok(PostedBody::new(alerts, app.now(), limits::RECEIVED_RESOLVE_MS))
}

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let filter = AlertFilter::parse(req.query().iter())
        .map_err(|error| ApiError::new(ErrorCode::InvalidParameter, error.to_string()))?;
    let shown = app.query(move |app| ops::list(app, &filter)).await?;
    Response::ok(&gettable_alerts(shown))
}

async fn status(app: Arc<App>, _: Request) -> ApiResult<Response> {
    let config =
        "# Rules, channels and policies: GET /api/v1/alert_rules, channels, escalation_policies\n";
    let version = env!("CARGO_PKG_VERSION");
    Response::ok(&AlertmanagerStatus::new(version, app.began(), config.to_owned()))
}

const TAG: &str = "Alertmanager";

const ALERTS: BodyDoc = BodyDoc {
    media: "application/json",
    schema: SchemaGenerator::subschema_for::<Vec<PostableAlert>>,
    required: true,
    example: r#"[{"labels": {"alertname": "InstanceDown", "instance": "web-1:9100", "severity": "critical"}, "annotations": {"summary": "web-1 is down"}}]"#,
};

const RECEIVE: Doc = Doc::new(TAG, "Deliver alerts, as Prometheus does")
    .about(
        "Version 2 of Alertmanager's API: name this server in `alerting: alertmanagers:` of a Prometheus. Alerts fire for the \
         rules whose query matches them (`{\"alert\": \"High*\", \"tags\": {\"severity\": \"page\"}}`), and end at \
         `endsAt` unless they are sent again. An alert that no rule matches is recorded, and notifies nobody. Valid alerts of a \
         body are kept even if others are refused.",
    )
    .body(ALERTS)
    .errors(&[ErrorCode::InvalidParameter])
    .ext();

const BOOLEAN: Form = Form::OneOf(&["true", "false"]);
const LIST_PARAMETERS: [Param; 6] = [
    Param::query("filter", "A matcher, such as `severity=\"page\"`. Can be repeated."),
    Param::query("receiver", "An expression that the name of a channel matches."),
    Param::query("active", "Whether to list alerts that notify.").form(BOOLEAN),
    Param::query("silenced", "Whether to list alerts that are silenced.").form(BOOLEAN),
    Param::query("inhibited", "Whether to list alerts that are inhibited.").form(BOOLEAN),
    Param::query("unprocessed", "Whether to list alerts that were not looked at.").form(BOOLEAN),
];

const LIST: Doc = Doc::new(TAG, "List the received alerts, as `amtool` does")
    .parameters(&LIST_PARAMETERS)
    .ok::<Vec<GettableAlert>>()
    .errors(&[ErrorCode::InvalidParameter])
    .ext();

const STATUS: Doc =
    Doc::new(TAG, "Get the status in the form of Alertmanager").ok::<AlertmanagerStatus>().ext();
