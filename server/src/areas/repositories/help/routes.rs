//! The HTTP routes of explanations and documentation.

use std::sync::Arc;

use super::ops;
use super::wire::{DocumentInput, DocumentationView, ExplainInput, ExplanationView};
use crate::app::App;
use crate::areas::repositories::error::{FILE, NOT_SYNCED};
use crate::areas::repositories::ids::RepositoryId;
use crate::areas::repositories::reading;
use crate::areas::repositories::respond::respond;
use crate::http::{
    ApiResult, Doc, ErrorCode, LimitClass, PathParam, Request, Response, Route, Scope, Success,
};

/// The routes of explanations and documentation.
pub static HELP_ROUTES: &[Route] = &[
    Route::post("/api/v1/explain", &explain)
        .scope(Scope::Read)
        .limit(LimitClass::Query)
        .doc(EXPLAIN),
    Route::post("/api/v1/generate-docs", &document)
        .scope(Scope::Read)
        .limit(LimitClass::Query)
        .doc(DOCUMENT),
];

async fn explain(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let wanted = req.json::<ExplainInput>()?.into_wanted()?;
    let explained = reading::long_query(&app, move |app| ops::explain(app, &wanted)).await?;
    respond(&app, Success::Ok, &ExplanationView::new(explained), 0)
}

async fn document(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let wanted = req.json::<DocumentInput>()?.into_wanted()?;
    let documented = reading::long_query(&app, move |app| ops::document(app, &wanted)).await?;
    respond(&app, Success::Ok, &DocumentationView::new(documented), 0)
}

const TAG: &str = "Code help";
const ERRORS: [ErrorCode; 5] = [
    ErrorCode::Missing(RepositoryId::RESOURCE),
    ErrorCode::Missing(FILE),
    NOT_SYNCED,
    ErrorCode::MissingField,
    ErrorCode::InvalidField,
];

const EXPLAIN: Doc = Doc::new(TAG, "Explain a file, or lines of it")
    .about("From the syntax tree and the documentation in the code. Nothing is guessed.")
    .request::<ExplainInput>(
        r#"{"repository": "repo_01JGVQ2DPY0000000000000000", "file": "src/queue.rs", "lines": {"start": 10, "end": 42}}"#,
    )
    .ok::<ExplanationView>()
    .errors(&ERRORS);

const DOCUMENT: Doc = Doc::new(TAG, "Document the public functions of a file")
    .about("Examples are from the documentation in the code and from calls in other files.")
    .request::<DocumentInput>(
        r#"{"repository": "repo_01JGVQ2DPY0000000000000000", "file": "src/queue.rs"}"#,
    )
    .ok::<DocumentationView>()
    .errors(&ERRORS);
