//! The names of components as visitors see them.

use std::collections::HashMap;

use super::ids::MonitorId;
use super::monitors::MonitorTable;
use super::pages::{Component, Page};

/// The name of a component whose monitor cannot be read.
const UNNAMED: &str = "Unnamed";

/// Returns the names of the components of a page, by monitor.
pub(super) fn component_names(page: &Page, monitors: &MonitorTable) -> HashMap<MonitorId, String> {
    let name = |component: &Component| {
        let of_monitor = || monitors.state(component.monitor_id).map(|(name, _)| name);
        let name = component.display_name.clone().or_else(of_monitor);
        (component.monitor_id, name.unwrap_or_else(|| UNNAMED.to_owned()))
    };
    page.components.iter().map(name).collect()
}

/// Returns the names of some of the components of a page, in words.
pub(super) fn listed(monitors: &[MonitorId], names: &HashMap<MonitorId, String>) -> String {
    let names: Vec<&str> =
        monitors.iter().filter_map(|id| names.get(id)).map(String::as_str).collect();
    names.join(", ")
}
