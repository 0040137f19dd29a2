//! The jobs that deliver messages.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::work::deliver_all;
use crate::app::App;
use crate::areas::alerting::ledger::Destination;
use crate::areas::alerting::limits;
use crate::jobs::work::{WorkKind, WorkerPool};

/// The arguments of a job: the receiver whose messages are sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Delivery {
    destination: String,
}

/// Sends messages to a receiver that usually answers soon.
const DELIVER: WorkKind<Delivery> = WorkKind::new("telltale.alerting.deliver", "telltale-notify")
    .attempts(1)
    .timeout_seconds(limits::DELIVERY_JOB_SECONDS);

/// Sends messages to one that failed or was slow.
const RETRY: WorkKind<Delivery> = WorkKind::new("telltale.alerting.retry", "telltale-notify-slow")
    .attempts(1)
    .timeout_seconds(limits::DELIVERY_JOB_SECONDS);

/// Adds the work of this module.
pub(in crate::areas::alerting) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    let pool = pool
        .queue(DELIVER.queue, limits::DELIVERIES_AT_ONCE)
        .queue(RETRY.queue, limits::SLOW_DELIVERIES_AT_ONCE);
    [DELIVER, RETRY].into_iter().fold(pool, |pool, kind| {
        let app = Arc::downgrade(app);
        pool.on(&kind, move |Delivery { destination }| {
            let app = app.upgrade();
            async move {
                match app {
                    Some(app) => deliver_all(&app, Destination::parse(&destination)).await,
                    // The server ends; the messages wait for its next start.
                    None => Ok(()),
                }
            }
        })
    })
}

/// Enqueues a job for each receiver whose next message is due. Blocks. A failure is only logged:
/// the next call tries again.
pub(in crate::areas::alerting) fn send_due(app: &App) {
    let (mut now, mut later) = (Vec::new(), Vec::new());
    for (destination, seq, attempts) in app.alerting().ledger().due_destinations(app.now()) {
        let is_slow = attempts > 0 || app.alerting().slow_receivers().contains(&destination);
        // The jobs of an earlier process are of its own start.
        let key = format!("{}:{seq}:{attempts}", app.began().0);
        let delivery = Delivery { destination: destination.text() };
        if is_slow { later.push((delivery, key)) } else { now.push((delivery, key)) }
    }
    let mut failed = 0_usize;
    let mut cause = None;
    for (kind, deliveries) in [(DELIVER, now), (RETRY, later)] {
        let items = deliveries.iter().map(|(delivery, key)| (delivery, key.as_str()));
        if let Err(error) = kind.enqueue_all_once(app.jobs(), items) {
            failed += deliveries.len();
            cause = Some(error);
        }
    }
    if app.alerting().slow_receivers().set_stuck(cause.is_some()) {
        match cause {
            Some(cause) => {
                tracing::error!(receivers = failed, %cause, "messages about alerts are not sent");
            }
            None => tracing::info!("messages about alerts are sent again"),
        }
    }
}
