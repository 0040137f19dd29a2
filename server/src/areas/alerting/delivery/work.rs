//! Sends the messages that wait for one receiver, in their order.

use std::sync::Arc;
use std::time::Duration;

use super::attempt::attempt;
use crate::app::App;
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ledger::{Attempt, Destination, NextMessage};
use crate::areas::alerting::limits;
use crate::jobs::work::WorkError;

/// Sends all messages to a receiver that are due, until one fails.
pub(super) async fn deliver_all(app: &Arc<App>, destination: Destination) -> Result<(), WorkError> {
    let until = app.clock().steady().saturating_add(limits::DELIVERY_JOB_TIME);
    while let Some(turn) = Turn::begin(app, &destination) {
        let is_finished = turn.deliver(until).await?;
        drop(turn);
        // A message that came after the last one may have seen that somebody was delivering.
        let next = app.alerting().ledger().next_message(&destination, app.now());
        if !is_finished || !matches!(next, NextMessage::Due(_)) {
            return Ok(());
        }
    }
    Ok(())
}

/// The right to send messages to a receiver, which one job has at a time.
struct Turn<'a> {
    app: &'a Arc<App>,
    destination: &'a Destination,
}

impl<'a> Turn<'a> {
    fn begin(app: &'a Arc<App>, destination: &'a Destination) -> Option<Self> {
        let has_begun = app.alerting().ledger().begin_delivery(destination);
        has_begun.then_some(Self { app, destination })
    }

    /// Returns whether all were sent; `false` if one failed or there was no more time.
    async fn deliver(&self, until: Duration) -> Result<bool, WorkError> {
        let Self { app, destination } = *self;
        let ledger = app.alerting().ledger();
        while let NextMessage::Due(message) = ledger.next_message(destination, app.now()) {
            if app.clock().steady() >= until {
                return Ok(false);
            }
            let began = app.clock().steady();
            let result = attempt(app, destination, &message).await;
            let result = result.map_err(|error| WorkError::new("Alerting", error))?;
            let took = app.clock().steady().saturating_sub(began);
            let is_delivered = result == Attempt::Delivered;
            app.alerting().slow_receivers().observe(destination, is_delivered, took);
            let may_go_on = !matches!(result, Attempt::Failed { .. });
            record(app, destination.clone(), message.seq, result).await?;
            if !may_go_on {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.app.alerting().ledger().end_delivery(self.destination);
    }
}

async fn record(
    app: &Arc<App>,
    destination: Destination,
    seq: u64,
    result: Attempt,
) -> Result<(), WorkError> {
    let recorded = blocking(app, move |app| {
        app.alerting().ledger().record_attempt(&destination, seq, result, app.now())
    });
    recorded.await.map_err(|error| WorkError::new("Alerting", error))
}

/// Runs work that waits for the disk outside the threads that serve connections.
pub(super) async fn blocking<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, AlertingError> + Send + 'static,
) -> Result<T, AlertingError> {
    let app = Arc::clone(app);
    let done = tokio::task::spawn_blocking(move || work(&app)).await;
    done.unwrap_or_else(|error| {
        let why = format!("work on alerts did not end: {error}");
        Err(telltale_engine::Error::Unavailable(why).into())
    })
}
