//! The stored documents of maintenance windows.
//!
//! The collection is `maintenance_windows`, the key a window's id. A window that mutes all rules
//! has no `rule_ids`; one without `recurrence_rule` is not recurring.
//!
//! ```text
//! {"name", "description"?, "starts_at_ms", "ends_at_ms", "timezone", "active",
//!  "recurrence_rule"?, "rule_ids"?, "services", "created_by", "created_at_ms"}
//! ```
//!
//! A document whose zone or rule is not valid cannot be read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{Occurrences, Window, WindowSettings};
use crate::areas::alerting::documents::StoredResource;
use crate::areas::alerting::error::{AlertingError, Kind};
use crate::areas::alerting::limits;
use crate::platform::calendar::Zone;

/// A stored window.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "WindowDocument", into = "WindowDocument")]
pub(in crate::areas::alerting) struct StoredWindow {
    settings: WindowSettings,
    occurrences: Occurrences,
    created_by: String,
    created_at: TimestampMs,
}

/// The JSON of a stored window.
#[derive(Debug, Serialize, Deserialize)]
struct WindowDocument {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    starts_at_ms: i64,
    ends_at_ms: i64,
    timezone: String,
    active: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recurrence_rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule_ids: Option<Vec<String>>,
    services: Vec<String>,
    created_by: String,
    created_at_ms: i64,
}

impl TryFrom<WindowDocument> for StoredWindow {
    type Error = String;

    fn try_from(document: WindowDocument) -> Result<Self, String> {
        let timezone = Zone::parse(&document.timezone);
        let settings = WindowSettings {
            name: document.name,
            description: document.description,
            starts_at: TimestampMs(document.starts_at_ms),
            ends_at: TimestampMs(document.ends_at_ms),
            timezone: timezone.map_err(|error| format!("timezone {error}"))?,
            active: document.active,
            recurrence_rule: document.recurrence_rule,
            rule_ids: document.rule_ids,
            services: document.services,
        };
        let occurrences = Occurrences::new(&settings).map_err(|invalid| invalid.to_string())?;
        let created_at = TimestampMs(document.created_at_ms);
        Ok(Self { settings, occurrences, created_by: document.created_by, created_at })
    }
}

impl From<StoredWindow> for WindowDocument {
    fn from(stored: StoredWindow) -> Self {
        let settings = stored.settings;
        Self {
            name: settings.name,
            description: settings.description,
            starts_at_ms: settings.starts_at.0,
            ends_at_ms: settings.ends_at.0,
            timezone: settings.timezone.name().to_owned(),
            active: settings.active,
            recurrence_rule: settings.recurrence_rule,
            rule_ids: settings.rule_ids,
            services: settings.services,
            created_by: stored.created_by,
            created_at_ms: stored.created_at.0,
        }
    }
}

impl StoredResource for Window {
    type Kind = Kind;
    type Error = AlertingError;
    type Stored = StoredWindow;
    const COLLECTION: Collection = Collection("maintenance_windows");
    const KIND: Kind = Kind::Window;
    const COUNT_MAX: usize = limits::MAINTENANCE_WINDOWS_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.as_str().into()
    }

    fn to_stored(&self) -> StoredWindow {
        StoredWindow {
            settings: self.settings.clone(),
            occurrences: self.occurrences.clone(),
            created_by: self.created_by.clone(),
            created_at: self.created_at,
        }
    }

    fn from_stored(id: String, stored: StoredWindow) -> Self {
        let StoredWindow { settings, occurrences, created_by, created_at } = stored;
        Self { id: id.into(), settings, occurrences, created_by, created_at }
    }
}
