//! Responses that all resources of the area have in common.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::app::App;
use crate::http::{ApiResult, Param, Response, Success};

/// The parameters of a signed URL.
pub(super) const SIGNATURE: [Param; 2] = [
    Param::query("expires", "When the URL expires, in seconds since 1970; part of a signed URL."),
    Param::query("signature", "The signature of the URL, instead of a key."),
];

/// Responds with one resource.
pub(super) fn respond<T: Serialize>(
    app: &App,
    success: Success,
    resource: &T,
    revision: u64,
) -> ApiResult<Response> {
    Response::versioned_write(success, resource, revision, app.engine().memory())
}

/// Responds with a list. Its `ETag` depends on the body only; 0 is never a revision.
pub(super) fn respond_list<T: Serialize>(app: &App, list: &T) -> ApiResult<Response> {
    Response::versioned(list, 0, app.engine().memory())
}

/// Returns the schema of an image.
pub(super) fn png_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "binary" })
}
