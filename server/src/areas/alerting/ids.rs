//! The ids of the area's resources, one type each.

use crate::http::{PathParam, Resource};
use crate::platform::ids;

/// Declares types of ids: prefix, code of resources that do not exist, and what messages call one.
macro_rules! text_id {
    ($(#[doc = $doc:literal] $Id:ident, $prefix:literal, $missing:literal, $noun:literal;)+) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Id(String);

        impl $Id {
            /// The prefix of new ids.
            pub(super) const PREFIX: &'static str = $prefix;

            /// Returns the id as text.
            pub(super) fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $Id {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<$Id> for String {
            fn from(id: $Id) -> Self {
                id.0
            }
        }

        impl PathParam for $Id {
            const RESOURCE: &'static Resource = &Resource::new($missing, $noun);

            fn from_path(text: &str) -> Option<Self> {
                Some(text.to_owned().into())
            }
        }
    )+};
}

/// The id of an alert: `alert_` and a ULID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AlertId(pub(super) u128);

impl AlertId {
    const PREFIX: &'static str = "alert_";

    /// Returns the id as text.
    pub(super) fn text(self) -> String {
        ids::prefixed(Self::PREFIX, self.0)
    }

    /// Parses the text of an id.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.strip_prefix(Self::PREFIX).and_then(ids::parse_ulid).map(Self)
    }
}

impl PathParam for AlertId {
    const RESOURCE: &'static Resource = &Resource::new("alert_not_found", "alert");

    fn from_path(text: &str) -> Option<Self> {
        Self::parse(text).filter(|id| id.text() == text)
    }
}

text_id! {
    /// The id of an alert rule.
    RuleId, "rule_", "rule_not_found", "alert rule";
    /// The id of a maintenance window.
    WindowId, "mw_", "maintenance_window_not_found", "maintenance window";
    /// The id of an on-call schedule.
    ScheduleId, "sched_", "schedule_not_found", "on-call schedule";
    /// The id of an override of an on-call schedule.
    OverrideId, "ovr_", "override_not_found", "override";
    /// The id of an escalation policy.
    PolicyId, "esc_", "policy_not_found", "escalation policy";
    /// The id of a notification channel.
    ChannelId, "chan_", "channel_not_found", "notification channel";
}
