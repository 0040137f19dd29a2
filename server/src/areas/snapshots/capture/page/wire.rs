//! Results and events of the protocol, as much of them as is used.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The result of a command that returns nothing of interest.
#[derive(Debug, Deserialize)]
pub(super) struct Done {}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContextCreated {
    pub(super) browser_context_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Navigated {
    pub(super) error_text: Option<String>,
    pub(super) is_download: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameTreeResult {
    pub(super) frame_tree: FrameTree,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameTree {
    pub(super) frame: Frame,
    #[serde(default)]
    pub(super) child_frames: Vec<FrameTree>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    pub(super) id: String,
    pub(super) parent_id: Option<String>,
    pub(super) loader_id: String,
    pub(super) url: String,
    pub(super) url_fragment: Option<String>,
    pub(super) unreachable_url: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorldCreated {
    pub(super) execution_context_id: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Evaluated {
    pub(super) result: RemoteValue,
    pub(super) exception_details: Option<ExceptionDetails>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoteValue {
    #[serde(default)]
    pub(super) value: serde_json::Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct ExceptionDetails {
    pub(super) text: String,
    pub(super) exception: Option<ExceptionObject>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ExceptionObject {
    pub(super) description: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LayoutMetrics {
    pub(super) css_content_size: ContentSize,
}

#[derive(Debug, Deserialize)]
pub(super) struct ContentSize {
    pub(super) height: f64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Screenshot {
    pub(super) data: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetAttached {
    pub(super) session_id: String,
    pub(super) target_info: TargetInfo,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetInfo {
    pub(super) target_id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetDetached {
    pub(super) session_id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct FrameNavigated {
    pub(super) frame: Frame,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadingStopped {
    pub(super) frame_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LifecycleEvent {
    pub(super) loader_id: String,
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestWillBeSent {
    pub(super) request_id: String,
    pub(super) loader_id: String,
    pub(super) frame_id: Option<String>,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    pub(super) request: RequestInfo,
}

#[derive(Debug, Deserialize)]
pub(super) struct RequestInfo {
    pub(super) url: String,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResponseReceived {
    pub(super) request_id: String,
    pub(super) response: ResponseInfo,
}

#[derive(Debug, Deserialize)]
pub(super) struct ResponseInfo {
    pub(super) status: u16,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadingEnded {
    pub(super) request_id: String,
    #[serde(default)]
    pub(super) error_text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestPaused {
    pub(super) request_id: String,
    pub(super) request: RequestInfo,
    #[serde(default)]
    pub(super) resource_type: String,
    pub(super) frame_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthRequired {
    pub(super) request_id: String,
}
