//! Responses that all resources of the area have in common.

use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, X_CONTENT_TYPE_OPTIONS};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::app::App;
use crate::http::{ApiResult, Param, Response, Success, etag_of_response};

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

/// Responds with an image, which never changes.
pub(super) fn png(contents: Vec<u8>) -> Response {
    let etag = etag_of_response(0, &contents);
    Response::bytes("image/png", contents)
        .header(ETAG, etag)
        .header(CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400, immutable"))
        .header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .header(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"))
}

/// Returns the schema of an image.
pub(super) fn png_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "binary" })
}
