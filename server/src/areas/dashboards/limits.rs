//! Limits of variables, overlays, thresholds and versions. Those of widgets are in `crate::limits`.

/// Variables of a dashboard: a line of choices above its widgets.
pub(in crate::areas::dashboards) const DASHBOARD_VARIABLES_MAX: usize = 20;
/// Characters of the name of a variable.
pub(in crate::areas::dashboards) const VARIABLE_NAME_CHARS_MAX: usize = 50;
/// Fixed values of a variable: a list that people choose from.
pub(in crate::areas::dashboards) const VARIABLE_VALUES_MAX: usize = 200;
/// Overlays of a dashboard: more kinds of events cannot be told apart.
pub(in crate::areas::dashboards) const DASHBOARD_OVERLAYS_MAX: usize = 10;
/// Events of each overlay that are drawn over a graph.
pub(in crate::areas::dashboards) const OVERLAY_EVENTS_MAX: usize = 200;
/// Bytes of the properties of these events; older events are left out.
pub(in crate::areas::dashboards) const OVERLAY_PROPERTIES_BYTES_MAX: usize = 1 << 20;
/// Thresholds of a widget.
pub(in crate::areas::dashboards) const WIDGET_THRESHOLDS_MAX: usize = 10;
/// Earlier versions of a dashboard that are kept.
pub(in crate::areas::dashboards) const DASHBOARD_VERSIONS_KEPT: usize = 50;
