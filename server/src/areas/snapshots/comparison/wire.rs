//! The JSON of comparisons.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use super::model::{ComparedImage, Comparison, Decision, PixelArea, Region, Verdict};
use super::ops::ComparisonDraft;
use crate::app::App;
use crate::areas::snapshots::compare::IGNORED_REGIONS_MAX;
use crate::areas::snapshots::ids::{BaselineId, ComparisonId};
use crate::areas::snapshots::limits;
use crate::areas::snapshots::links::Links;
use crate::areas::snapshots::settings::Percentage;
use crate::areas::snapshots::wire::{BrowserName, CHROMIUM, ViewportView};
use crate::platform::bounded::AtMost;
use crate::platform::fields::Invalid;
use crate::platform::json::integer_u32;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// How a snapshot is compared.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompareInput {
    /// How many percent of the pixels may differ, from 0 to 100. Defaults to the setting
    /// `snapshots.threshold`.
    #[schemars(range(min = 0, max = 100))]
    threshold: Option<f64>,
    /// Rectangles that never differ.
    #[schemars(with = "Option<Vec<PixelAreaInput>>", length(max = IGNORED_REGIONS_MAX))]
    ignore_regions: Option<AtMost<PixelAreaInput, IGNORED_REGIONS_MAX>>,
}

/// A rectangle of an image, in pixels.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "PixelAreaInput")]
#[serde(deny_unknown_fields)]
struct PixelAreaInput {
    #[serde(deserialize_with = "integer_u32")]
    x: u32,
    #[serde(deserialize_with = "integer_u32")]
    y: u32,
    #[serde(deserialize_with = "integer_u32")]
    width: u32,
    #[serde(deserialize_with = "integer_u32")]
    height: u32,
}

/// Why a comparison is approved or rejected.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VerdictInput {
    #[schemars(length(max = limits::REASON_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    reason: Option<String>,
}

/// What is decided about a comparison.
#[derive(JsonSchema)]
#[schemars(rename = "ComparisonStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum StatusName {
    PendingReview,
    Approved,
    Rejected,
}

/// Comparisons, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ComparisonList")]
pub(super) struct ComparisonListView {
    comparisons: Vec<ComparisonView>,
}

/// A comparison that was just made.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "NewComparison")]
pub(super) struct NewComparisonView {
    comparison_id: String,
    #[serde(flatten)]
    comparison: ComparisonFields,
}

/// A comparison.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Comparison")]
pub(super) struct ComparisonView {
    id: String,
    #[serde(flatten)]
    comparison: ComparisonFields,
}

/// A comparison whose snapshot has become the baseline.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ComparisonWithBaseline")]
pub(super) struct UpdatedBaselineView {
    id: String,
    #[schemars(with = "StatusName")]
    status: &'static str,
    new_baseline_id: String,
}

/// What a comparison is of, what it found, and what was decided.
#[derive(Debug, Serialize, JsonSchema)]
struct ComparisonFields {
    snapshot_id: String,
    baseline_id: String,
    page_id: String,
    url: String,
    #[schemars(with = "BrowserName")]
    browser: &'static str,
    viewport: ViewportView,
    full_page: bool,
    #[schemars(with = "StatusName")]
    status: &'static str,
    /// Percent of the pixels of both images together, with four decimals; 0 only if none differs.
    diff_percentage: f64,
    diff_pixels: u64,
    total_pixels: u64,
    /// Whether the images have different sizes. What only one of them has differs.
    sizes_differ: bool,
    /// The regions that changed, the largest first, 100 at most.
    regions: Vec<RegionView>,
    /// The number of all such regions.
    regions_total: u64,
    /// Percent of the pixels that may differ.
    threshold: f64,
    /// Whether no more differs.
    passed: bool,
    ignore_regions: Vec<PixelAreaView>,
    baseline_url: String,
    snapshot_url: String,
    /// The changes in red over a faded baseline; anti-aliasing in yellow.
    diff_url: String,
    /// A page that shows the three images, for people. The URL needs no key and expires.
    review_url: String,
    created_by: String,
    created_at: IsoTime,
    approved_by: Option<String>,
    approved_at: Option<IsoTime>,
    rejected_by: Option<String>,
    rejected_at: Option<IsoTime>,
    /// Why it was approved or rejected.
    reason: Option<String>,
    /// The baseline that an approved snapshot has become.
    new_baseline_id: Option<String>,
}

/// A region that changed: the smallest rectangle around its pixels.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChangedRegion")]
struct RegionView {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    diff_pixels: u64,
}

