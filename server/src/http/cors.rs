//! Routes that pages of other sites may call: what browsers ask beforehand, and what they want to read on every answer.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW,
};
use http::{HeaderMap, HeaderValue};

use super::response::Response;

/// Seconds for which a browser need not ask again.
const MAX_AGE: HeaderValue = HeaderValue::from_static("3600");
const METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Accept, Authentication, Authorization, Baggage, Content-Encoding, Content-Type, Origin, Sentry-Trace, X-Requested-With, X-Sentry-Auth",
);
const EXPOSED: HeaderValue =
    HeaderValue::from_static("Retry-After, X-Request-Id, X-Sentry-Error, X-Sentry-Rate-Limits");

/// Answers a browser that asks whether a page may call.
pub(super) fn preflight() -> Response {
    Response::no_content()
        .header(ALLOW, METHODS)
        .header(ACCESS_CONTROL_ALLOW_METHODS, METHODS)
        .header(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS)
        .header(ACCESS_CONTROL_MAX_AGE, MAX_AGE)
}

/// Lets pages of any site read an answer.
pub(super) fn allow(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
}
