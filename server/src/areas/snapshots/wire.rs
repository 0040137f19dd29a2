//! The JSON that responses have in common.

use schemars::JsonSchema;
use serde::Serialize;

use super::capture::Viewport;

/// The only browser.
pub(super) const CHROMIUM: &str = "chromium";

/// The browsers.
#[derive(JsonSchema)]
#[schemars(rename = "Browser", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used: an unknown browser has an error of its own")]
pub(super) enum BrowserName {
    Chromium,
}

/// The size of the window in which a page is shown, in CSS pixels.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Viewport")]
pub(super) struct ViewportView {
    width: u32,
    height: u32,
}

impl From<Viewport> for ViewportView {
    fn from(viewport: Viewport) -> Self {
        Self { width: viewport.width(), height: viewport.height() }
    }
}
