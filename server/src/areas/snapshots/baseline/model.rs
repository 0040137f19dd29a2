//! Baselines: the images that snapshots of a page are compared with.

use telltale_engine::TimestampMs;

use crate::areas::snapshots::capture::Viewport;
use crate::areas::snapshots::ids::{BaselineId, ComparisonId, PageId, SnapshotId};
use crate::areas::snapshots::images::StoredImage;
use crate::areas::snapshots::place::{Place, PlaceSettings};

/// An image that a page was, is or will be compared with. The last one of a place is current.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::snapshots) struct Baseline {
    pub(in crate::areas::snapshots) id: BaselineId,
    pub(in crate::areas::snapshots) place: Place,
    pub(in crate::areas::snapshots) url: String,
    pub(in crate::areas::snapshots) viewport: Viewport,
    pub(in crate::areas::snapshots) full_page: bool,
    /// The snapshot that it was taken from, which may be deleted.
    pub(in crate::areas::snapshots) snapshot: SnapshotId,
    pub(in crate::areas::snapshots) image: StoredImage,
    pub(in crate::areas::snapshots) origin: BaselineOrigin,
    pub(in crate::areas::snapshots) created_by: String,
    pub(in crate::areas::snapshots) created_at: TimestampMs,
}

/// How an image became a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::snapshots) enum BaselineOrigin {
    /// It was the first snapshot of the page.
    First,
    /// A user chose the snapshot.
    Chosen,
    /// A comparison was approved.
    Approved(ComparisonId),
    /// A comparison was used without a decision.
    Updated(ComparisonId),
    /// An earlier baseline was restored.
    Restored(BaselineId),
}

/// A baseline that is to be added.
#[derive(Clone, Debug)]
pub(in crate::areas::snapshots) struct NewBaseline {
    pub(in crate::areas::snapshots) place: Place,
    pub(in crate::areas::snapshots) settings: PlaceSettings,
    pub(in crate::areas::snapshots) snapshot: SnapshotId,
    pub(in crate::areas::snapshots) image: StoredImage,
    pub(in crate::areas::snapshots) origin: BaselineOrigin,
    pub(in crate::areas::snapshots) created_by: String,
}

impl Baseline {
    /// Returns the baseline that `new` becomes.
    pub(super) fn new(id: BaselineId, new: NewBaseline, created_at: TimestampMs) -> Self {
        let PlaceSettings { url, viewport, full_page } = new.settings;
        Self {
            id,
            place: new.place,
            url,
            viewport,
            full_page,
            snapshot: new.snapshot,
            image: new.image,
            origin: new.origin,
            created_by: new.created_by,
            created_at,
        }
    }

    /// Returns the page.
    pub(in crate::areas::snapshots) fn page(&self) -> PageId {
        self.place.page()
    }

    /// Returns what its place is, in words.
    pub(super) fn settings(&self) -> PlaceSettings {
        let Self { url, viewport, full_page, .. } = self;
        PlaceSettings { url: url.clone(), viewport: *viewport, full_page: *full_page }
    }
}

impl BaselineOrigin {
    /// Returns the name in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Chosen => "chosen",
            Self::Approved(_) => "approved",
            Self::Updated(_) => "updated",
            Self::Restored(_) => "restored",
        }
    }
}
