//! The routes of keys. All of them need the scope `admin`.

use std::sync::Arc;

use http::header::ETAG;

use super::wire::{Key, KeyInput, NewKeyAnswer};
use crate::app::App;
use crate::http::{
    ApiError, ApiResult, Data, Deleted, Doc, ErrorCode, Link, PAGING, Page, Request, Resource,
    Response, Route, Scope, etag_of, etag_of_answer,
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
    // No revision is 0: the list has none, only its bytes.
    Ok(tagged(Response::ok(&Page { data, meta })?, 0))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = req.param("id");
    let key = app.keys().get(id).ok_or_else(|| ApiError::missing(Resource::Key, id))?;
    let revision = key.revision;
    Ok(tagged(Response::ok(&Data { data: Key::from(key) })?, revision))
}

/// The receipt has what a repeated request is answered with: the key's description and not its secret, which is nowhere to be
/// found on disk. It is stored with the key, so that no crash lets a repetition make a second one.
async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let unstored = app.keys().issue(req.json::<KeyInput>()?.into_model()?)?;
    let described = NewKeyAnswer::described(unstored.key());
    let receipt = req.receipt(&Response::created(&Data { data: described })?);
    let issued = app.blocking(move |app| app.keys().store(unstored, receipt)).await?;
    let etag = etag_of(issued.key.revision);
    Ok(Response::created(&Data { data: NewKeyAnswer::from(issued) })?.header(ETAG, etag))
}

async fn revoke(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let work = move |app: &App| {
        app.keys().revoke(req.param("id"), |revision| req.check_if_match(revision).is_ok())
    };
    let key = app.blocking(work).await?;
    Response::ok(&Data { data: Deleted::new(key.id) })
}

fn tagged(response: Response, revision: u64) -> Response {
    let etag = etag_of_answer(revision, response.body());
    response.header(ETAG, etag)
}

const TAG: &str = "Keys";

const LIST: Doc = Doc::new(TAG, "List keys, the newest first")
    .parameters(&PAGING)
    .ok::<Page<Key>>()
    .versioned()
    .ext();

const GET: Doc = Doc::new(TAG, "Get a key, without its secret")
    .ok::<Data<Key>>()
    .errors(&[ErrorCode::Missing(Resource::Key)])
    .versioned()
    .ext();

const CREATE: Doc = Doc::new(TAG, "Make a key")
    .about("The answer has the whole key, this once. A repetition with the same `Idempotency-Key` has the rest of it.")
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
    .about("From now on the key is refused. It stays in the list, with `revoked_at`.")
    .ok::<Data<Deleted>>()
    .errors(&[ErrorCode::Missing(Resource::Key)])
    .versioned()
    .ext();
