//! The HTTP routes of search and files.

use std::sync::Arc;

use super::ops::{self, Wanted};
use super::wire::{FileListView, FileTextView, FoundView};
use crate::app::App;
use crate::areas::repositories::error::{FILE, NOT_SYNCED};
use crate::areas::repositories::ids::RepositoryId;
use crate::areas::repositories::limits;
use crate::areas::repositories::respond::respond_list;
use crate::http::{
    ApiError, ApiResult, Doc, ErrorCode, Form, LimitClass, PAGING, Param, PathParam, Query,
    Request, Response, Route,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of search and files.
pub static SEARCH_ROUTES: &[Route] = &[
    Route::get("/api/v1/repositories/{id}/search", &search).limit(LimitClass::Query).doc(SEARCH),
    Route::get("/api/v1/repositories/{id}/files", &files).doc(FILES),
    Route::get("/api/v1/repositories/{id}/files/{*path}", &file).doc(FILE_TEXT),
];

async fn search(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    let query = req.query();
    let wanted = wanted(query)?;
    let limit = query.limit("limit", limits::SEARCH_LIMIT_MAX)?.unwrap_or(limits::SEARCH_LIMIT);
    let found = app.query(move |app| ops::search(app, id, &wanted, limit)).await?;
    respond_list(&app, &FoundView::new(found))
}

async fn files(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    let query = req.query();
    let paging = query.paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let prefix = query.one("prefix")?.unwrap_or_default().to_owned();
    let work = move |app: &App| ops::files(app, id, &prefix, paging.offset, paging.limit);
    let found = app.query(work).await?;
    respond_list(&app, &FileListView::new(found))
}

async fn file(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: RepositoryId = req.path("id")?;
    let path = req.param("path").to_owned();
    let lines = req.query().parsed("lines", || "must be two line numbers, such as 10-20", lines)?;
    let found = app.query(move |app| ops::file(app, id, &path, lines)).await?;
    respond_list(&app, &FileTextView::new(found))
}

fn wanted(query: &Query) -> ApiResult<Wanted> {
    let (text, symbol) = (query.one("q")?, query.one("symbol")?);
    let (name, value) = match (text, symbol) {
        (Some(text), None) => ("q", text),
        (None, Some(symbol)) => ("symbol", symbol),
        _ => return Err(ApiError::parameter("q", "or symbol is required, and not both")),
    };
    if value.trim().is_empty() || value.chars().count() > limits::QUESTION_CHARS_MAX {
        let expected = format!("must have 1 to {} characters", limits::QUESTION_CHARS_MAX);
        return Err(ApiError::parameter(name, expected));
    }
    Ok(match name {
        "q" => Wanted::Text(value.to_owned()),
        _ => Wanted::Symbol(value.to_owned()),
    })
}

/// Parses `10-20`, or `10`.
fn lines(text: &str) -> Option<(u32, u32)> {
    let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
    match text.split_once('-') {
        Some((start, end)) => Some((number(start)?, number(end)?)),
        None => number(text).map(|line| (line, line)),
    }
}

const TAG: &str = "Repositories";
const NO_REPOSITORY: ErrorCode = ErrorCode::Missing(RepositoryId::RESOURCE);
const NO_FILE: ErrorCode = ErrorCode::Missing(FILE);
const SEARCH_PARAMETERS: [Param; 3] = [
    Param::query("q", "What to look for, in words or identifiers.").form(Form::Filled),
    Param::query(
        "symbol",
        "The name of a definition, instead of `q`: `parse`, `Parser::parse` or `Parser.parse`.",
    )
    .form(Form::Filled),
    Param::query(
        "limit",
        "Maximum number of results. Default 10; a value over 50 is reduced to 50.",
    )
    .form(Form::Integer(1)),
];
const FILE_PARAMETERS: [Param; 3] =
    [Param::query("prefix", "Only files whose paths begin with this."), PAGING[0], PAGING[1]];
const LINES: [Param; 1] =
    [Param::query("lines", "The lines to return, such as `10-20` or `7`. Default: all.")
        .form(Form::Pattern("^[1-9][0-9]{0,8}(-[1-9][0-9]{0,8})?$"))];

const SEARCH: Doc = Doc::new(TAG, "Search the code of a repository")
    .about(
        "With `q`, the passages that fit the words best: identifiers are split into their words. \
         With `symbol`, the definitions of a name.",
    )
    .parameters(&SEARCH_PARAMETERS)
    .ok::<FoundView>()
    .errors(&[NO_REPOSITORY, NOT_SYNCED, ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const FILES: Doc = Doc::new(TAG, "List the indexed files of a repository, by path")
    .parameters(&FILE_PARAMETERS)
    .ok::<FileListView>()
    .errors(&[NO_REPOSITORY, NOT_SYNCED, ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const FILE_TEXT: Doc = Doc::new(TAG, "Get a file, or lines of it")
    .about("The path may contain slashes.")
    .parameters(&LINES)
    .ok::<FileTextView>()
    .errors(&[
        NO_REPOSITORY,
        NO_FILE,
        NOT_SYNCED,
        ErrorCode::InvalidParameter,
        ErrorCode::InvalidField,
    ])
    .versioned()
    .ext();
