//! Responses that all resources of the area have in common: the resource at the top level, without
//! an envelope.

use http::header::ETAG;
use serde::Serialize;

use crate::http::{ApiResult, Request, Response, Success, etag_of_response};

/// Responds with one resource. Its `ETag` contains the revision, which `If-Match` is compared with.
pub(super) fn respond<T: Serialize>(
    success: Success,
    resource: &T,
    revision: u64,
) -> ApiResult<Response> {
    let response = Response::json(success, resource)?;
    let etag = etag_of_response(revision, response.body());
    Ok(response.header(ETAG, etag))
}

/// Responds with a list. Its `ETag` depends on the body only; 0 is never a revision.
pub(super) fn respond_list<T: Serialize>(list: &T) -> ApiResult<Response> {
    respond(Success::Ok, list, 0)
}

/// Returns whether the caller's `If-Match` allows a change of this revision.
pub(super) fn fits(req: &Request, revision: u64) -> bool {
    req.check_if_match(revision).is_ok()
}
