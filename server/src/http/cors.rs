//! CORS: preflight responses and response headers of routes that other origins may call.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW,
};
use http::{HeaderMap, HeaderValue};

use super::response::Response;
use super::route::Method;

/// Seconds for which a browser may cache the preflight response.
const MAX_AGE: HeaderValue = HeaderValue::from_static("3600");
const POSTING: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
const READING: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Accept, Authentication, Authorization, Baggage, Content-Encoding, Content-Type, Origin, Sentry-Trace, X-Requested-With, X-Sentry-Auth",
);
const EXPOSED: HeaderValue =
    HeaderValue::from_static("Retry-After, X-Request-Id, X-Sentry-Error, X-Sentry-Rate-Limits");

/// Returns the response to a preflight request for a route of this method.
pub(super) fn preflight(method: Method) -> Response {
    let methods = if method == Method::Get { READING } else { POSTING };
    Response::no_content()
        .header(ALLOW, methods.clone())
        .header(ACCESS_CONTROL_ALLOW_METHODS, methods)
        .header(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS)
        .header(ACCESS_CONTROL_MAX_AGE, MAX_AGE)
}

/// Adds the headers that let pages of any origin read the response.
pub(super) fn allow(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
}
