//! The stored documents of baselines.
//!
//! The collection is `snapshot_baselines`, the key a baseline's id.
//!
//! ```text
//! {"url", "viewport", "full_page", "snapshot", "image", "origin": {"is", "id"?}, "created_by",
//!  "created_at_ms"}
//! ```
//!
//! `viewport` and `image` are those of snapshots. `origin.is` is `first`, `chosen`, `approved`,
//! `updated` or `restored`, `origin.id` the comparison or the baseline that it is from.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{Baseline, BaselineOrigin};
use crate::areas::snapshots::capture::Viewport;
use crate::areas::snapshots::documents::StoredResource;
use crate::areas::snapshots::error::{SnapshotError, SnapshotKind};
use crate::areas::snapshots::ids::{BaselineId, ComparisonId, PageId, SnapshotId};
use crate::areas::snapshots::limits;
use crate::areas::snapshots::place::Place;
use crate::areas::snapshots::store::{ImageDocument, ViewportDocument};

/// A stored baseline, without its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "BaselineDocument", into = "BaselineDocument")]
pub(in crate::areas::snapshots) struct StoredBaseline(Baseline);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct BaselineDocument {
    url: String,
    viewport: ViewportDocument,
    full_page: bool,
    snapshot: String,
    image: ImageDocument,
    origin: OriginDocument,
    created_by: String,
    created_at_ms: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
enum OriginDocument {
    First,
    Chosen,
    Approved { id: String },
    Updated { id: String },
    Restored { id: String },
}

impl TryFrom<BaselineDocument> for StoredBaseline {
    type Error = String;

    fn try_from(document: BaselineDocument) -> Result<Self, String> {
        let page = PageId::of(&document.url).ok_or("url is not valid")?;
        let viewport: Viewport = document.viewport.try_into()?;
        let comparison = |id: &str| ComparisonId::parse(id).ok_or("origin is not valid");
        let origin = match document.origin {
            OriginDocument::First => BaselineOrigin::First,
            OriginDocument::Chosen => BaselineOrigin::Chosen,
            OriginDocument::Approved { id } => BaselineOrigin::Approved(comparison(&id)?),
            OriginDocument::Updated { id } => BaselineOrigin::Updated(comparison(&id)?),
            OriginDocument::Restored { id } => {
                BaselineOrigin::Restored(BaselineId::parse(&id).ok_or("origin is not valid")?)
            }
        };
        Ok(Self(Baseline {
            // The key of the document, which `from_stored` sets.
            id: BaselineId(0),
            place: Place::new(page, viewport, document.full_page),
            url: document.url,
            viewport,
            full_page: document.full_page,
            snapshot: SnapshotId::parse(&document.snapshot).ok_or("snapshot is not valid")?,
            image: document.image.try_into()?,
            origin,
            created_by: document.created_by,
            created_at: TimestampMs(document.created_at_ms),
        }))
    }
}

impl From<StoredBaseline> for BaselineDocument {
    fn from(StoredBaseline(baseline): StoredBaseline) -> Self {
        let origin = match baseline.origin {
            BaselineOrigin::First => OriginDocument::First,
            BaselineOrigin::Chosen => OriginDocument::Chosen,
            BaselineOrigin::Approved(id) => OriginDocument::Approved { id: id.text() },
            BaselineOrigin::Updated(id) => OriginDocument::Updated { id: id.text() },
            BaselineOrigin::Restored(id) => OriginDocument::Restored { id: id.text() },
        };
        Self {
            url: baseline.url,
            viewport: baseline.viewport.into(),
            full_page: baseline.full_page,
            snapshot: baseline.snapshot.text(),
            image: baseline.image.into(),
            origin,
            created_by: baseline.created_by,
            created_at_ms: baseline.created_at.0,
        }
    }
}

impl StoredResource for Baseline {
    type Kind = SnapshotKind;
    type Error = SnapshotError;
    type Stored = StoredBaseline;
    const COLLECTION: Collection = Collection("snapshot_baselines");
    const KIND: SnapshotKind = SnapshotKind::Baseline;
    const COUNT_MAX: usize = limits::BASELINES_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.text().into()
    }

    fn to_stored(&self) -> StoredBaseline {
        StoredBaseline(self.clone())
    }

    fn from_stored(id: String, StoredBaseline(baseline): StoredBaseline) -> Self {
        Self { id: BaselineId::of_document(&id), ..baseline }
    }
}
