//! Comparisons of snapshots with baselines, and what people decided about them.

use telltale_engine::TimestampMs;

use crate::areas::snapshots::baseline::BaselineOrigin;
use crate::areas::snapshots::capture::Viewport;
use crate::areas::snapshots::error::SnapshotError;
use crate::areas::snapshots::ids::{BaselineId, ComparisonId, SnapshotId};
use crate::areas::snapshots::images::StoredImage;
use crate::areas::snapshots::place::Place;

/// A comparison of a snapshot with the baseline of its page.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::snapshots) struct Comparison {
    pub(in crate::areas::snapshots) id: ComparisonId,
    pub(in crate::areas::snapshots) place: Place,
    pub(super) url: String,
    pub(super) viewport: Viewport,
    pub(super) full_page: bool,
    pub(in crate::areas::snapshots) snapshot: SnapshotId,
    pub(super) baseline: BaselineId,
    pub(super) baseline_image: StoredImage,
    pub(super) snapshot_image: StoredImage,
    pub(super) diff_image: StoredImage,
    pub(super) found: FoundDifference,
    /// In percent.
    pub(super) threshold: f64,
    pub(super) ignored: Vec<PixelArea>,
    pub(in crate::areas::snapshots) decision: Decision,
    pub(super) created_by: String,
    pub(in crate::areas::snapshots) created_at: TimestampMs,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundDifference {
    pub(super) diff_pixels: u64,
    pub(super) total_pixels: u64,
    pub(super) diff_percentage: f64,
    pub(super) sizes_differ: bool,
    /// The largest changed regions, the largest first.
    pub(super) regions: Vec<Region>,
    pub(super) regions_total: u64,
}

/// A rectangle of an image, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PixelArea {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// A region that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) area: PixelArea,
    pub(super) diff_pixels: u64,
}

/// What people decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::snapshots) enum Decision {
    /// Nothing yet.
    Pending,
    /// The snapshot is as it should be.
    Approved {
        verdict: Verdict,
        /// The baseline that the snapshot became.
        baseline: BaselineId,
    },
    /// It is not.
    Rejected(Verdict),
}

/// Who decided, when and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::snapshots) struct Verdict {
    pub(super) by: String,
    pub(super) at: TimestampMs,
    pub(super) reason: Option<String>,
}

/// An image of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedImage {
    Baseline,
    Snapshot,
    Diff,
}

impl Comparison {
    /// Returns the images that it shows.
    pub(in crate::areas::snapshots) fn images(&self) -> [StoredImage; 3] {
        [self.baseline_image, self.snapshot_image, self.diff_image]
    }

    /// Returns one of its images.
    pub(super) fn image(&self, which: ComparedImage) -> StoredImage {
        match which {
            ComparedImage::Baseline => self.baseline_image,
            ComparedImage::Snapshot => self.snapshot_image,
            ComparedImage::Diff => self.diff_image,
        }
    }

    /// Returns whether no more differs than may.
    pub(super) fn has_passed(&self) -> bool {
        self.found.diff_percentage <= self.threshold
    }

    /// Fails if it was decided.
    pub(super) fn check_pending(&self) -> Result<(), SnapshotError> {
        match self.decision {
            Decision::Pending => Ok(()),
            Decision::Approved { .. } => Err(SnapshotError::State("the comparison is approved")),
            Decision::Rejected(_) => Err(SnapshotError::State("the comparison is rejected")),
        }
    }

    /// Returns how its snapshot becomes a baseline without a decision.
    pub(super) fn update_origin(&self) -> BaselineOrigin {
        BaselineOrigin::Updated(self.id)
    }
}

impl Decision {
    /// The names of all decisions.
    pub(super) const NAMES: [&str; 3] = ["pending_review", "approved", "rejected"];

    /// Returns the name in the API.
    pub(in crate::areas::snapshots) fn name(&self) -> &'static str {
        match self {
            Self::Pending => "pending_review",
            Self::Approved { .. } => "approved",
            Self::Rejected(_) => "rejected",
        }
    }
}

impl ComparedImage {
    /// All images.
    pub(super) const ALL: [Self; 3] = [Self::Baseline, Self::Snapshot, Self::Diff];

    /// Returns the name in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Snapshot => "snapshot",
            Self::Diff => "diff",
        }
    }

    /// Returns the image with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|image| image.name() == name)
    }
}
