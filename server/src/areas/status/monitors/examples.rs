//! Monitors for tests.

use telltale_engine::TimestampMs;

use super::model::{CheckMethod, HttpTarget, Monitor, MonitorSettings, MonitorTarget, StatusRange};
use crate::areas::status::ids::MonitorId;

/// Returns a monitor of a URL, every minute.
pub(super) fn monitor(id: u128) -> Monitor {
    Monitor {
        id: MonitorId(id),
        settings: MonitorSettings {
            name: "Shop".to_owned(),
            target: MonitorTarget::Http(HttpTarget {
                url: "https://shop.example.com/".to_owned(),
                method: CheckMethod::Get,
                headers: Vec::new(),
                body: None,
                expected_status: vec![StatusRange::SUCCESS],
                body_contains: None,
                degraded_after_ms: None,
                certificate_warning_days: 14,
            }),
            interval_seconds: 60,
            timeout_seconds: 10,
            retries: 2,
            is_paused: false,
        },
        created_by: "anna".to_owned(),
        created_at: TimestampMs(1_767_323_045_678),
    }
}
