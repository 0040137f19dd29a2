//! The HTTP routes of pages and diagrams.

use std::sync::Arc;

use super::ops;
use super::wire::{DiagramListView, WikiListView, WikiPageView};
use crate::app::App;
use crate::areas::repositories::error::{NOT_SYNCED, PAGE};
use crate::areas::repositories::ids::RepositoryId;
use crate::areas::repositories::respond::respond_list;
use crate::http::{ApiResult, Doc, ErrorCode, PathParam, Request, Response, Route};

/// The routes of pages and diagrams.
pub static PAGE_ROUTES: &[Route] = &[
    Route::get("/api/v1/repositories/{id}/wiki", &list).doc(LIST),
    Route::get("/api/v1/repositories/{id}/wiki/{page}", &get).doc(GET),
    Route::get("/api/v1/repositories/{id}/diagrams", &diagrams).doc(DIAGRAMS),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    let read = app.query(move |app| ops::read(app, id)).await?;
    respond_list(&app, &WikiListView::new(&read))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    let slug = req.param("page").to_owned();
    let page = app.query(move |app| ops::page(app, id, &slug)).await?;
    respond_list(&app, &WikiPageView::new(page))
}

async fn diagrams(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    let read = app.query(move |app| ops::read(app, id)).await?;
    respond_list(&app, &DiagramListView::new(&read))
}

const TAG: &str = "Repositories";
const NO_REPOSITORY: ErrorCode = ErrorCode::Missing(RepositoryId::RESOURCE);
const NO_PAGE: ErrorCode = ErrorCode::Missing(PAGE);

const LIST: Doc = Doc::new(TAG, "List the pages of a repository's wiki")
    .about("An overview, and a page for each module, made at each sync.")
    .ok::<WikiListView>()
    .errors(&[NO_REPOSITORY, NOT_SYNCED])
    .versioned()
    .ext();

const GET: Doc = Doc::new(TAG, "Get a page of a repository's wiki")
    .ok::<WikiPageView>()
    .errors(&[NO_REPOSITORY, NO_PAGE, NOT_SYNCED])
    .versioned()
    .ext();

const DIAGRAMS: Doc = Doc::new(TAG, "List the diagrams of a repository")
    .about("What depends on what, as source text for Mermaid, made at each sync.")
    .ok::<DiagramListView>()
    .errors(&[NO_REPOSITORY, NOT_SYNCED])
    .versioned()
    .ext();
