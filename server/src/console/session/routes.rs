//! The routes of sessions.

use std::sync::Arc;

use http::header::{CACHE_CONTROL, SET_COOKIE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::error::SessionError;
use super::model::Browser;
use super::wire::{
    CallerBody, CodeBody, CodeInput, SessionBody, SessionId, SessionStateBody, SignInInput,
};
use crate::app::App;
use crate::http::{
    ApiError, ApiResult, Data, Deleted, Doc, ErrorCode, LimitClass, PAGING, Page, PathParam,
    Request, Response, Route, Scope, check_sign_in_origin, is_change_of_same_origin,
    is_read_of_same_origin,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};
use crate::platform::keys::{Identity, LiveSession};

/// Has the browser forget what it has kept of this server.
const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

/// The routes of sessions.
pub static ROUTES: &[Route] = &[
    Route::post("/api/v1/session", &sign_in).public().doc(SIGN_IN),
    Route::get("/api/v1/session", &caller).doc(CALLER),
    Route::get("/api/v1/session/state", &state).public().doc(STATE),
    Route::delete("/api/v1/session", &sign_out).scope(Scope::Read).limit(NONE).doc(SIGN_OUT),
    Route::post("/api/v1/session/codes", &make_code).scope(Scope::Read).doc(MAKE_CODE),
    Route::get("/api/v1/sessions", &list).doc(LIST),
    Route::delete("/api/v1/sessions/{id}", &end).scope(Scope::Read).limit(NONE).doc(END),
];

/// Sessions can be ended by callers whose quota is used up, perhaps by the session in question.
const NONE: LimitClass = LimitClass::Unlimited;

/// Opens a session. An attempt counts before anything of it is looked at. Refused for pages of
/// other sites, which could otherwise sign a visitor in as somebody else.
async fn sign_in(app: Arc<App>, req: Request) -> ApiResult<Response> {
    check_sign_in_origin(req.headers(), app.sessions().public_origin())?;
    app.sessions().count_attempt(req.address())?;
    req.forgo_receipt();
    let credential = req.json::<SignInInput>()?.into_model()?;
    let browser = Browser::new(req.address(), text(req.headers(), USER_AGENT));
    let replaced = replaced_session(&app, req.headers());
    let work = move |app: &App| {
        let replaced = replaced.as_deref().map(LiveSession::id);
        app.sessions().sign_in(app.keys(), &credential, browser, replaced)
    };
    let (token, session) = app.blocking(work).await?;
    let body = Response::created(&Data { data: CallerBody::of_session(session) })?;
    with_cookie(body, app.sessions().set_cookie(&token))
}

/// Returns the session of the browser that signs in again.
fn replaced_session(app: &App, headers: &HeaderMap) -> Option<Arc<LiveSession>> {
    let sessions = app.sessions();
    let is_own = is_change_of_same_origin(headers, sessions.public_origin());
    if is_own { sessions.authenticate(headers) } else { None }
}

async fn caller(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let live = req.identity().session();
    let session = live.and_then(|live| app.sessions().session(live));
    Ok(uncached(Response::ok(&Data { data: CallerBody::of(req.identity(), session) })?))
}

/// Tells a page whether anybody is signed in, without a failed request, which browsers log.
async fn state(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let is_own = is_read_of_same_origin(req.headers());
    let signed_in = is_own && app.sessions().authenticate(req.headers()).is_some();
    Ok(uncached(Response::ok(&Data { data: SessionStateBody { signed_in } })?))
}

async fn sign_out(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id = req.identity().session().map(|live| live.id().to_owned());
    let id = id.ok_or(SessionError::NoSession)?;
    let ended = id.clone();
    app.blocking(move |app| app.sessions().end(&ended, |_| true)).await?;
    let body = Response::ok(&Data { data: Deleted::new(id) })?;
    let body = body.header(CLEAR_SITE_DATA, HeaderValue::from_static("\"cache\""));
    with_cookie(body, app.sessions().remove_cookie())
}

async fn make_code(app: Arc<App>, req: Request) -> ApiResult<Response> {
    req.forgo_receipt();
    if req.identity().session().is_some() {
        return Err(SessionError::CodeForSession.into());
    }
    let key_id = key_of_code(&app, req.identity(), req.json_or_default::<CodeInput>()?.key_id)?;
    let work = move |app: &App| app.sessions().make_code(app.keys(), &key_id);
    let made = app.blocking(work).await?;
    Ok(uncached(Response::created(&Data { data: CodeBody::from(made) })?))
}

/// Returns the id of the key that a code is for: the caller's own, unless another one is named. The
/// operator of the machine has no key and gets the first valid admin key.
fn key_of_code(app: &App, caller: &Identity, named: Option<String>) -> ApiResult<String> {
    let own = caller.key().map(|key| key.id.clone());
    match (named, own) {
        (Some(id), own) if own.as_deref() == Some(&id) || caller.may(Scope::Admin) => Ok(id),
        (Some(_), _) => {
            let message = "a code for another key requires the scope \"admin\"";
            Err(ApiError::new(ErrorCode::Forbidden, message))
        }
        (None, Some(id)) => Ok(id),
        (None, None) => {
            let keys = app.keys().list().into_iter().rev();
            let mut admins = keys.filter(|key| {
                key.revoked_at.is_none() && key.scopes.iter().any(|scope| scope == Scope::Admin)
            });
            let message = "key_id is required: there is no valid admin key";
            let missing = || ApiError::new(ErrorCode::MissingField, message).field("key_id");
            admins.next().map(|key| key.id).ok_or_else(missing)
        }
    }
}

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let sessions = app.sessions().list(|session| may_see(req.identity(), session));
    let meta = paging.meta(sessions.len());
    let own = req.identity().session().map(|live| live.id());
    let shown = sessions.into_iter().skip(paging.offset).take(paging.limit).map(|session| {
        let is_current = own == Some(session.id.as_str());
        SessionBody::new(session, is_current)
    });
    Ok(uncached(Response::ok(&Page { data: shown.collect(), meta })?))
}

