//! Responses that all resources of the area have in common.

use serde::Serialize;

use crate::app::App;
pub(super) use crate::http::fits;
use crate::http::{ApiResult, Data, Meta, Page, Paging, Response, Success};

/// Responds with one resource.
pub(super) fn respond<T: Serialize>(
    app: &App,
    success: Success,
    data: T,
    revision: u64,
) -> ApiResult<Response> {
    Response::versioned_write(success, &Data { data }, revision, app.engine().memory())
}

/// Responds with one page of a list.
pub(super) fn respond_page<T: Serialize>(
    app: &App,
    all: Vec<T>,
    paging: Paging,
) -> ApiResult<Response> {
    let meta = paging.meta(all.len());
    respond_part(app, all.into_iter().skip(paging.offset).take(paging.limit).collect(), meta)
}

/// Responds with one page of a list, of which only this page was read.
pub(super) fn respond_part<T: Serialize>(
    app: &App,
    data: Vec<T>,
    meta: Meta,
) -> ApiResult<Response> {
    // A list has no revision, so its ETag depends on the body only; 0 is never a revision.
    Response::versioned(&Page { data, meta }, 0, app.engine().memory())
}
