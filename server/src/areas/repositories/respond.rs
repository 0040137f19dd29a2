//! Responses that all resources of the area have in common.

use serde::Serialize;

use crate::app::App;
use crate::http::{ApiResult, Response, Success};

/// Responds with one resource.
pub(super) fn respond<T: Serialize>(
    app: &App,
    success: Success,
    resource: &T,
    revision: u64,
) -> ApiResult<Response> {
    Response::versioned_write(success, resource, revision, app.engine().memory())
}

/// Responds with a list, or with what was found. Its `ETag` depends on the body only; 0 is never a
/// revision.
pub(super) fn respond_list<T: Serialize>(app: &App, list: &T) -> ApiResult<Response> {
    Response::versioned(list, 0, app.engine().memory())
}
