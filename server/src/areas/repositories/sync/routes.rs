//! The HTTP routes of syncs.

use std::sync::Arc;

use super::model::SyncTrigger;
use super::ops;
use super::wire::{StartedSyncView, SyncListView, SyncView};
use crate::app::App;
use crate::areas::repositories::ids::{RepositoryId, SyncId};
use crate::areas::repositories::limits;
use crate::areas::repositories::respond::{respond, respond_list};
use crate::http::{
    ApiResult, Doc, ErrorCode, Link, PAGING, PathParam, Request, Response, Route, Success,
};
use crate::limits::PAGE_LIMIT_MAX;

/// The routes of syncs.
pub static SYNC_ROUTES: &[Route] = &[
    Route::post("/api/v1/repositories/{id}/sync", &start).doc(START),
    Route::get("/api/v1/repositories/{id}/syncs", &list).doc(LIST),
    Route::get("/api/v1/repositories/{id}/syncs/{sync_id}", &get).doc(GET),
];

async fn start(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    let (sync, _) = app.blocking(move |app| ops::start(app, id, SyncTrigger::Requested)).await?;
    respond(&app, Success::Accepted, &StartedSyncView::new(&sync), 0)
}

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    let paging = req.query().paging(limits::LIST_LIMIT, PAGE_LIMIT_MAX)?;
    let found = app.blocking(move |app| ops::list(app, id, paging.offset, paging.limit)).await?;
    respond_list(&app, &SyncListView::new(&app, &found))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (id, sync): (RepositoryId, SyncId) = (req.path("id")?, req.path("sync_id")?);
    let found = app.blocking(move |app| ops::get(app, id, sync)).await?;
    respond_list(&app, &SyncView::new(&app, &found.value))
}

const TAG: &str = "Repositories";
const NO_REPOSITORY: ErrorCode = ErrorCode::Missing(RepositoryId::RESOURCE);
const NO_SYNC: ErrorCode = ErrorCode::Missing(SyncId::RESOURCE);
const STARTED_LINKS: [Link; 1] =
    [Link::get("/api/v1/repositories/{id}/syncs/{sync_id}", "sync_id", "/sync_id")];

const START: Doc = Doc::new(TAG, "Sync a repository")
    .about("If a sync of the repository waits or runs already, the response is about that one.")
    .accepted::<StartedSyncView>()
    .links(&STARTED_LINKS)
    .errors(&[NO_REPOSITORY, ErrorCode::Conflict]);

const LIST: Doc = Doc::new(TAG, "List the syncs of a repository, newest first")
    .about("The newest 50 are kept.")
    .parameters(&PAGING)
    .ok::<SyncListView>()
    .errors(&[NO_REPOSITORY, ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const GET: Doc =
    Doc::new(TAG, "Get a sync").ok::<SyncView>().errors(&[NO_REPOSITORY, NO_SYNC]).versioned();
