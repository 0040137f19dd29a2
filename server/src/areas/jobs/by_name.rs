//! Queues and classes of jobs in the search by name.

use crate::app::App;
use crate::jobs::QueueOwner;
use crate::platform::name_search::NameMatches;

/// Offers all queues of clients. Blocks.
pub(in crate::areas) fn offer_queues(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for queue in app.jobs().queues_blocking(QueueOwner::Users)? {
        matches.offer(&queue.name, || (queue.name.to_string(), None));
    }
    Ok(())
}

/// Offers the classes of jobs that have ended. Blocks.
pub(in crate::areas) fn offer_job_classes(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for class in app.jobs().history().classes()? {
        matches.offer(&class, || (class.clone(), None));
    }
    Ok(())
}
