//! The routes of keys. All of them need the scope `admin`.

use std::sync::Arc;

use telltale_engine::Receipt;

use super::wire::{Key, KeyInput, NewKeyAnswer};
use crate::app::App;
use crate::http::{
    ApiResult, Data, Deleted, Doc, ErrorCode, PAGING, Page, Request, Resource, Response, Route,
    Scope,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of the area.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/keys", &list).scope(Scope::Admin).doc(LIST),
    Route::post("/api/v1/keys", &create).scope(Scope::Admin).doc(CREATE),
    Route::delete("/api/v1/keys/{id}", &revoke).scope(Scope::Admin).doc(REVOKE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let keys = app.keys().list();
    let meta = paging.meta(keys.len());
    let data = keys.into_iter().skip(paging.offset).take(paging.limit).map(Key::from).collect();
    Response::ok(&Page { data, meta })
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let new = req.json::<KeyInput>()?.into_model()?;
    let issued = app.blocking(move |app| app.keys().create(new)).await?;
    let answer = Data { data: NewKeyAnswer::from(issued) };
    let response = Response::created(&answer)?;
    let remembered = Response::created(&Data { data: answer.data.without_secret() })?;
    if let Some(receipt) = req.receipt(&remembered) {
        app.blocking(move |app| remember(app, receipt)).await?;
    }
    Ok(response)
}

/// Stores what a repeated request is answered with: the key's description and not its secret, which is
/// nowhere to be found on disk.
fn remember(app: &App, receipt: Receipt) -> telltale_engine::Result<()> {
    let mut transaction = app.engine().documents().begin();
    transaction.receipt(receipt)?;
    transaction.commit()?;
    Ok(())
}

async fn revoke(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let key = app.blocking(move |app| app.keys().revoke(req.param("id"))).await?;
    Response::ok(&Data { data: Deleted::new(key.id) })
}

const TAG: &str = "Keys";

const LIST: Doc =
    Doc::new(TAG, "List keys, the newest first").parameters(&PAGING).ok::<Page<Key>>().ext();

const CREATE: Doc = Doc::new(TAG, "Make a key")
    .about("The answer holds the whole key, this once.")
    .request::<KeyInput>()
    .created::<Data<NewKeyAnswer>>()
    .errors(&[
        ErrorCode::InvalidJson,
        ErrorCode::InvalidParameter,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
    ])
    .ext();

const REVOKE: Doc = Doc::new(TAG, "Revoke a key")
    .about("From now on the key is refused. It stays in the list, with `revoked_at`.")
    .ok::<Data<Deleted>>()
    .errors(&[ErrorCode::Missing(Resource::Key)])
    .ext();
