//! The JSON of snapshots.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{CaptureSettings, CapturedPage, PageSecrets, Snapshot, SnapshotState};
use crate::app::App;
use crate::areas::snapshots::capture::{SELECTORS_MAX, Viewport};
use crate::areas::snapshots::error::SnapshotError;
use crate::areas::snapshots::library::SnapshotEntry;
use crate::areas::snapshots::links::Links;
use crate::areas::snapshots::wire::{BrowserName, CHROMIUM, ViewportView};
use crate::platform::bounded::AtMost;
use crate::platform::fields::Invalid;
use crate::platform::json::{integer_or_null, nullable};
use crate::platform::time::IsoTime;

/// Default viewport.
const WIDTH: u32 = 1_280;
const HEIGHT: u32 = 720;
/// Default condition.
const WAIT_FOR: &str = "network_idle";

/// A page that is to be captured.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotInput {
    /// An `http` or `https` URL, whose host must have a public address.
    #[schemars(required, length(max = 2_048))]
    url: Option<String>,
    /// Defaults to `chromium`, the only one.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<BrowserName>")]
    browser: Option<Option<String>>,
    /// Defaults to 1280 × 720.
    #[serde(default)]
    viewport: Option<ViewportInput>,
    /// Device pixels for each CSS pixel, from 1 to 4. Defaults to 1.
    #[schemars(range(min = 1, max = 4))]
    device_scale_factor: Option<f64>,
    /// Whether the whole page is captured, up to 16 384 pixels of height, or only what the viewport
    /// shows. Defaults to false.
    full_page: Option<bool>,
    /// When the page is captured: at `load`, `dom_content_loaded` or `network_idle` (no request for
    /// 500 ms), or when an element matches the CSS selector after `selector:`. Defaults to
    /// `network_idle`.
    #[schemars(length(max = 1_009), regex(pattern = WAIT_FOR_PATTERN))]
    wait_for: Option<String>,
    /// CSS selectors of elements that are made invisible; they keep their place.
    #[schemars(with = "Option<Vec<String>>", length(max = SELECTORS_MAX))]
    hide_selectors: Option<AtMost<String, SELECTORS_MAX>>,
    /// CSS selectors of elements that are painted over with one colour.
    #[schemars(with = "Option<Vec<String>>", length(max = SELECTORS_MAX))]
    mask_selectors: Option<AtMost<String, SELECTORS_MAX>>,
    /// Headers of requests to the origin of the page, for pages behind a login. Never shown.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    headers: Option<BTreeMap<String, String>>,
    /// Cookies for the host of the page, by name. Never shown.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    cookies: Option<BTreeMap<String, String>>,
}

/// The forms of `wait_for`.
const WAIT_FOR_PATTERN: &str = "^(load|dom_content_loaded|network_idle|selector:.+)$";

/// The size of the window in which a page is shown, in CSS pixels.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ViewportInput")]
#[serde(deny_unknown_fields)]
struct ViewportInput {
    #[serde(default, deserialize_with = "integer_or_null")]
    #[schemars(required, with = "u32", range(min = 320, max = 3_840))]
    width: Option<u32>,
    #[serde(default, deserialize_with = "integer_or_null")]
    #[schemars(required, with = "u32", range(min = 240, max = 2_160))]
    height: Option<u32>,
}

/// How far a snapshot is.
#[derive(JsonSchema)]
#[schemars(rename = "SnapshotStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum StatusName {
    Pending,
    Capturing,
    Completed,
    Failed,
}

/// Snapshots, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SnapshotList")]
pub(super) struct SnapshotListView {
    snapshots: Vec<SnapshotSummaryView>,
}

/// A snapshot in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SnapshotSummary")]
struct SnapshotSummaryView {
    id: String,
    page_id: String,
    url: String,
    #[schemars(with = "BrowserName")]
    browser: &'static str,
    #[schemars(with = "StatusName")]
    status: &'static str,
    captured_at: Option<IsoTime>,
    created_at: IsoTime,
}

/// A snapshot.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Snapshot")]
pub(super) struct SnapshotView {
    id: String,
    /// The same for all snapshots of a URL.
    page_id: String,
    url: String,
    #[schemars(with = "BrowserName")]
    browser: &'static str,
    viewport: ViewportView,
    device_scale_factor: f64,
    full_page: bool,
    wait_for: String,
    hide_selectors: Vec<String>,
    mask_selectors: Vec<String>,
    /// The names of the headers that were sent with the request; their values are never shown.
    header_names: Vec<String>,
    /// The names of the cookies, likewise.
    cookie_names: Vec<String>,
    #[schemars(with = "StatusName")]
    status: &'static str,
    /// Where the image is; the URL needs no key and expires. Null unless completed.
    image_url: Option<String>,
    image_size_bytes: Option<u64>,
    /// Device pixels of the image.
    image_width: Option<u32>,
    image_height: Option<u32>,
    captured_at: Option<IsoTime>,
    duration_ms: Option<u64>,
    /// The status of the response that the page is.
    http_status: Option<u16>,
    /// The URL of the page after redirects.
    final_url: Option<String>,
    /// Whether the page is higher than its image.
    truncated: Option<bool>,
    /// Whether the page went on changing, so that two images of it may differ.
    unstable: Option<bool>,
    /// Addresses that the page must not reach, and tried to: the first ones.
    refused_requests: Vec<RefusedRequestView>,
    refused_requests_total: u64,
    /// Null unless failed.
    error: Option<CaptureErrorView>,
    created_by: String,
    created_at: IsoTime,
}

