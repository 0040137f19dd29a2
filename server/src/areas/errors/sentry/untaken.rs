//! Asks SDKs not to send item types that are not supported. Every response lists their categories
//! in `X-Sentry-Rate-Limits`, which SDKs obey, so that spans and sessions are not sent at all.
//!
//! ```text
//! limits = limit { "," limit }
//! limit  = seconds ":" categories ":" scope ":" reason
//! ```
//!
//! Categories are separated by ";"; an empty list means all categories.

use std::sync::LazyLock;

use http::HeaderValue;

use crate::http::{Response, SENTRY_LIMITS};
use crate::limits::ENVELOPE_UNSUPPORTED_SECONDS;

/// The categories of unsupported items. SDKs ignore categories that they do not know.
const CATEGORIES: [&str; 15] = [
    "attachment",
    "transaction",
    "span",
    "session",
    "monitor",
    "profile",
    "profile_chunk",
    "profile_chunk_ui",
    "replay",
    "feedback",
    "user_report_v2",
    "log_item",
    "log_byte",
    "metric_bucket",
    "trace_metric",
];

static LIMITS: LazyLock<HeaderValue> = LazyLock::new(|| {
    let categories = CATEGORIES.join(";");
    let limits = format!("{ENVELOPE_UNSUPPORTED_SECONDS}:{categories}:organization:not_supported");
    match HeaderValue::from_str(&limits) {
        Ok(limits) => limits,
        Err(error) => unreachable!("the categories are words: {error}"),
    }
});

/// Adds the header with the unsupported categories to a response.
pub(super) fn with_rate_limits(response: Response) -> Response {
    response.header(SENTRY_LIMITS, LIMITS.clone())
}
