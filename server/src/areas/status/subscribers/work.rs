//! The jobs that send mails to subscribers.

use std::sync::Arc;

use lettre::Message;
use lettre::message::Mailbox;
use serde::{Deserialize, Serialize};

use super::mails::{self, MailPage};
use crate::app::App;
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::notices::Notice;
use crate::areas::status::{limits, notices};
use crate::http::ApiError;
use crate::jobs::work::{WorkError, WorkKind, WorkerPool};

/// The arguments of a job: the subscriber, and what the mail is about.
#[derive(Debug, Serialize, Deserialize)]
struct MailItem {
    page: String,
    subscriber: String,
    /// The key of the notice; absent in a mail that asks for confirmation.
    notice: Option<String>,
}

/// Sends a mail to a subscriber.
const MAIL: WorkKind<MailItem> = WorkKind::new("telltale.status.mail", "telltale-status-mail")
    .attempts(limits::SUBSCRIBER_MAIL_ATTEMPTS)
    .timeout_seconds(limits::SUBSCRIBER_MAIL_SECONDS);

/// Adds the work of this module.
pub(in crate::areas::status) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    let app = Arc::downgrade(app);
    pool.queue(MAIL.queue, limits::SUBSCRIBER_MAILS_AT_ONCE).on(&MAIL, move |item| {
        let app = app.upgrade();
        async move {
            match app {
                Some(app) => send(&app, item).await,
                // The server ends; the job waits for its next start.
                None => Err(WorkError::new("Stopping", "the server ends")),
            }
        }
    })
}

/// Enqueues the mail that asks a subscriber for confirmation. Blocks.
pub(super) fn enqueue_confirmation(
    app: &App,
    page: PageId,
    id: SubscriberId,
) -> Result<(), StatusError> {
    let item = MailItem { page: page.text(), subscriber: id.text(), notice: None };
    let key = format!("confirm:{}", item.subscriber);
    enqueue(app, &[(item, key)])
}

/// Enqueues the mails about all notices whose are not enqueued, if there can be any. Blocks.
pub(in crate::areas::status) fn enqueue_notices(app: &App) -> Result<(), StatusError> {
    let generation = app.status().documents().generation();
    if app.status().notices_enqueued(generation) {
        return Ok(());
    }
    for notice in notices::pending(app)? {
        if app.status().mailer().is_some() {
            enqueue_notice(app, &notice)?;
        }
        notices::enqueued(app, &notice.key)?;
    }
    app.status().set_notices_enqueued(generation);
    Ok(())
}

/// Enqueues a mail to each subscriber of a page. If the server ends in between, those that were
/// sent may be sent again, with the same message id.
fn enqueue_notice(app: &App, notice: &Notice) -> Result<(), StatusError> {
    let subscribers = app.status().subscribers().of_page(notice.page);
    let confirmed = subscribers.iter().filter(|one| one.confirmed_at.is_some());
    let items: Vec<(MailItem, String)> = confirmed
        .map(|one| {
            let (page, subscriber) = (notice.page.text(), one.id.text());
            let key = format!("{}:{subscriber}", notice.key);
            (MailItem { page, subscriber, notice: Some(notice.key.clone()) }, key)
        })
        .collect();
    items.chunks(limits::SUBSCRIBER_MAILS_PER_WRITE).try_for_each(|part| enqueue(app, part))
}

fn enqueue(app: &App, items: &[(MailItem, String)]) -> Result<(), StatusError> {
    let items = items.iter().map(|(item, key)| (item, key.as_str()));
    let enqueued = MAIL.enqueue_all_once(app.jobs(), items);
    enqueued.map(drop).map_err(|error| {
        let why = format!("mails to subscribers could not be enqueued: {error}");
        telltale_engine::Error::Unavailable(why).into()
    })
}

/// Sends a mail, unless there is nobody to send it to or nothing to say any more.
async fn send(app: &Arc<App>, item: MailItem) -> Result<(), WorkError> {
    let Some(mailer) = app.status().mailer() else {
        return Err(failed("no mail server is configured"));
    };
    let from = mailer.sender().clone();
    let work = move |app: &App| compose(app, &item, &from).map_err(ApiError::internal);
    let composed = app.blocking(work).await;
    let composed = composed.map_err(|error| failed(error.cause().unwrap_or(error.message())))?;
    match composed {
        Some(message) => mailer.send(message).await.map_err(failed),
        None => Ok(()),
    }
}

/// Writes the mail of a job; `None` if there is nobody to send it to, or nothing to say. Blocks.
fn compose(
    app: &App,
    item: &MailItem,
    from: &Mailbox,
) -> Result<Option<Message>, Box<dyn std::error::Error>> {
    let ids = PageId::parse(&item.page).zip(SubscriberId::parse(&item.subscriber));
    let Some((page, id)) = ids else { return Ok(None) };
    let Some(subscriber) = app.status().subscribers().get(id) else { return Ok(None) };
    let directory = app.status().pages(app)?;
    let Ok(entry) = directory.page(page) else { return Ok(None) };
    let url = app.status().page_url(&entry.page);
    let page = MailPage { name: &entry.page.name, url: &url };
    let is_confirmed = subscriber.confirmed_at.is_some();
    let message = match &item.notice {
        None if is_confirmed => return Ok(None),
        None => mails::confirmation(from, page, &subscriber)?,
        Some(key) => match notices::get(app, key)?.filter(|_| is_confirmed) {
            Some(notice) => mails::notice(from, page, &subscriber, &notice)?,
            None => return Ok(None),
        },
    };
    Ok(Some(message))
}

fn failed(error: impl std::fmt::Display) -> WorkError {
    WorkError::new("Mail", error)
}
