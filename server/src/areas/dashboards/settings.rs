//! The settings of dashboards.

use crate::platform::settings::settings_section;

settings_section! {
    /// Limits of dashboards.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "dashboards" DashboardSettings {
        /// Timeout of a widget in milliseconds, including the time it is queued; then the widget
        /// carries an error, and the others are returned.
        widget_timeout_ms: u64 = "5000";
    }
}
