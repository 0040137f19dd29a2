//! The ids of the area's resources, one type each: a prefix and a ULID.

use crate::areas::ulid_ids::{document_ids, ulid_ids};

ulid_ids! {
    /// The id of a monitor: `mon_` and a ULID.
    MonitorId, "mon_", "monitor_not_found", "monitor";
    /// The id of a status page: `sp_` and a ULID.
    PageId, "sp_", "status_page_not_found", "status page";
    /// The id of an incident: `inc_` and a ULID.
    IncidentId, "inc_", "incident_not_found", "incident";
    /// The id of a scheduled maintenance of a status page: `maint_` and a ULID.
    MaintenanceId, "maint_", "maintenance_not_found", "scheduled maintenance";
    /// The id of a subscriber: `sub_` and a ULID.
    SubscriberId, "sub_", "subscriber_not_found", "subscriber";
}

document_ids!(PageId, IncidentId, MaintenanceId);
