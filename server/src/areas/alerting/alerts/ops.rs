//! The operations on alerts. All of them block.

use crate::app::App;
use crate::areas::alerting::channels::{self, ChannelNames};
use crate::areas::alerting::delivery;
use crate::areas::alerting::error::{AlertingError, Kind};
use crate::areas::alerting::ids::AlertId;
use crate::areas::alerting::ledger::{Alert, AlertDetail, AlertFilter, Change};

/// Returns a page of the alerts that match, newest first, and how many match.
pub(super) fn page(
    app: &App,
    filter: &AlertFilter,
    offset: usize,
    limit: usize,
) -> Result<(Vec<Alert>, usize), AlertingError> {
    Ok(app.alerting().ledger().page(filter, offset, limit)?)
}

/// Returns an alert with its log, and the names of all channels.
pub(super) fn detail(app: &App, id: AlertId) -> Result<(AlertDetail, ChannelNames), AlertingError> {
    let alerting = app.alerting();
    let found = alerting.ledger().detail(&*alerting.directory(app)?, id)?;
    let found = found.ok_or_else(|| AlertingError::NotFound(Kind::Alert, id.text()))?;
    Ok((found, channels::names(app)?))
}

/// Takes charge of an alert on behalf of a user. Has no effect if somebody already has.
pub(super) fn acknowledge(app: &App, id: AlertId, by: &str) -> Result<Alert, AlertingError> {
    change(app, id, |change| change.acknowledge(id, by))
}

/// Ends an alert on behalf of a user.
pub(super) fn resolve(app: &App, id: AlertId, by: &str) -> Result<Alert, AlertingError> {
    change(app, id, |change| change.resolve(id, by))
}

fn change(
    app: &App,
    id: AlertId,
    work: impl FnOnce(&mut Change<'_>) -> Result<(), AlertingError>,
) -> Result<Alert, AlertingError> {
    let alerting = app.alerting();
    let directory = alerting.directory(app)?;
    alerting.ledger().change(&directory, work)?;
    delivery::send_due(app);
    let changed = alerting.ledger().alert(id)?;
    changed.ok_or_else(|| AlertingError::NotFound(Kind::Alert, id.text()))
}
