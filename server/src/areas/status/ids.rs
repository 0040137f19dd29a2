//! The ids of the area's resources, one type each: a prefix and a ULID.

use crate::http::{PathParam, Resource};
use crate::platform::ids;

macro_rules! ulid_ids {
    ($(#[doc = $doc:literal] $Id:ident, $prefix:literal, $resource:ident;)+) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) struct $Id(pub(super) u128);

        impl $Id {
            /// The prefix of the text.
            const PREFIX: &'static str = $prefix;

            /// Returns the id as text.
            pub(super) fn text(self) -> String {
                ids::prefixed(Self::PREFIX, self.0)
            }

            /// Parses the text of an id.
            pub(super) fn parse(text: &str) -> Option<Self> {
                let id = text.strip_prefix(Self::PREFIX).and_then(ids::parse_ulid).map(Self)?;
                (id.text() == text).then_some(id)
            }
        }

        impl PathParam for $Id {
            const RESOURCE: Resource = Resource::$resource;

            fn from_path(text: &str) -> Option<Self> {
                Self::parse(text)
            }
        }
    )+};
}

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

macro_rules! document_ids {
    ($($Id:ident),+) => {$(
        impl $Id {
            /// Returns the id of a stored document.
            pub(super) fn of_document(text: &str) -> Self {
                match Self::parse(text) {
                    Some(id) => id,
                    None => panic!("{text:?} is not an id that a document is stored under"),
                }
            }
        }
    )+};
}

document_ids!(PageId, IncidentId, MaintenanceId);
