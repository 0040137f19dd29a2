//! The ids of the area's resources, one type each: a prefix and a ULID.

use crate::areas::ulid_ids::{document_ids, ulid_ids};

ulid_ids! {
    /// The id of a monitor: `mon_` and a ULID.
    MonitorId, "mon_", Monitor;
    /// The id of a status page: `sp_` and a ULID.
    PageId, "sp_", StatusPage;
    /// The id of an incident: `inc_` and a ULID.
    IncidentId, "inc_", Incident;
    /// The id of a scheduled maintenance of a status page: `maint_` and a ULID.
    MaintenanceId, "maint_", PageMaintenance;
    /// The id of a subscriber: `sub_` and a ULID.
    SubscriberId, "sub_", Subscriber;
}

document_ids!(PageId, IncidentId, MaintenanceId);
