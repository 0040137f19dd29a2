//! One attempt to deliver a message.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use parking_lot::Mutex;

use super::work::blocking;
use crate::app::App;
use crate::areas::alerting::channels::{self, Outcome, Progress};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::ChannelId;
use crate::areas::alerting::ledger::{Attempt, DeliveryStatus, Destination, Message};
use crate::areas::alerting::notice::Notice;
use crate::platform::outbound::Lane;

/// What the log of an alert says about an error of ours.
const INTERNAL: &str = "the server failed; its log says why";

/// Sends what is left of a message, once. Returns what became of it, and what was sent so far.
pub(super) async fn attempt(
    app: &Arc<App>,
    destination: &Destination,
    message: &Message,
) -> (Attempt, Progress) {
    let notice = message.notice(app.alerting().public_url().map(ToOwned::to_owned));
    let progress = Mutex::new(message.progress.clone());
    let lane = lane(app, destination, message);
    let sending = async {
        match destination {
            Destination::Channel(id) => {
                to_channel(app, id.clone(), (&message.id, &notice), &progress, lane).await
            }
            Destination::Person(address) => {
                let sent = channels::send_to_person(app, address, &message.id, &notice, &progress);
                result_of(sent.await)
            }
        }
    };
    // An error of ours counts as an attempt: a message must not be tried for ever.
    let result = AssertUnwindSafe(sending).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(message = message.id, "sending a message about alerts panicked");
        Attempt::Failed { reason: INTERNAL.to_owned(), retry_after_ms: None }
    });
    (result, progress.into_inner())
}

/// Returns which requests an attempt takes: receivers that failed or were slow have their own.
fn lane(app: &App, destination: &Destination, message: &Message) -> Lane {
    let is_slow = message.attempts > 0 || app.alerting().slow_receivers().contains(destination);
    if is_slow { Lane::Slow } else { Lane::Usual }
}

async fn to_channel(
    app: &Arc<App>,
    id: ChannelId,
    (message_id, notice): (&str, &Notice),
    progress: &Mutex<Progress>,
    lane: Lane,
) -> Attempt {
    let channel = match blocking(app, move |app| channels::ready(app, &id)).await {
        Ok(Ok(channel)) => channel,
        Ok(Err(reason)) => {
            let (reason, status) = (reason.to_owned(), DeliveryStatus::Dropped);
            return Attempt::GivenUp { reason, status };
        }
        Err(AlertingError::Engine(error)) => {
            tracing::error!(%error, "a message about alerts cannot be sent");
            return Attempt::Failed { reason: INTERNAL.to_owned(), retry_after_ms: None };
        }
        // The operator may bring back the key of the secrets.
        Err(error) => {
            tracing::error!(%error, "a message about alerts cannot be sent");
            let reason = "the secrets of the channel cannot be read".to_owned();
            return Attempt::Failed { reason, retry_after_ms: None };
        }
    };
    let outcome = channels::send(app, &channel, message_id, notice, progress, lane).await;
    let counted = outcome.clone();
    let count = blocking(app, move |app| channels::count_attempt(app, &channel, &counted)).await;
    if let Err(error) = count {
        // More important than the count is that a message that was sent is not sent again.
        tracing::error!(%error, "the use of a channel cannot be recorded");
    }
    result_of(outcome)
}

fn result_of(outcome: Outcome) -> Attempt {
    match outcome {
        Outcome::Delivered => Attempt::Delivered,
        Outcome::Retry { after, reason } => {
            let ms = after.map(|after| i64::try_from(after.as_millis()).unwrap_or(i64::MAX));
            Attempt::Failed { reason, retry_after_ms: ms }
        }
        Outcome::Failed { reason, .. } => {
            Attempt::GivenUp { reason, status: DeliveryStatus::Failed }
        }
    }
}
