//! Messages of the browser, as much of them as the connection needs.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Any message of the browser.
#[derive(Debug, Deserialize)]
pub(super) struct WireMessage<'a> {
    pub(super) id: Option<u64>,
    #[serde(borrow, rename = "sessionId")]
    pub(super) session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    pub(super) params: Option<Box<RawValue>>,
    pub(super) result: Option<Box<RawValue>>,
    pub(super) error: Option<WireError>,
}

/// Why the browser refuses a command.
#[derive(Debug, Deserialize)]
pub(super) struct WireError {
    pub(super) message: String,
    pub(super) data: Option<String>,
}

/// The parameters of `Target.attachedToTarget`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttachedSession {
    pub(super) session_id: String,
    pub(super) target_info: AttachedTarget,
}

/// What a session is attached to.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttachedTarget {
    pub(super) browser_context_id: Option<String>,
}

/// The parameters of `Target.detachedFromTarget`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DetachedSession {
    pub(super) session_id: String,
}
