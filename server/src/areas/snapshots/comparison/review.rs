//! The page on which people review a comparison: its images side by side, under a slider, as a
//! difference and blinking, and a form that approves or rejects it. Nothing is loaded from
//! elsewhere, and without scripts the images are side by side.

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::{Schema, SchemaGenerator, json_schema};
use sha2::{Digest as _, Sha256};

use super::model::{ComparedImage, Comparison, Decision, PixelArea};
use super::wire::image_path;
use crate::app::App;
use crate::areas::snapshots::links::Links;

const STYLE: &str = include_str!("../../../../templates/snapshots/review.css");
const SCRIPT: &str = include_str!("../../../../templates/snapshots/review.js");

/// The page, and the policy without which it must not be sent.
#[derive(Debug)]
pub(super) struct ReviewPage {
    pub(super) text: String,
    /// The value of the header `Content-Security-Policy`.
    pub(super) policy: String,
}

#[derive(Template)]
#[template(path = "snapshots/review.html")]
struct ReviewTemplate<'a> {
    style: &'static str,
    script: &'static str,
    id: String,
    url: &'a str,
    percentage: f64,
    diff_pixels: u64,
    total_pixels: u64,
    passed: bool,
    threshold: f64,
    regions: Vec<PixelArea>,
    regions_total: u64,
    viewport: String,
    full_page: bool,
    status: String,
    is_pending: bool,
    decided_by: Option<&'a str>,
    baseline_url: String,
    snapshot_url: String,
    diff_url: String,
    baseline_width: u32,
    baseline_height: u32,
    snapshot_width: u32,
    snapshot_height: u32,
    diff_width: u32,
    diff_height: u32,
}

/// Renders the page of a comparison.
pub(super) fn page(
    app: &App,
    comparison: &Comparison,
    links: &Links,
) -> Result<ReviewPage, askama::Error> {
    let found = &comparison.found;
    let url = |image| links.signed_path(app, &image_path(comparison.id, image));
    let template = ReviewTemplate {
        style: STYLE,
        script: SCRIPT,
        id: comparison.id.text(),
        url: &comparison.url,
        percentage: found.diff_percentage,
        diff_pixels: found.diff_pixels,
        total_pixels: found.total_pixels,
        passed: comparison.has_passed(),
        threshold: comparison.threshold,
        regions: found.regions.iter().map(|region| region.area).collect(),
        regions_total: found.regions_total,
        viewport: format!("{} × {}", comparison.viewport.width(), comparison.viewport.height()),
        full_page: comparison.full_page,
        status: comparison.decision.name().replace('_', " "),
        is_pending: comparison.decision == Decision::Pending,
        decided_by: match &comparison.decision {
            Decision::Pending => None,
            Decision::Approved { verdict, .. } | Decision::Rejected(verdict) => Some(&verdict.by),
        },
        baseline_url: url(ComparedImage::Baseline),
        snapshot_url: url(ComparedImage::Snapshot),
        diff_url: url(ComparedImage::Diff),
        baseline_width: comparison.baseline_image.width,
        baseline_height: comparison.baseline_image.height,
        snapshot_width: comparison.snapshot_image.width,
        snapshot_height: comparison.snapshot_image.height,
        diff_width: comparison.diff_image.width,
        diff_height: comparison.diff_image.height,
    };
    Ok(ReviewPage { text: template.render()?, policy: policy() })
}

/// Returns the policy: the script and the style of the page, images and requests of this server.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let (style, script) = (hash(STYLE), hash(SCRIPT));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; \
         img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'self'"
    )
}

/// Returns the schema of the page.
pub(super) fn html_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string" })
}
