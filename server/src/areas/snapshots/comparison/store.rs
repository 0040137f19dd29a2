//! The stored documents of comparisons.
//!
//! The collection is `snapshot_comparisons`, the key a comparison's id.
//!
//! ```text
//! {"url", "viewport", "full_page", "snapshot", "baseline", "baseline_image", "snapshot_image",
//!  "diff_image", "diff_pixels", "total_pixels", "diff_percentage", "sizes_differ",
//!  "regions": [[x, y, width, height, diff_pixels]], "regions_total", "threshold",
//!  "ignored": [[x, y, width, height]], "decision", "created_by", "created_at_ms"}
//! decision: {"is": "pending"} | {"is": "approved", "by", "at_ms", "reason"?, "baseline"}
//!           | {"is": "rejected", "by", "at_ms", "reason"?}
//! ```
//!
//! `viewport` and the images are those of snapshots.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{Comparison, Decision, FoundDifference, PixelArea, Region, Verdict};
use crate::areas::snapshots::capture::Viewport;
use crate::areas::snapshots::documents::StoredResource;
use crate::areas::snapshots::error::{SnapshotError, SnapshotKind};
use crate::areas::snapshots::ids::{BaselineId, ComparisonId, PageId, SnapshotId};
use crate::areas::snapshots::limits;
use crate::areas::snapshots::place::Place;
use crate::areas::snapshots::store::{ImageDocument, ViewportDocument};

/// A stored comparison, without its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "ComparisonDocument", into = "ComparisonDocument")]
pub(in crate::areas::snapshots) struct StoredComparison(Comparison);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ComparisonDocument {
    url: String,
    viewport: ViewportDocument,
    full_page: bool,
    snapshot: String,
    baseline: String,
    baseline_image: ImageDocument,
    snapshot_image: ImageDocument,
    diff_image: ImageDocument,
    diff_pixels: u64,
    total_pixels: u64,
    diff_percentage: f64,
    sizes_differ: bool,
    regions: Vec<(u32, u32, u32, u32, u64)>,
    regions_total: u64,
    threshold: f64,
    ignored: Vec<(u32, u32, u32, u32)>,
    decision: DecisionDocument,
    created_by: String,
    created_at_ms: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
enum DecisionDocument {
    Pending,
    Approved {
        #[serde(flatten)]
        verdict: VerdictDocument,
        baseline: String,
    },
    Rejected(VerdictDocument),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct VerdictDocument {
    by: String,
    at_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl TryFrom<DecisionDocument> for Decision {
    type Error = String;

    fn try_from(document: DecisionDocument) -> Result<Self, String> {
        Ok(match document {
            DecisionDocument::Pending => Self::Pending,
            DecisionDocument::Rejected(verdict) => Self::Rejected(verdict.into()),
            DecisionDocument::Approved { verdict, baseline } => {
                let baseline = BaselineId::parse(&baseline).ok_or("decision is not valid")?;
                Self::Approved { verdict: verdict.into(), baseline }
            }
        })
    }
}

impl From<Decision> for DecisionDocument {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Pending => Self::Pending,
            Decision::Rejected(verdict) => Self::Rejected(verdict.into()),
            Decision::Approved { verdict, baseline } => {
                Self::Approved { verdict: verdict.into(), baseline: baseline.text() }
            }
        }
    }
}

impl From<VerdictDocument> for Verdict {
    fn from(document: VerdictDocument) -> Self {
        Self { by: document.by, at: TimestampMs(document.at_ms), reason: document.reason }
    }
}

impl From<Verdict> for VerdictDocument {
    fn from(verdict: Verdict) -> Self {
        Self { by: verdict.by, at_ms: verdict.at.0, reason: verdict.reason }
    }
}

impl TryFrom<ComparisonDocument> for StoredComparison {
    type Error = String;

    fn try_from(document: ComparisonDocument) -> Result<Self, String> {
        let page = PageId::of(&document.url).ok_or("url is not valid")?;
        let viewport: Viewport = document.viewport.try_into()?;
        let area = |(x, y, width, height)| PixelArea { x, y, width, height };
        let regions = document.regions.into_iter().map(|(x, y, width, height, diff_pixels)| {
            Region { area: area((x, y, width, height)), diff_pixels }
        });
        Ok(Self(Comparison {
            // The key of the document, which `from_stored` sets.
            id: ComparisonId(0),
            place: Place::new(page, viewport, document.full_page),
            url: document.url,
            viewport,
            full_page: document.full_page,
            snapshot: SnapshotId::parse(&document.snapshot).ok_or("snapshot is not valid")?,
            baseline: BaselineId::parse(&document.baseline).ok_or("baseline is not valid")?,
            baseline_image: document.baseline_image.try_into()?,
            snapshot_image: document.snapshot_image.try_into()?,
            diff_image: document.diff_image.try_into()?,
            found: FoundDifference {
                diff_pixels: document.diff_pixels,
                total_pixels: document.total_pixels,
                diff_percentage: document.diff_percentage,
                sizes_differ: document.sizes_differ,
                regions: regions.collect(),
                regions_total: document.regions_total,
            },
            threshold: document.threshold,
            ignored: document.ignored.into_iter().map(area).collect(),
            decision: document.decision.try_into()?,
            created_by: document.created_by,
            created_at: TimestampMs(document.created_at_ms),
        }))
    }
}

impl From<StoredComparison> for ComparisonDocument {
    fn from(StoredComparison(comparison): StoredComparison) -> Self {
        let found = comparison.found;
        let area = |area: PixelArea| (area.x, area.y, area.width, area.height);
        let region = |Region { area, diff_pixels }: Region| {
            (area.x, area.y, area.width, area.height, diff_pixels)
        };
        Self {
            url: comparison.url,
            viewport: comparison.viewport.into(),
            full_page: comparison.full_page,
            snapshot: comparison.snapshot.text(),
            baseline: comparison.baseline.text(),
            baseline_image: comparison.baseline_image.into(),
            snapshot_image: comparison.snapshot_image.into(),
            diff_image: comparison.diff_image.into(),
            diff_pixels: found.diff_pixels,
            total_pixels: found.total_pixels,
            diff_percentage: found.diff_percentage,
            sizes_differ: found.sizes_differ,
            regions: found.regions.into_iter().map(region).collect(),
            regions_total: found.regions_total,
            threshold: comparison.threshold,
            ignored: comparison.ignored.into_iter().map(area).collect(),
            decision: comparison.decision.into(),
            created_by: comparison.created_by,
            created_at_ms: comparison.created_at.0,
        }
    }
}

impl StoredResource for Comparison {
    type Kind = SnapshotKind;
    type Error = SnapshotError;
    type Stored = StoredComparison;
    const COLLECTION: Collection = Collection("snapshot_comparisons");
    const KIND: SnapshotKind = SnapshotKind::Comparison;
    const COUNT_MAX: usize = limits::COMPARISONS_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.text().into()
    }

    fn to_stored(&self) -> StoredComparison {
        StoredComparison(self.clone())
    }

    fn from_stored(id: String, StoredComparison(comparison): StoredComparison) -> Self {
        Self { id: ComparisonId::of_document(&id), ..comparison }
    }
}
