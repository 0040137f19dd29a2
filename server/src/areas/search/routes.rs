//! The HTTP route of the search.

use std::sync::Arc;

use super::limits::{SEARCH_CHARS_MAX, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX};
use super::wire::{SearchView, kinds, words};
use super::{model, ops};
use crate::app::App;
use crate::areas::finders;
use crate::http::{
    ApiResult, Data, Doc, ErrorCode, Form, LimitClass, Param, Request, Response, Route,
};

/// The route of the area.
pub static ROUTES: &[Route] =
    &[Route::get("/api/v1/search", &search).limit(LimitClass::Query).doc(SEARCH)];

async fn search(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let words = words(req.query())?;
    let limit = req.query().limit("limit", SEARCH_LIMIT_MAX)?.unwrap_or(SEARCH_LIMIT_DEFAULT);
    let allowed = finders().into_iter().filter(|finder| req.identity().may(finder.scope));
    let finders: Vec<model::Finder> = kinds(req.query(), allowed.collect())?;
    let find = move |app: &App| ops::search(app, &finders, &words, limit);
    Response::ok(&Data { data: SearchView::from(app.query(find).await?) })
}

const SEARCH: Doc = Doc::new("Search", "Search things of all areas by name")
    .about(
        "Things whose name has all words of `q`, ignoring case: equal names first, then those that begin with it, then those with words that begin \
         with its words. Kinds: `metric`, `dashboard`, `error`, `queue`, `job_class`, `alert_rule`, `channel`, `on_call_schedule`, \
         `escalation_policy`, `monitor`, `status_page`, `repository`, and `key` for callers with the scope `admin`. Of errors, the 1000 most recently \
         seen ones with the longest word of `q` are searched. A search takes as long as a query may, at most.",
    )
    .parameters(&[
        Param::query("q", "What to look for; at most 200 characters.")
            .form(Form::TextTo(SEARCH_CHARS_MAX))
            .required()
            .example("shop"),
        Param::query("kinds", "Only these kinds, separated by commas."),
        Param::query("limit", "Maximum number of matches of each kind. Default 5; a value over 50 is reduced to 50.")
            .form(Form::Integer(1)),
    ])
    .ok::<Data<SearchView>>()
    .errors(&[ErrorCode::InvalidParameter])
    .ext();
