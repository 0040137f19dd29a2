//! The stored documents of the area.
//!
//! The collection is `dashboards`, the key a dashboard's id; one document contains a dashboard with
//! all its widgets.
//!
//! ```text
//! {"name", "description"?, "created_at_ms", "updated_at_ms",
//!  "widgets": [{"id", "created_at_ms",
//!               "definition": {"type", "title", "position", "query", "options"}}]}
//! ```

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use telltale_engine::{
    Collection, Engine, Error, Expect, Receipt, Refusal, Result, TimestampMs, Versioned,
};

use super::definition::Definition;
use super::model::{Dashboard, DashboardId, Summary, Widget};

const COLLECTION: Collection = Collection("dashboards");

/// A stored dashboard.
#[derive(Debug, Serialize, Deserialize)]
struct StoredDashboard<Widgets> {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    created_at_ms: i64,
    updated_at_ms: i64,
    widgets: Widgets,
}

/// A stored widget.
#[derive(Debug, Serialize, Deserialize)]
struct StoredWidget {
    id: String,
    created_at_ms: i64,
    definition: Definition,
}

/// The outcome of a conditional write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    /// The write committed with this revision.
    Written(u64),
    /// A concurrent write committed first; nothing was changed.
    Conflict,
}

/// Returns the dashboard `id` with its revision.
pub(super) fn get(engine: &Engine, id: &DashboardId) -> Result<Option<Versioned<Dashboard>>> {
    let stored =
        engine.documents().get::<StoredDashboard<Vec<StoredWidget>>>(COLLECTION, id.as_str())?;
    Ok(stored.map(|found| {
        let value = found.value.into_dashboard(id.clone());
        Versioned { value, revision: found.revision }
    }))
}

/// Returns all dashboards without their widgets, newest first.
pub(super) fn list(engine: &Engine) -> Result<Vec<Summary>> {
    let stored = engine.documents().list::<StoredDashboard<Vec<IgnoredAny>>>(COLLECTION, "")?;
    let summary = |(id, found): (String, Versioned<StoredDashboard<Vec<IgnoredAny>>>)| Summary {
        id: id.into(),
        name: found.value.name,
        description: found.value.description,
        created_at: TimestampMs(found.value.created_at_ms),
        updated_at: TimestampMs(found.value.updated_at_ms),
        widgets_count: found.value.widgets.len(),
    };
    // Ids sort by creation time.
    Ok(stored.into_iter().rev().map(summary).collect())
}

/// Returns the number of dashboards.
pub(super) fn count(engine: &Engine) -> Result<usize> {
    Ok(engine.documents().list::<IgnoredAny>(COLLECTION, "")?.len())
}

/// Stores a new dashboard together with the receipt of an idempotent request. Returns its revision.
pub(super) fn insert(
    engine: &Engine,
    dashboard: &Dashboard,
    receipt: Option<Receipt>,
) -> Result<u64> {
    let mut transaction = engine.documents().begin();
    transaction.put(COLLECTION, dashboard.id.as_str(), &stored(dashboard), Expect::Absent)?;
    if let Some(receipt) = receipt {
        transaction.receipt(receipt)?;
    }
    transaction.commit()
}

/// Replaces the revision `before` of a dashboard.
pub(super) fn replace(engine: &Engine, dashboard: &Dashboard, before: u64) -> Result<WriteOutcome> {
    let mut transaction = engine.documents().begin();
    let expected = Expect::Revision(before);
    transaction.put(COLLECTION, dashboard.id.as_str(), &stored(dashboard), expected)?;
    outcome(transaction.commit())
}

/// Deletes the revision `before` of a dashboard.
pub(super) fn delete(engine: &Engine, id: &DashboardId, before: u64) -> Result<WriteOutcome> {
    let mut transaction = engine.documents().begin();
    transaction.delete(COLLECTION, id.as_str(), Expect::Revision(before));
    outcome(transaction.commit())
}

fn outcome(committed: Result<u64>) -> Result<WriteOutcome> {
    match committed {
        Ok(revision) => Ok(WriteOutcome::Written(revision)),
        Err(Error::Refused(Refusal::Conflict)) => Ok(WriteOutcome::Conflict),
        Err(error) => Err(error),
    }
}

impl StoredDashboard<Vec<StoredWidget>> {
    fn into_dashboard(self, id: DashboardId) -> Dashboard {
        let widget = |stored: StoredWidget| Widget {
            id: stored.id.into(),
            created_at: TimestampMs(stored.created_at_ms),
            definition: stored.definition,
        };
        Dashboard {
            id,
            name: self.name,
            description: self.description,
            created_at: TimestampMs(self.created_at_ms),
            updated_at: TimestampMs(self.updated_at_ms),
            widgets: self.widgets.into_iter().map(widget).collect(),
        }
    }
}

fn stored(dashboard: &Dashboard) -> StoredDashboard<Vec<StoredWidget>> {
    let widget = |widget: &Widget| StoredWidget {
        id: widget.id.clone().into(),
        created_at_ms: widget.created_at.0,
        definition: widget.definition.clone(),
    };
    StoredDashboard {
        name: dashboard.name.clone(),
        description: dashboard.description.clone(),
        created_at_ms: dashboard.created_at.0,
        updated_at_ms: dashboard.updated_at.0,
        widgets: dashboard.widgets.iter().map(widget).collect(),
    }
}
