//! The stored documents of snapshots.
//!
//! The collection is `snapshots`, the key a snapshot's id.
//!
//! ```text
//! {"url", "viewport": {"width", "height", "device_scale_factor"}, "full_page", "wait_for",
//!  "hide_selectors", "mask_selectors", "header_names", "cookie_names", "secrets"?, "attempts",
//!  "state", "created_by", "created_at_ms"}
//! state: {"is": "pending"} | {"is": "capturing"}
//!        | {"is": "completed", "image": <image>, "captured_at_ms", "duration_ms", "http_status"?,
//!           "final_url", "is_truncated", "is_unstable",
//!           "refused": [{"host", "port", "reason"}], "refused_total"}
//!        | {"is": "failed", "code", "message", "failed_at_ms"}
//! image: {"digest", "bytes", "width", "height"}
//! ```
//!
//! `secrets` are sealed for the collection, the id and the field `secrets`. Their plain text:
//! `{"headers": [[name, value]], "cookies": [[name, value]]}`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{
    CaptureFailure, CaptureSettings, CapturedPage, PageSecrets, RefusedRequest, Snapshot,
    SnapshotState,
};
use crate::areas::snapshots::documents::StoredResource;
use crate::areas::snapshots::error::{SnapshotError, SnapshotKind};
use crate::areas::snapshots::ids::{PageId, SnapshotId};
use crate::areas::snapshots::limits;
use crate::areas::snapshots::store::{ImageDocument, ViewportDocument};
use crate::platform::sealing::SealContext;

const COLLECTION: Collection = Collection("snapshots");

