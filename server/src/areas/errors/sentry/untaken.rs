//! What SDKs are asked not to send: kinds of items that are dropped here. Each answer says so in `X-Sentry-Rate-Limits`, which SDKs obey
//! by category, so that spans and sessions stay where they are.
//!
//! ```text
//! limits = limit { "," limit }
//! limit  = seconds ":" categories ":" scope ":" reason        categories are parted by ";"; none stands for all
//! ```

use std::sync::LazyLock;

use http::HeaderValue;

use crate::http::{Response, SENTRY_LIMITS};
use crate::limits::ENVELOPE_UNTAKEN_SECONDS;

/// The categories of items that are dropped. SDKs pass over those that they do not know.
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

/// `None` only if the words above cannot be in a header.
static LIMITS: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let categories = CATEGORIES.join(";");
    let limits = format!("{ENVELOPE_UNTAKEN_SECONDS}:{categories}:organization:not_supported");
    HeaderValue::from_str(&limits).ok()
});

/// The answer with the categories that are not taken.
pub(super) fn named_in(response: Response) -> Response {
    match LIMITS.as_ref() {
        Some(limits) => response.header(SENTRY_LIMITS, limits.clone()),
        None => response,
    }
}
