//! Scheduled maintenances for tests.

use telltale_engine::TimestampMs;

use super::model::Maintenance;
use crate::areas::status::ids::{MaintenanceId, MonitorId, PageId};

/// Returns a maintenance of one monitor that mutes nothing.
pub(in crate::areas::status) fn maintenance(
    id: u128,
    starts_at: TimestampMs,
    ends_at: TimestampMs,
) -> Maintenance {
    Maintenance {
        id: MaintenanceId(id),
        page_id: PageId(1),
        title: "Update".to_owned(),
        description: None,
        monitors: vec![MonitorId(1)],
        starts_at,
        ends_at,
        notify_subscribers: false,
        window_id: None,
        created_by: "anna".to_owned(),
        created_at: TimestampMs(0),
    }
}
