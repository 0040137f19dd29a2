//! One attempt to deliver a message.

use std::sync::Arc;

use super::work::blocking;
use crate::app::App;
use crate::areas::alerting::channels::{self, Outcome};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::ChannelId;
use crate::areas::alerting::ledger::{Attempt, DeliveryStatus, Destination, Message};
use crate::areas::alerting::notice::Notice;

/// Sends a message once. Fails only if the storage does: then nothing is known of the attempt.
pub(super) async fn attempt(
    app: &Arc<App>,
    destination: &Destination,
    message: &Message,
) -> Result<Attempt, AlertingError> {
    let notice = message.notice(app.alerting().public_url().map(ToOwned::to_owned));
    match destination {
        Destination::Channel(id) => to_channel(app, id.clone(), &message.id, &notice).await,
        Destination::Person(address) => {
            let sent = channels::send_to_person(app, address, &message.id, &notice).await;
            Ok(result_of(sent))
        }
    }
}

async fn to_channel(
    app: &Arc<App>,
    id: ChannelId,
    message_id: &str,
    notice: &Notice,
) -> Result<Attempt, AlertingError> {
    let channel = match blocking(app, move |app| channels::ready(app, &id)).await {
        Ok(Ok(channel)) => channel,
        Ok(Err(reason)) => {
            let (reason, status) = (reason.to_owned(), DeliveryStatus::Dropped);
            return Ok(Attempt::GivenUp { reason, status });
        }
        Err(AlertingError::Engine(error)) => return Err(error.into()),
        // The operator may bring back the key of the secrets.
        Err(error) => {
            tracing::error!(%error, "a message about alerts cannot be sent");
            let reason = "the secrets of the channel cannot be read".to_owned();
            return Ok(Attempt::Failed { reason, retry_after_ms: None });
        }
    };
    let outcome = channels::send(app, &channel, message_id, notice).await;
    let counted = outcome.clone();
    let count = blocking(app, move |app| channels::count_attempt(app, &channel, &counted)).await;
    if let Err(error) = count {
        // More important than the count is that a message that was sent is not sent again.
        tracing::error!(%error, "the use of a channel cannot be recorded");
    }
    Ok(result_of(outcome))
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
