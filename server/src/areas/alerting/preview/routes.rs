//! The HTTP route of previews.

use std::sync::Arc;

use super::wire::{PreviewInput, PreviewView};
use crate::app::App;
use crate::areas::alerting::evaluation::evaluate_past;
use crate::http::{ApiResult, Data, Doc, ErrorCode, LimitClass, Request, Response, Route, Scope};

/// The route of previews.
pub static PREVIEW_ROUTES: &[Route] = &[Route::post("/api/v1/alert_rules/preview", &preview)
    .scope(Scope::Read)
    .limit(LimitClass::Query)
    .waits()
    .doc(PREVIEW)];

async fn preview(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (rule, range) = req.json::<PreviewInput>()?.read(app.now())?;
    let past = app.query(move |app| evaluate_past(app, &rule, range)).await?;
    Response::ok(&Data { data: PreviewView::from(past) })
}

const PREVIEW: Doc = Doc::new("Alert rules", "Preview an alert rule")
    .about(
        "Evaluates a rule, which need not exist, at each step of a range in the past: when alerts would have fired and been \
         resolved. The step is the interval of evaluations, or a multiple of it with which there are at most 2000. Ends early \
         after 1000 alerts. Maintenance windows are ignored, and nobody is notified.",
    )
    .request::<PreviewInput>(
        r#"{"rule": {"name": "CPU high", "query": {"metric": "cpu.usage", "aggregation": "avg"}, "condition": {"op": "gt", "threshold": 90}}}"#,
    )
    .ok::<Data<PreviewView>>()
    .errors(&[
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidQuery,
        ErrorCode::InvalidRange,
        ErrorCode::InvalidTimestamp,
    ])
    .ext();
