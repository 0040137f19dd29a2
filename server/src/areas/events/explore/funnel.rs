//! A question about a funnel, and its answer.

use telltale_engine::{EventFunnelQuery, EventFunnelResult};

use crate::app::App;
use crate::areas::events::error::EventsError;

/// A funnel: its steps and their names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Funnel {
    pub(super) query: EventFunnelQuery,
    /// The name of the events of each step, as given.
    pub(super) names: Vec<String>,
}

/// Evaluates a funnel.
pub(super) fn evaluate(app: &App, funnel: &Funnel) -> Result<EventFunnelResult, EventsError> {
    Ok(app.engine().event_funnel(&funnel.query)?)
}
