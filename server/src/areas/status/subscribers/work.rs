//! The jobs that send mails to subscribers.

use std::sync::Arc;

use lettre::Message;
use lettre::message::Mailbox;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::mails::{self, MailPage};
use super::model::Subscriber;
use super::table::SubscriberKey;
use crate::app::App;
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::{limits, notices};
use crate::http::ApiError;
use crate::jobs::work::{WorkError, WorkKind, WorkerPool};
use crate::platform::mail::{MailError, SmtpCommand};

/// The arguments of a job: the subscriber, and what the mail is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MailItem {
    page: String,
    subscriber: String,
    /// The key of the notice; absent in a mail that asks for confirmation.
    notice: Option<String>,
}

/// Sends a mail about a notice to a subscriber.
pub(super) const MAIL: WorkKind<MailItem> =
    WorkKind::new("telltale.status.mail", "telltale-status-mail")
        .attempts(limits::SUBSCRIBER_MAIL_ATTEMPTS)
        .timeout_seconds(limits::SUBSCRIBER_MAIL_SECONDS);

/// Sends a mail that asks for confirmation. In a queue of its own: strangers can enter addresses
/// for which such mails fail, and must not delay those about notices.
pub(super) const CONFIRM: WorkKind<MailItem> =
    WorkKind::new("telltale.status.confirm", "telltale-status-confirm")
        .attempts(limits::CONFIRMATION_ATTEMPTS)
        .timeout_seconds(limits::SUBSCRIBER_MAIL_SECONDS);

/// What the mail server did with a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MailOutcome {
    /// It accepted it.
    Accepted,
    /// It refused the mail for good.
    Refused,
    /// It refused the address for good.
    Bounced,
}

impl MailItem {
    /// Returns the item of a mail about a notice, or of one that asks for confirmation.
    pub(super) fn new(page: PageId, subscriber: SubscriberId, notice: Option<String>) -> Self {
        Self { page: page.text(), subscriber: subscriber.text(), notice }
    }

    /// Returns the key that only one unfinished job has.
    pub(super) fn unique_key(&self) -> String {
        format!("{}:{}", self.notice.as_deref().unwrap_or("confirm"), self.subscriber)
    }

    /// Returns the ids of the page and of the subscriber.
    fn key(&self) -> Option<SubscriberKey> {
        PageId::parse(&self.page).zip(SubscriberId::parse(&self.subscriber))
    }

    /// Returns the digest of the notice by which a subscriber remembers it.
    fn digest(&self) -> Option<u64> {
        self.notice.as_ref().map(|notice| xxh3_64(notice.as_bytes()))
    }
}

/// Adds the work of this module.
pub(in crate::areas::status) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    let sends = || {
        let app = Arc::downgrade(app);
        move |item| {
            let app = app.upgrade();
            async move {
                match app {
                    Some(app) => send(&app, item).await,
                    // The server ends; the job waits for its next start.
                    None => Err(WorkError::new("Stopping", "the server ends")),
                }
            }
        }
    };
    pool.queue(MAIL.queue, limits::SUBSCRIBER_MAILS_AT_ONCE)
        .on(&MAIL, sends())
        .queue(CONFIRM.queue, limits::CONFIRMATIONS_AT_ONCE)
        .on(&CONFIRM, sends())
}

/// Sends a mail, unless there is nobody to send it to or nothing to say any more. A mail that is
/// refused for good is not sent again.
async fn send(app: &Arc<App>, item: MailItem) -> Result<(), WorkError> {
    let Some(mailer) = app.status().mailer() else {
        return Err(failed("no mail server is configured"));
    };
    let (from, composed) = (mailer.sender().clone(), item.clone());
    let work = move |app: &App| compose(app, &composed, &from).map_err(ApiError::internal);
    let composed = app.blocking(work).await;
    let composed = composed.map_err(|error| failed(error.cause().unwrap_or(error.message())))?;
    let Some(message) = composed else { return Ok(()) };
    let outcome = match mailer.send(message).await {
        Ok(()) => MailOutcome::Accepted,
        Err(error) if error.is_permanent() => {
            let subscriber = &item.subscriber;
            tracing::warn!(subscriber, %error, "a mail to a subscriber was refused for good");
            outcome_of(&error)
        }
        Err(error) => return Err(failed(error)),
    };
    let recorded = app.blocking(move |app| record_outcome(app, &item, outcome)).await;
    if let Err(error) = recorded {
        // The job must not send the mail again.
        let error = error.cause().unwrap_or(error.message());
        tracing::warn!(error, "the outcome of a mail to a subscriber could not be recorded");
    }
    Ok(())
}

