//! Maintenance windows for the tests of other modules.

use telltale_engine::TimestampMs;

use super::model::{Occurrences, Window, WindowSettings};
use crate::platform::calendar::Zone;

/// Returns a window that mutes all rules once: `starts_at <= t < ends_at`.
pub(in crate::areas::alerting) fn window(starts_at: TimestampMs, ends_at: TimestampMs) -> Window {
    Window {
        id: "mw_1".to_owned().into(),
        settings: WindowSettings {
            name: "Update".to_owned(),
            description: None,
            starts_at,
            ends_at,
            timezone: Zone::parse("UTC").unwrap(),
            active: true,
            recurrence_rule: None,
            rule_ids: None,
            services: Vec::new(),
        },
        occurrences: Occurrences::Once { starts_at, ends_at },
        created_by: "test".to_owned(),
        created_at: TimestampMs(0),
    }
}