/// A request that a page must not make.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RefusedRequest")]
struct RefusedRequestView {
    host: String,
    port: u16,
    reason: String,
}

/// Why a page was not captured.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CaptureError")]
struct CaptureErrorView {
    code: String,
    message: String,
}

impl SnapshotInput {
    /// Returns how the page is to be captured.
    pub(super) fn into_settings(self) -> Result<(CaptureSettings, PageSecrets), SnapshotError> {
        let url = self.url.ok_or_else(|| Invalid::missing("url"))?;
        if self.browser.flatten().is_some_and(|browser| browser != CHROMIUM) {
            return Err(Invalid::field("browser", "must be chromium").into());
        }
        let (width, height) = match self.viewport {
            None => (WIDTH, HEIGHT),
            Some(viewport) => (
                viewport.width.ok_or_else(|| Invalid::missing("viewport.width"))?,
                viewport.height.ok_or_else(|| Invalid::missing("viewport.height"))?,
            ),
        };
        let mut viewport = Viewport::new(width, height)?;
        if let Some(factor) = self.device_scale_factor {
            viewport = viewport.with_device_scale_factor(factor)?;
        }
        let headers: Vec<_> = self.headers.unwrap_or_default().into_iter().collect();
        let cookies: Vec<_> = self.cookies.unwrap_or_default().into_iter().collect();
        let names = |pairs: &[(String, String)]| pairs.iter().map(|pair| pair.0.clone()).collect();
        let settings = CaptureSettings {
            url,
            viewport,
            full_page: self.full_page.unwrap_or(false),
            wait_for: self.wait_for.unwrap_or_else(|| WAIT_FOR.to_owned()),
            hide_selectors: all("hide_selectors", self.hide_selectors)?,
            mask_selectors: all("mask_selectors", self.mask_selectors)?,
            header_names: names(&headers),
            cookie_names: names(&cookies),
        };
        Ok((settings, PageSecrets { headers, cookies }))
    }
}

fn all(
    field: &'static str,
    sent: Option<AtMost<String, SELECTORS_MAX>>,
) -> Result<Vec<String>, Invalid> {
    let too_many = |_| Invalid::field(field, format!("must have at most {SELECTORS_MAX} items"));
    sent.map_or(Ok(Vec::new()), |sent| sent.all().map_err(too_many))
}

impl SnapshotListView {
    pub(super) fn new(entries: Vec<SnapshotEntry>) -> Self {
        let view = |entry: SnapshotEntry| SnapshotSummaryView {
            id: entry.id.text(),
            page_id: entry.page.text(),
            url: entry.url.as_ref().to_owned(),
            browser: CHROMIUM,
            status: entry.status,
            captured_at: entry.captured_at.map(IsoTime),
            created_at: IsoTime(entry.created_at),
        };
        Self { snapshots: entries.into_iter().map(view).collect() }
    }
}

impl SnapshotView {
    pub(super) fn new(app: &App, snapshot: Snapshot, links: &Links) -> Self {
        let Snapshot { id, page, settings, state, created_by, created_at, .. } = snapshot;
        let status = state.name();
        let (captured, failure) = match state {
            SnapshotState::Completed(captured) => (Some(*captured), None),
            SnapshotState::Failed(failure) => (None, Some(failure)),
            SnapshotState::Pending | SnapshotState::Capturing => (None, None),
        };
        let image = captured.as_ref().map(|captured| captured.image);
        let image_path = format!("/api/v1/snapshots/{}/image", id.text());
        Self {
            id: id.text(),
            page_id: page.text(),
            url: settings.url,
            browser: CHROMIUM,
            viewport: settings.viewport.into(),
            device_scale_factor: settings.viewport.device_scale_factor(),
            full_page: settings.full_page,
            wait_for: settings.wait_for,
            hide_selectors: settings.hide_selectors,
            mask_selectors: settings.mask_selectors,
            header_names: settings.header_names,
            cookie_names: settings.cookie_names,
            status,
            image_url: image.map(|_| links.signed(app, &image_path)),
            image_size_bytes: image.map(|image| image.bytes),
            image_width: image.map(|image| image.width),
            image_height: image.map(|image| image.height),
            captured_at: captured.as_ref().map(|captured| IsoTime(captured.captured_at)),
            duration_ms: captured.as_ref().map(|captured| captured.duration_ms),
            http_status: captured.as_ref().and_then(|captured| captured.http_status),
            final_url: captured.as_ref().map(|captured| captured.final_url.clone()),
            truncated: captured.as_ref().map(|captured| captured.is_truncated),
            unstable: captured.as_ref().map(|captured| captured.is_unstable),
            refused_requests_total: captured.as_ref().map_or(0, |captured| captured.refused_total),
            refused_requests: captured.map(refused).unwrap_or_default(),
            error: failure
                .map(|failure| CaptureErrorView { code: failure.code, message: failure.message }),
            created_by,
            created_at: IsoTime(created_at),
        }
    }
}

fn refused(captured: CapturedPage) -> Vec<RefusedRequestView> {
    let view = |refused: super::model::RefusedRequest| RefusedRequestView {
        host: refused.host,
        port: refused.port,
        reason: refused.reason,
    };
    captured.refused.into_iter().map(view).collect()
}
