//! Ids in paths.

use crate::areas::dashboards::model::{DashboardId, VersionNumber, WidgetId};
use crate::http::{PathParam, Resource};

impl PathParam for DashboardId {
    const RESOURCE: &'static Resource = &Resource::new("dashboard_not_found", "dashboard");

    fn from_path(text: &str) -> Option<Self> {
        Some(text.to_owned().into())
    }
}

impl PathParam for WidgetId {
    const RESOURCE: &'static Resource = &Resource::new("widget_not_found", "widget");

    fn from_path(text: &str) -> Option<Self> {
        Some(text.to_owned().into())
    }
}

impl PathParam for VersionNumber {
    const RESOURCE: &'static Resource =
        &Resource::new("dashboard_version_not_found", "version of the dashboard");

    fn from_path(text: &str) -> Option<Self> {
        // The number in its one form, so that a version has one path.
        let number: u64 = text.parse().ok()?;
        (number.to_string() == text).then_some(Self(number))
    }
}
