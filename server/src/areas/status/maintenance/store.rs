//! The stored documents of scheduled maintenances.
//!
//! The collection is `status_maintenances`, the key a maintenance's id. The window may have been
//! deleted.
//!
//! ```text
//! {"page_id", "title", "description"?, "monitors", "starts_at_ms", "ends_at_ms",
//!  "notify_subscribers", "window_id"?, "created_by", "created_at_ms"}
//! ```
//!
//! A document with an id that is not valid cannot be read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::Maintenance;
use crate::areas::status::documents::StoredResource;
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::ids::{MaintenanceId, MonitorId, PageId};
use crate::areas::status::limits;

/// A stored maintenance, without its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "MaintenanceDocument", into = "MaintenanceDocument")]
pub(in crate::areas::status) struct StoredMaintenance(Maintenance);

/// The JSON of a stored maintenance.
#[derive(Debug, Serialize, Deserialize)]
struct MaintenanceDocument {
    page_id: String,
    title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    monitors: Vec<String>,
    starts_at_ms: i64,
    ends_at_ms: i64,
    notify_subscribers: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window_id: Option<String>,
    created_by: String,
    created_at_ms: i64,
}

impl TryFrom<MaintenanceDocument> for StoredMaintenance {
    type Error = String;

    fn try_from(document: MaintenanceDocument) -> Result<Self, String> {
        let monitors = document.monitors.iter().map(|id| MonitorId::parse(id));
        Ok(Self(Maintenance {
            // The key of the document, which `from_stored` sets.
            id: MaintenanceId(0),
            page_id: PageId::parse(&document.page_id).ok_or("page_id is not valid")?,
            title: document.title,
            description: document.description,
            monitors: monitors.collect::<Option<_>>().ok_or("a monitor is not valid")?,
            starts_at: TimestampMs(document.starts_at_ms),
            ends_at: TimestampMs(document.ends_at_ms),
            notify_subscribers: document.notify_subscribers,
            window_id: document.window_id,
            created_by: document.created_by,
            created_at: TimestampMs(document.created_at_ms),
        }))
    }
}

impl From<StoredMaintenance> for MaintenanceDocument {
    fn from(StoredMaintenance(maintenance): StoredMaintenance) -> Self {
        Self {
            page_id: maintenance.page_id.text(),
            title: maintenance.title,
            description: maintenance.description,
            monitors: maintenance.monitors.into_iter().map(MonitorId::text).collect(),
            starts_at_ms: maintenance.starts_at.0,
            ends_at_ms: maintenance.ends_at.0,
            notify_subscribers: maintenance.notify_subscribers,
            window_id: maintenance.window_id,
            created_by: maintenance.created_by,
            created_at_ms: maintenance.created_at.0,
        }
    }
}

impl StoredResource for Maintenance {
    type Kind = StatusKind;
    type Error = StatusError;
    type Stored = StoredMaintenance;
    const COLLECTION: Collection = Collection("status_maintenances");
    const KIND: StatusKind = StatusKind::Maintenance;
    const COUNT_MAX: usize = limits::MAINTENANCES_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.text().into()
    }

    fn to_stored(&self) -> StoredMaintenance {
        StoredMaintenance(self.clone())
    }

    fn from_stored(id: String, StoredMaintenance(maintenance): StoredMaintenance) -> Self {
        Self { id: MaintenanceId::of_document(&id), ..maintenance }
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::maintenance;
    use super::*;

    #[test]
    fn a_maintenance_is_stored_and_read_back() {
        let mut maintenance = maintenance(7, TimestampMs(1_000), TimestampMs(2_000));
        maintenance.description = Some("d".to_owned());
        for window_id in [None, Some("mw_1".to_owned())] {
            maintenance.window_id = window_id;
            let json = serde_json::to_string(&maintenance.to_stored()).unwrap();
            let stored = serde_json::from_str(&json).unwrap();
            assert_eq!(Maintenance::from_stored(maintenance.id.text(), stored), maintenance);
            let more = json.replacen('{', r#"{"mute_rule_ids":["rule_1"],"#, 1);
            let stored = serde_json::from_str(&more).unwrap();
            assert_eq!(Maintenance::from_stored(maintenance.id.text(), stored), maintenance);
        }
    }
}
