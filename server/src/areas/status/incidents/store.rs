//! The stored documents of incidents.
//!
//! The collection is `status_incidents`, the key an incident's id.
//!
//! ```text
//! {"page_id", "title", "impact", "status", "monitors",
//!  "updates": [{"at_ms", "status", "message"?}], "created_by", "created_at_ms",
//!  "updated_at_ms", "resolved_at_ms"?}
//! ```
//!
//! A document with an id, an impact or a status that is not valid cannot be read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{Incident, IncidentStatus, IncidentUpdate};
use crate::areas::status::documents::StoredResource;
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::ids::{IncidentId, MonitorId, PageId};
use crate::areas::status::limits;
use crate::areas::status::public_status::IncidentImpact;

/// A stored incident, without its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "IncidentDocument", into = "IncidentDocument")]
pub(in crate::areas::status) struct StoredIncident(Incident);

/// The JSON of a stored incident.
#[derive(Debug, Serialize, Deserialize)]
struct IncidentDocument {
    page_id: String,
    title: String,
    impact: String,
    status: String,
    monitors: Vec<String>,
    updates: Vec<UpdateDocument>,
    created_by: String,
    created_at_ms: i64,
    updated_at_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolved_at_ms: Option<i64>,
}

/// The JSON of an update.
#[derive(Debug, Serialize, Deserialize)]
struct UpdateDocument {
    at_ms: i64,
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl TryFrom<IncidentDocument> for StoredIncident {
    type Error = String;

    fn try_from(document: IncidentDocument) -> Result<Self, String> {
        let monitors = document.monitors.iter().map(|id| MonitorId::parse(id));
        let status = |text: &str| IncidentStatus::parse(text).ok_or("a status is not valid");
        let update = |update: UpdateDocument| {
            Ok::<_, String>(IncidentUpdate {
                at: TimestampMs(update.at_ms),
                status: status(&update.status)?,
                message: update.message,
            })
        };
        Ok(Self(Incident {
            // The key of the document, which `from_stored` sets.
            id: IncidentId(0),
            page_id: PageId::parse(&document.page_id).ok_or("page_id is not valid")?,
            title: document.title,
            impact: IncidentImpact::parse(&document.impact).ok_or("impact is not valid")?,
            status: status(&document.status)?,
            monitors: monitors.collect::<Option<_>>().ok_or("a monitor is not valid")?,
            updates: document.updates.into_iter().map(update).collect::<Result<_, _>>()?,
            created_by: document.created_by,
            created_at: TimestampMs(document.created_at_ms),
            updated_at: TimestampMs(document.updated_at_ms),
            resolved_at: document.resolved_at_ms.map(TimestampMs),
        }))
    }
}

impl From<StoredIncident> for IncidentDocument {
    fn from(StoredIncident(incident): StoredIncident) -> Self {
        let update = |update: IncidentUpdate| UpdateDocument {
            at_ms: update.at.0,
            status: update.status.as_str().to_owned(),
            message: update.message,
        };
        Self {
            page_id: incident.page_id.text(),
            title: incident.title,
            impact: incident.impact.as_str().to_owned(),
            status: incident.status.as_str().to_owned(),
            monitors: incident.monitors.into_iter().map(MonitorId::text).collect(),
            updates: incident.updates.into_iter().map(update).collect(),
            created_by: incident.created_by,
            created_at_ms: incident.created_at.0,
            updated_at_ms: incident.updated_at.0,
            resolved_at_ms: incident.resolved_at.map(|at| at.0),
        }
    }
}

impl StoredResource for Incident {
    type Kind = StatusKind;
    type Error = StatusError;
    type Stored = StoredIncident;
    const COLLECTION: Collection = Collection("status_incidents");
    const KIND: StatusKind = StatusKind::Incident;
    const COUNT_MAX: usize = limits::INCIDENTS_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.text().into()
    }

    fn to_stored(&self) -> StoredIncident {
        StoredIncident(self.clone())
    }

    fn from_stored(id: String, StoredIncident(incident): StoredIncident) -> Self {
        Self { id: IncidentId::of_document(&id), ..incident }
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::incident;
    use super::*;

    #[test]
    fn an_incident_is_stored_and_read_back() {
        let mut incident = incident(7, PageId(3), TimestampMs(1_767_323_045_678));
        incident.monitors = vec![MonitorId(2), MonitorId(1)];
        incident.updates.push(IncidentUpdate {
            at: TimestampMs(1_767_323_046_000),
            status: IncidentStatus::Resolved,
            message: None,
        });
        incident.status = IncidentStatus::Resolved;
        incident.resolved_at = Some(TimestampMs(1_767_323_046_000));
        let json = serde_json::to_string(&incident.to_stored()).unwrap();
        let stored = serde_json::from_str(&json).unwrap();
        assert_eq!(Incident::from_stored(incident.id.text(), stored), incident);
        let damaged = json.replace("investigating", "lost");
        assert!(serde_json::from_str::<StoredIncident>(&damaged).is_err(), "{damaged}");
    }
}