/// A stored snapshot, without its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "SnapshotDocument", into = "SnapshotDocument")]
pub(in crate::areas::snapshots) struct StoredSnapshot(Snapshot);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SnapshotDocument {
    url: String,
    viewport: ViewportDocument,
    full_page: bool,
    wait_for: String,
    hide_selectors: Vec<String>,
    mask_selectors: Vec<String>,
    header_names: Vec<String>,
    cookie_names: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secrets: Option<String>,
    attempts: u32,
    state: StateDocument,
    created_by: String,
    created_at_ms: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
enum StateDocument {
    Pending,
    Capturing,
    Completed(CapturedDocument),
    Failed { code: String, message: String, failed_at_ms: i64 },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct CapturedDocument {
    image: ImageDocument,
    captured_at_ms: i64,
    duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    final_url: String,
    is_truncated: bool,
    is_unstable: bool,
    refused: Vec<RefusedDocument>,
    refused_total: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RefusedDocument {
    host: String,
    port: u16,
    reason: String,
}

/// Headers and cookies before they are sealed.
#[derive(Serialize, Deserialize)]
struct PlainSecrets {
    headers: Vec<(String, String)>,
    cookies: Vec<(String, String)>,
}

impl TryFrom<StateDocument> for SnapshotState {
    type Error = String;

    fn try_from(document: StateDocument) -> Result<Self, String> {
        Ok(match document {
            StateDocument::Pending => Self::Pending,
            StateDocument::Capturing => Self::Capturing,
            StateDocument::Failed { code, message, failed_at_ms } => {
                let failed_at = TimestampMs(failed_at_ms);
                Self::Failed(CaptureFailure { code, message, failed_at })
            }
            StateDocument::Completed(captured) => {
                let refused =
                    |RefusedDocument { host, port, reason }| RefusedRequest { host, port, reason };
                Self::Completed(Box::new(CapturedPage {
                    image: captured.image.try_into()?,
                    captured_at: TimestampMs(captured.captured_at_ms),
                    duration_ms: captured.duration_ms,
                    http_status: captured.http_status,
                    final_url: captured.final_url,
                    is_truncated: captured.is_truncated,
                    is_unstable: captured.is_unstable,
                    refused: captured.refused.into_iter().map(refused).collect(),
                    refused_total: captured.refused_total,
                }))
            }
        })
    }
}

impl From<SnapshotState> for StateDocument {
    fn from(state: SnapshotState) -> Self {
        match state {
            SnapshotState::Pending => Self::Pending,
            SnapshotState::Capturing => Self::Capturing,
            SnapshotState::Failed(CaptureFailure { code, message, failed_at }) => {
                Self::Failed { code, message, failed_at_ms: failed_at.0 }
            }
            SnapshotState::Completed(captured) => {
                let refused =
                    |RefusedRequest { host, port, reason }| RefusedDocument { host, port, reason };
                Self::Completed(CapturedDocument {
                    image: captured.image.into(),
                    captured_at_ms: captured.captured_at.0,
                    duration_ms: captured.duration_ms,
                    http_status: captured.http_status,
                    final_url: captured.final_url,
                    is_truncated: captured.is_truncated,
                    is_unstable: captured.is_unstable,
                    refused: captured.refused.into_iter().map(refused).collect(),
                    refused_total: captured.refused_total,
                })
            }
        }
    }
}

impl TryFrom<SnapshotDocument> for StoredSnapshot {
    type Error = String;

    fn try_from(document: SnapshotDocument) -> Result<Self, String> {
        let settings = CaptureSettings {
            url: document.url,
            viewport: document.viewport.try_into()?,
            full_page: document.full_page,
            wait_for: document.wait_for,
            hide_selectors: document.hide_selectors,
            mask_selectors: document.mask_selectors,
            header_names: document.header_names,
            cookie_names: document.cookie_names,
        };
        let page: PageId = settings.page().ok_or("url is not valid")?;
        Ok(Self(Snapshot {
            // The key of the document, which `from_stored` sets.
            id: SnapshotId(0),
            page,
            settings,
            secrets: document.secrets,
            attempts: document.attempts,
            state: document.state.try_into()?,
            created_by: document.created_by,
            created_at: TimestampMs(document.created_at_ms),
        }))
    }
}

impl From<StoredSnapshot> for SnapshotDocument {
    fn from(StoredSnapshot(snapshot): StoredSnapshot) -> Self {
        let settings = snapshot.settings;
        Self {
            url: settings.url,
            viewport: settings.viewport.into(),
            full_page: settings.full_page,
            wait_for: settings.wait_for,
            hide_selectors: settings.hide_selectors,
            mask_selectors: settings.mask_selectors,
            header_names: settings.header_names,
            cookie_names: settings.cookie_names,
            secrets: snapshot.secrets,
            attempts: snapshot.attempts,
            state: snapshot.state.into(),
            created_by: snapshot.created_by,
            created_at_ms: snapshot.created_at.0,
        }
    }
}

impl StoredResource for Snapshot {
    type Kind = SnapshotKind;
    type Error = SnapshotError;
    type Stored = StoredSnapshot;
    const COLLECTION: Collection = COLLECTION;
    const KIND: SnapshotKind = SnapshotKind::Snapshot;
    const COUNT_MAX: usize = limits::SNAPSHOTS_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.text().into()
    }

    fn to_stored(&self) -> StoredSnapshot {
        StoredSnapshot(self.clone())
    }

    fn from_stored(id: String, StoredSnapshot(snapshot): StoredSnapshot) -> Self {
        Self { id: SnapshotId::of_document(&id), ..snapshot }
    }
}

/// Returns the place of the secrets of a snapshot.
pub(super) fn seal_context(id: &str) -> SealContext<'_> {
    SealContext { collection: COLLECTION.0, id, field: "secrets" }
}

impl PageSecrets {
    /// Returns the plain text that is sealed.
    pub(super) fn to_plain(&self) -> Vec<u8> {
        let plain = PlainSecrets { headers: self.headers.clone(), cookies: self.cookies.clone() };
        match serde_json::to_vec(&plain) {
            Ok(plain) => plain,
            Err(error) => unreachable!("plain data is always written to a growing buffer: {error}"),
        }
    }

    /// Parses what [`Self::to_plain`] returns.
    pub(super) fn from_plain(plain: &[u8]) -> Option<Self> {
        let PlainSecrets { headers, cookies } = serde_json::from_slice(plain).ok()?;
        Some(Self { headers, cookies })
    }
}
