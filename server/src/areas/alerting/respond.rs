//! Responses that all resources of the area have in common.

use http::header::ETAG;
use serde::Serialize;

use crate::http::{
    ApiResult, Data, Meta, Page, Paging, Request, Response, Success, etag_of_response,
};

/// Responds with one resource. Its `ETag` contains the revision, which `If-Match` is compared with.
pub(super) fn respond<T: Serialize>(
    success: Success,
    data: T,
    revision: u64,
) -> ApiResult<Response> {
    let response = Response::json(success, &Data { data })?;
    let etag = etag_of_response(revision, response.body());
    Ok(response.header(ETAG, etag))
}

/// Responds with one page of a list.
pub(super) fn respond_page<T: Serialize>(all: Vec<T>, paging: Paging) -> ApiResult<Response> {
    let meta = paging.meta(all.len());
    respond_part(all.into_iter().skip(paging.offset).take(paging.limit).collect(), meta)
}

/// Responds with one page of a list, of which only this page was read.
pub(super) fn respond_part<T: Serialize>(data: Vec<T>, meta: Meta) -> ApiResult<Response> {
    let response = Response::ok(&Page { data, meta })?;
    // A list has no revision, so its ETag depends on the body only; 0 is never a revision.
    let etag = etag_of_response(0, response.body());
    Ok(response.header(ETAG, etag))
}

/// Returns whether the caller's `If-Match` allows a change of this revision.
pub(super) fn fits(req: &Request, revision: u64) -> bool {
    req.check_if_match(revision).is_ok()
}
