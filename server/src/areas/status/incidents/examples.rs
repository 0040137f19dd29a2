//! Incidents for tests.

use telltale_engine::TimestampMs;

use super::model::{Incident, IncidentDraft, IncidentStatus};
use crate::areas::status::ids::{IncidentId, PageId};
use crate::areas::status::public_status::IncidentImpact;

/// Returns an open incident with a minor impact, which concerns no particular monitor.
pub(in crate::areas::status) fn incident(id: u128, page: PageId, now: TimestampMs) -> Incident {
    let draft = IncidentDraft {
        title: "Slow checkout".to_owned(),
        impact: IncidentImpact::Minor,
        status: IncidentStatus::Investigating,
        monitors: Vec::new(),
        message: "We are looking into it.".to_owned(),
        notify_subscribers: false,
    };
    Incident::new(IncidentId(id), page, draft, "anna".to_owned(), now)
}
