//! The routes of keys. All of them require the scope `admin`.

use std::sync::Arc;

use http::header::ETAG;

use super::wire::{Key, KeyId, KeyInput, NewKeyAnswer};
use crate::app::App;
use crate::http::{
    ApiError, ApiResult, Data, Deleted, Doc, ErrorCode, Link, PAGING, Page, PathParam, Request,
    Response, Route, Scope, etag_of, etag_of_response,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of the area.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/keys", &list).scope(Scope::Admin).doc(LIST),
    Route::post("/api/v1/keys", &create).scope(Scope::Admin).doc(CREATE),
    Route::get("/api/v1/keys/{id}", &get).scope(Scope::Admin).doc(GET),
    Route::delete("/api/v1/keys/{id}", &revoke).scope(Scope::Admin).doc(REVOKE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let keys = app.keys().list();
    let meta = paging.meta(keys.len());
    let data = keys.into_iter().skip(paging.offset).take(paging.limit).map(Key::from).collect();
    // The list has no revision; its tag depends only on the body. No document has revision 0.
    Ok(with_etag(Response::ok(&Page { data, meta })?, 0))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let KeyId(id) = req.path("id")?;
    let key = app.keys().get(&id).ok_or_else(|| ApiError::missing(KeyId::RESOURCE, &id))?;
    let revision = key.revision;
    Ok(with_etag(Response::ok(&Data { data: Key::from(key) })?, revision))
}

/// Creates a key. The stored receipt contains the response without the secret, which is never
/// written to disk. It is stored in the same write as the key, so that a repeated request cannot
/// create a second key after a crash.
async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let unstored = app.keys().issue(req.json::<KeyInput>()?.into_model()?)?;
    let without_secret = NewKeyAnswer::without_secret(unstored.key());
    let receipt = req.receipt(&Response::created(&Data { data: without_secret })?);
    let issued = app.blocking(move |app| app.keys().store(unstored, receipt)).await?;
    let etag = etag_of(issued.key.revision);
    Ok(Response::created(&Data { data: NewKeyAnswer::from(issued) })?.header(ETAG, etag))
}

async fn revoke(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let KeyId(id) = req.path("id")?;
    let work =
        move |app: &App| app.keys().revoke(&id, |revision| req.check_if_match(revision).is_ok());
    let key = app.blocking(work).await?;
    Response::ok(&Data { data: Deleted::new(key.id) })
}

fn with_etag(response: Response, revision: u64) -> Response {
    let etag = etag_of_response(revision, response.body());
    response.header(ETAG, etag)
}

const TAG: &str = "Keys";

const LIST: Doc = Doc::new(TAG, "List keys, newest first")
    .parameters(&PAGING)
    .ok::<Page<Key>>()
    .versioned()
    .ext();

const GET: Doc = Doc::new(TAG, "Get a key, without its secret")
    .ok::<Data<Key>>()
    .errors(&[ErrorCode::Missing(KeyId::RESOURCE)])
    .versioned()
    .ext();

const CREATE: Doc = Doc::new(TAG, "Create a key")
    .about("The response contains the complete key with its secret, which cannot be read again. A repeated request with the same `Idempotency-Key` gets the response without the secret.")
    .request::<KeyInput>(r#"{"name": "agents", "user": "ann@example.com", "scopes": ["ingest"], "limits": {"batch": 600}}"#)
    .created::<Data<NewKeyAnswer>>()
    .links(&[Link::get("/api/v1/keys/{id}", "id", "/data/id")])
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
    .about("The key is refused from now on. It remains in the list, with `revoked_at`.")
    .ok::<Data<Deleted>>()
    .errors(&[ErrorCode::Missing(KeyId::RESOURCE)])
    .versioned()
    .ext();
