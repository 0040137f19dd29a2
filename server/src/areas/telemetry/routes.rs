//! The one route of the area.

use std::sync::Arc;

use super::ops;
use super::wire::{CombinedAnswer, CombinedInput};
use crate::app::App;
use crate::http::{
    ApiResult, BodyKind, Data, Doc, ErrorCode, LimitClass, Request, Response, Route, Scope,
};

/// The routes of the area.
pub static ROUTES: &[Route] = &[Route::post("/api/v1/telemetry/batch", &track)
    .scope(Scope::Ingest)
    .limit(LimitClass::Batch)
    .body(BodyKind::Batch)
    .doc(TRACK)];

async fn track(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_json_body()?;
    let work = |app: &App, body: &[u8]| ops::resolve(app.engine(), app.now(), body);
    let (mut write, outcomes) = app.parse(body, work).await?;
    let any_accepted = outcomes.any_accepted();
    let response = Response::ok(&Data { data: CombinedAnswer::from(outcomes) })?;
    write.receipt = req.receipt(&response);
    if any_accepted || write.receipt.is_some() {
        app.write(write).await?;
    }
    Ok(response)
}

const TRACK: Doc = Doc::new("Events", "Track up to 500 events and metrics in one request")
    .about(
        "Both lists are stored in one write: after a crash, either both are present or neither is. Invalid items are \
         listed for each list, by their index in it. A body that is not JSON or has more than 500 items in all stores nothing.",
    )
    .request::<CombinedInput>(
        r#"{"events": [{"name": "order.paid"}], "metrics": [{"name": "cpu.usage", "type": "gauge", "value": 42.5}]}"#,
    )
    .ok::<Data<CombinedAnswer>>()
    .errors(&[ErrorCode::InvalidJson, ErrorCode::InvalidParameter, ErrorCode::BatchTooLarge]);
