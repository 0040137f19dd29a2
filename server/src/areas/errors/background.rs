//! The background work of error tracking, and what it does at the end of the process.

use std::sync::Arc;
use std::time::Duration;

use super::own_metrics::ErrorCounters;
use crate::app::App;
use crate::platform::sweeps::Sweep;

/// How often the state of groups is written: what a start after a crash has to recompute.
const STORE_PERIOD: Duration = Duration::from_secs(1);
/// How often groups are looked for whose events are to be deleted.
const DELETE_PERIOD: Duration = Duration::from_secs(2);
/// How often it is checked whether there are too many groups.
const ROOM_PERIOD: Duration = Duration::from_secs(2);
/// How often the metrics of error groups are written.
const METRICS_PERIOD: Duration = Duration::from_secs(10);
/// How often expired error data is removed.
const TRIM_PERIOD: Duration = Duration::from_secs(60 * 60);

/// Returns the sweeps of error tracking.
pub fn sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let [counted, deleted, crowded, aged, measured] =
        [(), (), (), (), ()].map(|()| Arc::clone(app));
    let mut counters = ErrorCounters::since(app.errors());
    vec![
        Sweep::new("errors_metrics", METRICS_PERIOD, move |now| {
            counters.write(measured.engine(), measured.errors(), now)
        }),
        Sweep::new("errors_delete", DELETE_PERIOD, move |_| deleted.errors().delete_events()),
        Sweep::new("errors_room", ROOM_PERIOD, move |_| crowded.errors().make_room()),
        Sweep::new("errors_trim", TRIM_PERIOD, move |_| aged.errors().trim()),
        Sweep::new("errors_store", STORE_PERIOD, move |_| counted.errors().store()),
    ]
}

/// Stores what was counted at the end of the process. If this is not done, the next start counts
/// the missing occurrences from the events.
pub fn close(app: &App) {
    if let Err(error) = app.errors().close() {
        tracing::warn!(%error, "the state of the error groups was not stored completely");
    }
}
