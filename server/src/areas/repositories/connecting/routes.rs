//! The HTTP routes of repositories.

use std::sync::Arc;

use super::ops;
use super::wire::{RepositoryInput, RepositoryListView, RepositoryPatch, RepositoryView};
use crate::app::App;
use crate::areas::repositories::error::EXISTS;
use crate::areas::repositories::ids::RepositoryId;
use crate::areas::repositories::repository::{self, Repository};
use crate::areas::repositories::respond::{respond, respond_list};
use crate::http::{
    ApiResult, Deleted, Doc, ErrorCode, Link, PAGING, PathParam, Request, Response, Route, Success,
    fits,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of repositories.
pub static REPOSITORY_ROUTES: &[Route] = &[
    Route::get("/api/v1/repositories", &list).doc(LIST),
    Route::post("/api/v1/repositories", &create).doc(CREATE),
    Route::get("/api/v1/repositories/{id}", &get).doc(GET),
    Route::put("/api/v1/repositories/{id}", &update).doc(UPDATE),
    Route::delete("/api/v1/repositories/{id}", &delete).doc(DELETE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let found = app.blocking(ops::list).await?;
    let page = found.into_iter().skip(paging.offset).take(paging.limit).collect();
    respond_list(&app, &RepositoryListView::new(&app, page))
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let new = req.json::<RepositoryInput>()?.into_new(&app)?;
    let created_by = req.identity().user().to_owned();
    let created = app.blocking(move |app| ops::create(app, new, created_by)).await?;
    respond_with(&app, Success::Created, created.value, created.revision)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    let found = app.blocking(move |app| repository::get(app, id)).await?;
    respond_with(&app, Success::Ok, found.value, found.revision)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let change = req.json::<RepositoryPatch>()?.into_change()?;
    let id: RepositoryId = req.path("id")?;
    let work = move |app: &App| ops::update(app, id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    respond_with(&app, Success::Ok, written.value, written.revision)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    app.blocking(move |app| ops::delete(app, id, |now| fits(&req, now))).await?;
    Response::ok(&Deleted::new(id.text()))
}

fn respond_with(
    app: &App,
    success: Success,
    repository: Repository,
    revision: u64,
) -> ApiResult<Response> {
    respond(app, success, &RepositoryView::new(app, repository), revision)
}

const TAG: &str = "Repositories";
const NO_REPOSITORY: ErrorCode = ErrorCode::Missing(RepositoryId::RESOURCE);
const CREATED_LINKS: [Link; 1] = [Link::get("/api/v1/repositories/{id}", "id", "/id")];

const LIST: Doc = Doc::new(TAG, "List repositories, newest first")
    .parameters(&PAGING)
    .ok::<RepositoryListView>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned();

const CREATE: Doc = Doc::new(TAG, "Connect a repository")
    .about(
        "Its first sync begins at once. The newest commit of the branch is fetched without its \
         history and without a checkout; nothing of the repository is executed.",
    )
    .request::<RepositoryInput>(
        r#"{"url": "https://git.example.com/shop/api.git", "branch": "main", "include_patterns": ["src/", "*.md"]}"#,
    )
    .created::<RepositoryView>()
    .links(&CREATED_LINKS)
    .errors(&[
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::Conflict,
        EXISTS,
    ]);

const GET: Doc =
    Doc::new(TAG, "Get a repository").ok::<RepositoryView>().errors(&[NO_REPOSITORY]).versioned();

const UPDATE: Doc = Doc::new(TAG, "Change a repository")
    .about(
        "Absent fields are unchanged. Another branch or other patterns begin a sync; until it has \
         completed, answers are about what was indexed before.",
    )
    .request::<RepositoryPatch>(r#"{"branch": "release", "auto_sync": false}"#)
    .ok::<RepositoryView>()
    .errors(&[
        NO_REPOSITORY,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::InvalidField,
        EXISTS,
    ])
    .versioned();

const DELETE: Doc = Doc::new(TAG, "Delete a repository")
    .about("Its syncs, its chat sessions and its index are deleted too.")
    .ok::<Deleted>()
    .errors(&[NO_REPOSITORY])
    .versioned();
