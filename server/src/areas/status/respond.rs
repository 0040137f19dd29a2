//! Responses that all resources of the area have in common: the resource at the top level, without
//! an envelope.

use serde::Serialize;

use crate::app::App;
pub(super) use crate::http::fits;
use crate::http::{ApiResult, Response, Success};

/// Responds with one resource, which was created, changed, or is small.
pub(super) fn respond<T: Serialize>(
    app: &App,
    success: Success,
    resource: &T,
    revision: u64,
) -> ApiResult<Response> {
    Response::versioned_write(success, resource, revision, app.engine().memory())
}

/// Responds with one resource, which was only read.
pub(super) fn respond_read<T: Serialize>(
    app: &App,
    resource: &T,
    revision: u64,
) -> ApiResult<Response> {
    Response::versioned(resource, revision, app.engine().memory())
}

/// Responds with a list. Its `ETag` depends on the body only; 0 is never a revision.
pub(super) fn respond_list<T: Serialize>(app: &App, list: &T) -> ApiResult<Response> {
    Response::versioned(list, 0, app.engine().memory())
}
