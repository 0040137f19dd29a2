//! Sends the messages that wait for one receiver, in their order.

use std::sync::Arc;
use std::time::Duration;

use super::attempt::attempt;
use crate::app::App;
use crate::areas::alerting::channels::Progress;
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ledger::{Attempt, Destination, NextMessage};
use crate::areas::alerting::limits;
use crate::jobs::work::WorkError;

/// Sends all messages to a receiver that are due, until one fails.
pub(super) async fn deliver_all(app: &Arc<App>, destination: Destination) -> Result<(), WorkError> {
    let until = app.clock().steady().saturating_add(limits::DELIVERY_JOB_TIME);
    while let Some(turn) = Turn::begin(app, &destination).await? {
        let is_finished = turn.deliver(until).await?;
        turn.end().await?;
        // A message that came after the last one may have seen that somebody was delivering.
        let next = next_message(app, &destination).await?;
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
    is_over: bool,
}

impl<'a> Turn<'a> {
    async fn begin(
        app: &'a Arc<App>,
        destination: &'a Destination,
    ) -> Result<Option<Self>, WorkError> {
        let to = destination.clone();
        let begun = blocking(app, move |app| Ok(app.alerting().ledger().begin_delivery(&to)));
        let has_begun = begun.await.map_err(failure)?;
        Ok(has_begun.then_some(Self { app, destination, is_over: false }))
    }

    /// Returns whether all were sent; `false` if one failed or there was no more time.
    async fn deliver(&self, until: Duration) -> Result<bool, WorkError> {
        let Self { app, destination, .. } = *self;
        while let NextMessage::Due(message) = next_message(app, destination).await? {
            if app.clock().steady() >= until {
                return Ok(false);
            }
            let began = app.clock().steady();
            let (result, progress) = attempt(app, destination, &message).await;
            let took = app.clock().steady().saturating_sub(began);
            let is_delivered = result == Attempt::Delivered;
            app.alerting().slow_receivers().observe(destination, is_delivered, took);
            let may_go_on = !matches!(result, Attempt::Failed { .. });
            record(app, destination.clone(), message.seq, result, progress).await?;
            if !may_go_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn end(mut self) -> Result<(), WorkError> {
        self.is_over = true;
        let to = self.destination.clone();
        let ended = blocking(self.app, move |app| {
            app.alerting().ledger().end_delivery(&to);
            Ok(())
        });
        ended.await.map_err(failure)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.app.alerting().ledger().end_delivery(self.destination);
        }
    }
}

async fn next_message(app: &Arc<App>, to: &Destination) -> Result<NextMessage, WorkError> {
    let to = to.clone();
    let next = blocking(app, move |app| Ok(app.alerting().ledger().next_message(&to, app.now())));
    next.await.map_err(failure)
}

fn failure(error: AlertingError) -> WorkError {
    WorkError::new("Alerting", error)
}

async fn record(
    app: &Arc<App>,
    destination: Destination,
    seq: u64,
    result: Attempt,
    progress: Progress,
) -> Result<(), WorkError> {
    let recorded = blocking(app, move |app| {
        app.alerting().ledger().record_attempt(&destination, seq, result, progress)
    });
    recorded.await.map_err(failure)
}

/// Runs work that waits for the disk, or for a change of the alerts, outside the threads that serve
/// connections.
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
