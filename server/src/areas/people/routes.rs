//! The HTTP routes of the area.

use std::sync::Arc;

use http::header::ETAG;

use super::limits::USER_SEARCH_CHARS_MAX;
use super::model::Preferences;
use super::ops;
use super::wire::{PreferencesInput, PreferencesView, UserView, search};
use crate::app::App;
use crate::http::{
    ApiError, ApiResult, Data, Doc, ErrorCode, Form, PAGING, Page, Param, Request, Response, Route,
    Scope, etag_of, fits,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of the area. Everybody who may read may have preferences.
pub static ROUTES: &[Route] = &[
    Route::get("/api/v1/users", &users).doc(USERS),
    Route::get("/api/v1/preferences", &preferences).doc(PREFERENCES),
    Route::put("/api/v1/preferences", &set_preferences).scope(Scope::Read).doc(SET_PREFERENCES),
];

async fn users(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let search = search(req.query())?;
    let work = move |app: &App| Ok::<_, ApiError>(ops::users(app, search.as_deref()));
    Response::ok(&UserView::page(app.blocking(work).await?, paging))
}

async fn preferences(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let user = req.identity().user().to_owned();
    respond(app.blocking(move |app| ops::preferences(app, &user)).await?)
}

async fn set_preferences(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let json = req.json::<PreferencesInput>()?.into_json()?;
    let user = req.identity().user().to_owned();
    let work = move |app: &App| ops::set_preferences(app, &user, &json, |now| fits(&req, now));
    respond(app.blocking(work).await?)
}

fn respond(found: Preferences) -> ApiResult<Response> {
    let etag = etag_of(found.revision);
    Ok(Response::ok(&Data { data: PreferencesView::new(found)? })?.header(ETAG, etag))
}

const TAG: &str = "Users";

const USERS: Doc = Doc::new(TAG, "List the people that the server knows, by name")
    .about("The users of keys, the members of on-call schedules, and those that errors are assigned to.")
    .parameters(&[
        PAGING[0],
        PAGING[1],
        Param::query("search", "Only users with this string in their name, ignoring case.")
            .form(Form::TextTo(USER_SEARCH_CHARS_MAX)),
    ])
    .ok::<Page<UserView>>()
    .errors(&[ErrorCode::InvalidParameter])
    .ext();

const PREFERENCES: Doc = Doc::new(TAG, "Get the preferences of the caller")
    .about("They belong to the user of the key or session, whichever key that is.")
    .ok::<Data<PreferencesView>>()
    .versioned()
    .ext();

const SET_PREFERENCES: Doc = Doc::new(TAG, "Replace the preferences of the caller")
    .about("For the console, which keeps here what a person chose. Other programs may add members of their own.")
    .request::<PreferencesInput>(
        r#"{"preferences": {"starred_dashboards": ["dash_01ARZ3NDEKTSV4RRFFQ69G5FAV"], "time_zone": "Europe/Berlin", "refresh_seconds": 30}}"#,
    )
    .ok::<Data<PreferencesView>>()
    .errors(&[ErrorCode::MissingField, ErrorCode::InvalidField, ErrorCode::Conflict])
    .versioned()
    .ext();
