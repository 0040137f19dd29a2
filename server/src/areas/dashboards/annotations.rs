//! The events that are drawn over the graphs of a dashboard. Blocks while its queries run.

use telltale_engine::{Event, EventFilter, EventListQuery, ResultMemory, TimeRange};

use super::error::DashboardsError;
use super::model::Dashboard;
use super::variables::ChosenValues;
use crate::app::App;
use crate::areas::dashboards::limits as own_limits;
use crate::areas::saved_queries::{QueryPlan, QuerySource};

/// The events of the overlays of a dashboard.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    /// Each with the position of its overlay, newest first for each overlay.
    pub(super) events: Vec<(usize, Event)>,
    /// The number of older events that are left out because there are too many.
    pub(super) left_out: u64,
    /// The memory of the events.
    pub(super) memory: Vec<ResultMemory>,
}

/// Returns the newest events of each overlay in a range.
pub(super) fn annotations(
    app: &App,
    dashboard: &Dashboard,
    range: TimeRange,
    chosen: &ChosenValues,
) -> Result<Annotations, DashboardsError> {
    let mut found = Annotations::default();
    for (at, overlay) in dashboard.overlays.iter().enumerate() {
        let plan = QueryPlan::new(&overlay.query(chosen), None)?;
        let QuerySource::Event { name, .. } = plan.source else { continue };
        let filter = EventFilter { range, name, user: None, tags: plan.filters };
        let limit = own_limits::OVERLAY_EVENTS_MAX;
        let query = EventListQuery { filter, after: None, offset: 0, limit };
        let page = app.engine().list_events(&query)?;
        let mut bytes = 0;
        let events = page.events.into_iter().take_while(|event| {
            bytes += event.properties.as_ref().map_or(0, String::len);
            bytes <= own_limits::OVERLAY_PROPERTIES_BYTES_MAX
        });
        let before = found.events.len();
        found.events.extend(events.map(|event| (at, event)));
        found.left_out += page.total.saturating_sub((found.events.len() - before) as u64);
        found.memory.push(page.memory);
    }
    Ok(found)
}
