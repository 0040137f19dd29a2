//! Ids in paths.

use crate::areas::dashboards::model::{DashboardId, WidgetId};
use crate::http::{PathParam, Resource};

impl PathParam for DashboardId {
    const RESOURCE: Resource = Resource::Dashboard;

    fn from_path(text: &str) -> Option<Self> {
        Some(text.to_owned().into())
    }
}

impl PathParam for WidgetId {
    const RESOURCE: Resource = Resource::Widget;

    fn from_path(text: &str) -> Option<Self> {
        Some(text.to_owned().into())
    }
}
