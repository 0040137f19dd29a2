//! References between resources: what else changes when one is deleted, and what can be
//! referred to.

use super::documents::Changes;
use super::error::StatusError;
use super::ids::{MonitorId, PageId};
use super::pages::Page;
use super::{incidents, maintenance, pages};
use crate::app::App;
use crate::areas::alerting::LinkedWindows;

/// Removes a deleted monitor from all pages, incidents and maintenances, as part of `changes`.
/// Returns the ids of the pages that showed it.
pub(super) fn remove_monitor(
    app: &App,
    changes: &mut Changes<'_>,
    monitor: MonitorId,
) -> Result<Vec<PageId>, StatusError> {
    incidents::remove_monitor(app, changes, None, monitor)?;
    maintenance::remove_monitor(changes, None, monitor)?;
    pages::remove_monitor(changes, monitor)
}

/// Removes a monitor that is taken off a page from the incidents and maintenances of the page, as
/// part of `changes`.
pub(super) fn remove_monitor_of_page(
    app: &App,
    changes: &mut Changes<'_>,
    page: PageId,
    monitor: MonitorId,
) -> Result<(), StatusError> {
    incidents::remove_monitor(app, changes, Some(page), monitor)?;
    maintenance::remove_monitor(changes, Some(page), monitor)
}

/// Deletes everything that belongs to a page, as part of `changes` and `windows`.
pub(super) fn delete_of_page(
    changes: &mut Changes<'_>,
    windows: &mut LinkedWindows<'_>,
    page: PageId,
) -> Result<(), StatusError> {
    incidents::delete_of_page(changes, page)?;
    maintenance::delete_of_page(changes, windows, page)
}

/// Returns the monitors of a page. Fails if there is no page with this id.
pub(super) fn monitors_of_page(
    changes: &Changes<'_>,
    page: PageId,
) -> Result<Vec<MonitorId>, StatusError> {
    let found = changes.get::<Page>(&page.text(), |_| true)?;
    Ok(found.value.monitors().collect())
}