/// Returns the outcome of a mail that was refused for good: not every one says something about the
/// address.
fn outcome_of(error: &MailError) -> MailOutcome {
    match error {
        MailError::Refused { command: SmtpCommand::Recipient, .. } | MailError::UnicodeAddress => {
            MailOutcome::Bounced
        }
        _ => MailOutcome::Refused,
    }
}

/// Records what became of a mail. Ends the subscription of an address that is refused too often.
/// Blocks.
pub(super) fn record_outcome(
    app: &App,
    item: &MailItem,
    outcome: MailOutcome,
) -> Result<(), StatusError> {
    let Some(key) = item.key() else { return Ok(()) };
    let table = app.status().subscribers();
    match outcome {
        MailOutcome::Accepted => table.mailed(key, item.digest())?,
        MailOutcome::Refused => {}
        MailOutcome::Bounced => {
            let now = app.engine().trusted_time().expiry;
            let was_there = table.change(key, |found| Some(found.bounced(now)))?;
            if was_there && table.get(key).is_none() {
                let (page, subscriber) = (&item.page, &item.subscriber);
                tracing::info!(page, subscriber, "a subscription ended: its address is refused");
            }
        }
    }
    Ok(())
}

/// Writes the mail of a job; `None` if there is nobody to send it to, or nothing to say. Blocks.
pub(super) fn compose(
    app: &App,
    item: &MailItem,
    from: &Mailbox,
) -> Result<Option<Message>, Box<dyn std::error::Error>> {
    let Some(key) = item.key() else { return Ok(None) };
    let Some(subscriber) = app.status().subscribers().get(key) else { return Ok(None) };
    let directory = app.status().pages(app)?;
    let Ok(entry) = directory.page(subscriber.page) else { return Ok(None) };
    // Without an address of the page the link that ends the subscription would not work.
    if !app.status().can_subscribe(&entry.page) {
        return Ok(None);
    }
    let url = app.status().page_url(&entry.page);
    let page = MailPage { name: &entry.page.name, url: &url };
    match &item.notice {
        None => compose_confirmation(page, &subscriber, from),
        // It was sent by a job that was enqueued before.
        Some(_) if subscriber.last_notice == item.digest() => Ok(None),
        Some(notice) => compose_notice(app, notice, page, &subscriber, from),
    }
}

fn compose_confirmation(
    page: MailPage<'_>,
    subscriber: &Subscriber,
    from: &Mailbox,
) -> Result<Option<Message>, Box<dyn std::error::Error>> {
    if subscriber.confirmed_at.is_some() {
        return Ok(None);
    }
    Ok(Some(mails::confirmation(from, page, subscriber)?))
}

fn compose_notice(
    app: &App,
    key: &str,
    page: MailPage<'_>,
    subscriber: &Subscriber,
    from: &Mailbox,
) -> Result<Option<Message>, Box<dyn std::error::Error>> {
    if subscriber.confirmed_at.is_none() {
        return Ok(None);
    }
    let Some(notice) = notices::get(app, key)? else {
        // It waited longer than notices are kept.
        tracing::warn!(notice = key, "a mail to a subscriber is not sent: the notice is deleted");
        return Ok(None);
    };
    Ok(Some(mails::notice(from, page, subscriber, &notice)?))
}

fn failed(error: impl std::fmt::Display) -> WorkError {
    WorkError::new("Mail", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refused_address_is_a_bounce() {
        let refused = |command| MailError::Refused { code: 550, command };
        for (error, expected) in [
            (refused(SmtpCommand::Recipient), MailOutcome::Bounced),
            (MailError::UnicodeAddress, MailOutcome::Bounced),
            (refused(SmtpCommand::Message), MailOutcome::Refused),
            (MailError::TooLong { bytes: 2, max: 1 }, MailOutcome::Refused),
        ] {
            assert_eq!(outcome_of(&error), expected, "{error}");
        }
    }
}