/// A rectangle of an image, in pixels.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PixelArea")]
struct PixelAreaView {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

impl CompareInput {
    /// Returns how a snapshot is compared on behalf of a user.
    pub(super) fn into_draft(self, created_by: String) -> Result<ComparisonDraft, Invalid> {
        let expected = "must be a number from 0 to 100";
        let threshold =
            |percent| Percentage::new(percent).ok_or_else(|| Invalid::field("threshold", expected));
        let field = "ignore_regions";
        let ignored = self.ignore_regions.map_or(Ok(Vec::new()), AtMost::all).map_err(|_| {
            Invalid::field(field, format!("must have at most {IGNORED_REGIONS_MAX} items"))
        })?;
        Ok(ComparisonDraft {
            threshold: self.threshold.map(threshold).transpose()?.map(Percentage::get),
            ignored: ignored.into_iter().map(PixelArea::from).collect(),
            created_by,
        })
    }
}

impl VerdictInput {
    /// Returns the verdict of a user.
    pub(super) fn into_verdict(self, by: String, at: TimestampMs) -> Result<Verdict, Invalid> {
        let max = limits::REASON_CHARS_MAX;
        if self
            .reason
            .as_ref()
            .is_some_and(|reason| reason.trim().is_empty() || reason.chars().count() > max)
        {
            let expected = format!("must not be blank, and have at most {max} characters");
            return Err(Invalid::field("reason", expected));
        }
        Ok(Verdict { by, at, reason: self.reason })
    }
}

impl ComparisonListView {
    pub(super) fn new(app: &App, found: Vec<Comparison>, links: &Links) -> Self {
        let view = |comparison| ComparisonView::new(app, comparison, links);
        Self { comparisons: found.into_iter().map(view).collect() }
    }
}

impl NewComparisonView {
    pub(super) fn new(app: &App, comparison: Comparison, links: &Links) -> Self {
        let comparison_id = comparison.id.text();
        Self { comparison_id, comparison: ComparisonFields::new(app, comparison, links) }
    }
}

impl ComparisonView {
    pub(super) fn new(app: &App, comparison: Comparison, links: &Links) -> Self {
        let id = comparison.id.text();
        Self { id, comparison: ComparisonFields::new(app, comparison, links) }
    }
}

impl UpdatedBaselineView {
    pub(super) fn new(comparison: &Comparison, baseline: BaselineId) -> Self {
        Self {
            id: comparison.id.text(),
            status: comparison.decision.name(),
            new_baseline_id: baseline.text(),
        }
    }
}

/// Returns the path of an image of a comparison.
pub(super) fn image_path(id: ComparisonId, image: ComparedImage) -> String {
    format!("/api/v1/comparisons/{}/images/{}", id.text(), image.name())
}

impl ComparisonFields {
    fn new(app: &App, comparison: Comparison, links: &Links) -> Self {
        let id = comparison.id;
        let url = |image| links.signed(app, &image_path(id, image));
        let review = format!("/api/v1/comparisons/{}/review", id.text());
        let status = comparison.decision.name();
        let passed = comparison.has_passed();
        let found = comparison.found;
        let (approved, rejected, new_baseline) = match comparison.decision {
            Decision::Pending => (None, None, None),
            Decision::Approved { verdict, baseline } => (Some(verdict), None, Some(baseline)),
            Decision::Rejected(verdict) => (None, Some(verdict), None),
        };
        let reason = approved.as_ref().or(rejected.as_ref()).and_then(|of| of.reason.clone());
        Self {
            snapshot_id: comparison.snapshot.text(),
            baseline_id: comparison.baseline.text(),
            page_id: comparison.place.page().text(),
            url: comparison.url,
            browser: CHROMIUM,
            viewport: comparison.viewport.into(),
            full_page: comparison.full_page,
            status,
            diff_percentage: found.diff_percentage,
            diff_pixels: found.diff_pixels,
            total_pixels: found.total_pixels,
            sizes_differ: found.sizes_differ,
            regions: found.regions.iter().map(RegionView::from).collect(),
            regions_total: found.regions_total,
            threshold: comparison.threshold,
            passed,
            ignore_regions: comparison.ignored.iter().map(PixelAreaView::from).collect(),
            baseline_url: url(ComparedImage::Baseline),
            snapshot_url: url(ComparedImage::Snapshot),
            diff_url: url(ComparedImage::Diff),
            review_url: links.signed(app, &review),
            created_by: comparison.created_by,
            created_at: IsoTime(comparison.created_at),
            approved_at: approved.as_ref().map(|verdict| IsoTime(verdict.at)),
            approved_by: approved.map(|verdict| verdict.by),
            rejected_at: rejected.as_ref().map(|verdict| IsoTime(verdict.at)),
            rejected_by: rejected.map(|verdict| verdict.by),
            reason,
            new_baseline_id: new_baseline.map(BaselineId::text),
        }
    }
}

impl From<PixelAreaInput> for PixelArea {
    fn from(PixelAreaInput { x, y, width, height }: PixelAreaInput) -> Self {
        Self { x, y, width, height }
    }
}

impl From<&PixelArea> for PixelAreaView {
    fn from(PixelArea { x, y, width, height }: &PixelArea) -> Self {
        Self { x: *x, y: *y, width: *width, height: *height }
    }
}

impl From<&Region> for RegionView {
    fn from(Region { area, diff_pixels }: &Region) -> Self {
        let PixelArea { x, y, width, height } = *area;
        Self { x, y, width, height, diff_pixels: *diff_pixels }
    }
}
