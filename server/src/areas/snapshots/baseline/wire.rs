//! The JSON of baselines.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Baseline, BaselineOrigin};
use crate::app::App;
use crate::areas::snapshots::links::Links;
use crate::areas::snapshots::wire::{BrowserName, CHROMIUM, ViewportView};
use crate::platform::time::IsoTime;

/// Baselines, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BaselineList")]
pub(super) struct BaselineListView {
    baselines: Vec<BaselineView>,
}

/// An image that snapshots of a page are, or were, compared with.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Baseline")]
pub(in crate::areas::snapshots) struct BaselineView {
    id: String,
    page_id: String,
    url: String,
    #[schemars(with = "BrowserName")]
    browser: &'static str,
    viewport: ViewportView,
    device_scale_factor: f64,
    full_page: bool,
    /// Whether new snapshots are compared with it. Others can be restored.
    current: bool,
    /// The snapshot that it was taken from, which may be deleted.
    snapshot_id: String,
    /// How it became a baseline.
    #[schemars(with = "OriginName")]
    origin: &'static str,
    /// The comparison that was approved or used.
    comparison_id: Option<String>,
    /// The earlier baseline that was restored.
    restored_from: Option<String>,
    image_url: String,
    image_size_bytes: u64,
    image_width: u32,
    image_height: u32,
    created_by: String,
    created_at: IsoTime,
}

/// How an image became a baseline.
#[derive(JsonSchema)]
#[schemars(rename = "BaselineOrigin", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum OriginName {
    First,
    Chosen,
    Approved,
    Updated,
    Restored,
}

impl BaselineListView {
    pub(super) fn new(app: &App, found: Vec<(Arc<Baseline>, bool)>, links: &Links) -> Self {
        let view = |(baseline, is_current): (Arc<Baseline>, bool)| {
            BaselineView::new(app, &baseline, is_current, links)
        };
        Self { baselines: found.into_iter().map(view).collect() }
    }
}

impl BaselineView {
    pub(in crate::areas::snapshots) fn new(
        app: &App,
        baseline: &Baseline,
        current: bool,
        links: &Links,
    ) -> Self {
        let id = baseline.id.text();
        let comparison = match baseline.origin {
            BaselineOrigin::Approved(id) | BaselineOrigin::Updated(id) => Some(id.text()),
            _ => None,
        };
        let restored_from = match baseline.origin {
            BaselineOrigin::Restored(id) => Some(id.text()),
            _ => None,
        };
        Self {
            page_id: baseline.page().text(),
            url: baseline.url.clone(),
            browser: CHROMIUM,
            viewport: baseline.viewport.into(),
            device_scale_factor: baseline.viewport.device_scale_factor(),
            full_page: baseline.full_page,
            current,
            snapshot_id: baseline.snapshot.text(),
            origin: baseline.origin.name(),
            comparison_id: comparison,
            restored_from,
            image_url: links.signed(app, &format!("/api/v1/baselines/{id}/image")),
            image_size_bytes: baseline.image.bytes,
            image_width: baseline.image.width,
            image_height: baseline.image.height,
            created_by: baseline.created_by.clone(),
            created_at: IsoTime(baseline.created_at),
            id,
        }
    }
}