async fn end(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let SessionId(id) = req.path("id")?;
    let caller = req.identity().clone();
    let ended = id.clone();
    let work = move |app: &App| app.sessions().end(&ended, |session| may_see(&caller, session));
    app.blocking(work).await?;
    Response::ok(&Data { data: Deleted::new(id) })
}

/// Returns whether a caller may see and end a session: those of its own key, or all with `admin`.
fn may_see(caller: &Identity, session: &LiveSession) -> bool {
    caller.may(Scope::Admin) || caller.key_id() == session.key().key().id
}

fn text(headers: &HeaderMap, name: http::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn with_cookie(response: Response, cookie: Option<HeaderValue>) -> ApiResult<Response> {
    let cookie = cookie.ok_or_else(|| ApiError::internal("the cookie is no header value"))?;
    Ok(uncached(response.header(SET_COOKIE, cookie)))
}

/// What is about one caller must not be kept by caches.
fn uncached(response: Response) -> Response {
    response.header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

const TAG: &str = "Console";

const SIGN_IN: Doc = Doc::new(TAG, "Open a session of the console")
    .about("The response sets a cookie, which later requests of the same browser send instead of a key. A session has the permissions of its key and ends with it, \
            after `console.session_idle` without a request, and after `console.session_age`. A cookie counts only for requests of pages of this server; routes for other origins (CORS) ignore it.")
    .request::<SignInInput>(r#"{"key": "tt_8kQwLm2ZxRt4Vb9_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"}"#)
    .created::<Data<CallerBody>>()
    .errors(&[
        ErrorCode::InvalidJson,
        ErrorCode::InvalidParameter,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::Unauthorized,
        ErrorCode::Forbidden,
        ErrorCode::RateLimited,
    ])
    .ext();

const CALLER: Doc = Doc::new(TAG, "Get the caller: its user, scopes, key and session")
    .ok::<Data<CallerBody>>()
    .ext();

const STATE: Doc = Doc::new(TAG, "Get whether the browser has a session")
    .about("Requires no key: a page asks before it has one. With a session, `GET /api/v1/session` has more.")
    .ok::<Data<SessionStateBody>>()
    .ext();

const SIGN_OUT: Doc = Doc::new(TAG, "End the session of the request")
    .ok::<Data<Deleted>>()
    .errors(&[ErrorCode::InvalidState])
    .ext();

const MAKE_CODE: Doc = Doc::new(TAG, "Make a code that opens one session")
    .about("The code is valid for ten minutes and for one session. Requires a key: sessions cannot make codes.")
    .optional_request::<CodeInput>("{}")
    .created::<Data<CodeBody>>()
    .errors(&[
        ErrorCode::InvalidJson,
        ErrorCode::InvalidParameter,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
    ])
    .ext();

const LIST: Doc = Doc::new(TAG, "List sessions, latest request first")
    .about("Sessions of the caller's key; with the scope `admin`, those of all keys.")
    .parameters(&PAGING)
    .ok::<Page<SessionBody>>()
    .ext();

const END: Doc = Doc::new(TAG, "End a session")
    .about("One of the caller's key; with the scope `admin`, any.")
    .ok::<Data<Deleted>>()
    .errors(&[ErrorCode::Missing(SessionId::RESOURCE)])
    .ext();
