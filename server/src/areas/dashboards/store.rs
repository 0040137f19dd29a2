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
use super::model::{Dashboard, DashboardId, Summary, VersionNumber, VersionSummary, Widget};
use super::variables::{Overlay, Variable};
use crate::areas::dashboards::limits as own_limits;

const COLLECTION: Collection = Collection("dashboards");
/// Earlier versions. Their ids are `<dashboard id>/<revision>`, the revision with 20 digits.
const VERSIONS: Collection = Collection("dashboard_versions");

/// A stored dashboard.
#[derive(Debug, Serialize, Deserialize)]
struct StoredDashboard<Widgets> {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    created_at_ms: i64,
    updated_at_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    variables: Vec<Variable>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    overlays: Vec<Overlay>,
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

/// Replaces a revision of a dashboard, which becomes the newest of its earlier versions. The oldest
/// of those are deleted if there are too many.
pub(super) fn replace(
    engine: &Engine,
    dashboard: &Dashboard,
    before: &Versioned<Dashboard>,
) -> Result<WriteOutcome> {
    let id = &dashboard.id;
    let mut transaction = engine.documents().begin();
    let expected = Expect::Revision(before.revision);
    transaction.put(COLLECTION, id.as_str(), &stored(dashboard), expected)?;
    let version = version_id(id, VersionNumber(before.revision));
    transaction.put(VERSIONS, &version, &stored(&before.value), Expect::Any)?;
    let earlier = version_ids(engine, id)?;
    let surplus = (earlier.len() + 1).saturating_sub(own_limits::DASHBOARD_VERSIONS_KEPT);
    for oldest in earlier.iter().take(surplus) {
        transaction.delete(VERSIONS, oldest, Expect::Any);
    }
    outcome(transaction.commit())
}

/// Deletes the revision `before` of a dashboard, and its earlier versions.
pub(super) fn delete(engine: &Engine, id: &DashboardId, before: u64) -> Result<WriteOutcome> {
    let mut transaction = engine.documents().begin();
    transaction.delete(COLLECTION, id.as_str(), Expect::Revision(before));
    for version in version_ids(engine, id)? {
        transaction.delete(VERSIONS, &version, Expect::Any);
    }
    outcome(transaction.commit())
}

/// Returns the earlier versions of a dashboard, the oldest first.
pub(super) fn versions(engine: &Engine, id: &DashboardId) -> Result<Vec<VersionSummary>> {
    let prefix = version_prefix(id);
    let stored = engine.documents().list::<StoredDashboard<Vec<IgnoredAny>>>(VERSIONS, &prefix)?;
    let summary = |(version, found): (String, Versioned<StoredDashboard<Vec<IgnoredAny>>>)| {
        let number = version.strip_prefix(&prefix)?.parse().ok().map(VersionNumber)?;
        Some(VersionSummary {
            number,
            name: found.value.name,
            saved_at: TimestampMs(found.value.updated_at_ms),
            saved_by: found.value.updated_by,
            widgets_count: found.value.widgets.len(),
        })
    };
    Ok(stored.into_iter().filter_map(summary).collect())
}

/// Returns an earlier version of a dashboard.
pub(super) fn version(
    engine: &Engine,
    id: &DashboardId,
    number: VersionNumber,
) -> Result<Option<Dashboard>> {
    let version = version_id(id, number);
    let stored =
        engine.documents().get::<StoredDashboard<Vec<StoredWidget>>>(VERSIONS, &version)?;
    Ok(stored.map(|found| found.value.into_dashboard(id.clone())))
}

/// Returns the ids of the earlier versions of a dashboard, the oldest first.
fn version_ids(engine: &Engine, id: &DashboardId) -> Result<Vec<String>> {
    let stored = engine.documents().list::<IgnoredAny>(VERSIONS, &version_prefix(id))?;
    Ok(stored.into_iter().map(|(version, _)| version).collect())
}

fn version_prefix(id: &DashboardId) -> String {
    format!("{}/", id.as_str())
}

fn version_id(id: &DashboardId, VersionNumber(number): VersionNumber) -> String {
    format!("{}{number:020}", version_prefix(id))
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
            updated_by: self.updated_by,
            variables: self.variables,
            overlays: self.overlays,
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
        updated_by: dashboard.updated_by.clone(),
        variables: dashboard.variables.clone(),
        overlays: dashboard.overlays.clone(),
        widgets: dashboard.widgets.iter().map(widget).collect(),
    }
}
