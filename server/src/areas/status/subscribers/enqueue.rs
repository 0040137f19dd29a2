//! Enqueues the jobs that send mails to subscribers.
//!
//! A limited number of them is unfinished at a time, so that mails to many subscribers neither fill
//! the queues nor use up what is reserved for the server's own jobs. How far the mails of a notice
//! are enqueued is stored with it after each write of jobs: mails are neither left out nor repeated
//! when a write is refused. If the server is killed between the two writes, the mails of the first
//! may be sent twice, with the same message id.

use std::collections::BTreeMap;

use super::work::{MAIL, MailItem};
use crate::app::App;
use crate::areas::status::documents::StoredResource as _;
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::PageId;
use crate::areas::status::notices::{Notice, PendingNotice};
use crate::areas::status::{limits, notices};
use crate::jobs::{JobsError, QueueName};

/// Jobs that one write enqueues.
const PER_WRITE: usize = limits::SUBSCRIBER_MAILS_PER_WRITE;

/// Enqueues the mails that ask for confirmation, and those about all notices, as many as may be
/// unfinished. The rest follows when the sweep runs again. Blocks.
pub(in crate::areas::status) fn enqueue_mails(app: &App) -> Result<(), StatusError> {
    let generation = app.status().documents().generation_of(&[Notice::COLLECTION]);
    let has_notices = !app.status().notices_enqueued(generation);
    let asking = app.status().subscribers().asking(limits::SUBSCRIBER_MAILS_UNFINISHED_MAX);
    if asking.is_empty() && !has_notices {
        return Ok(());
    }
    if app.status().mailer().is_none() {
        return drop_notices(app, generation);
    }
    let mut places = places(app)?;
    for part in asking.get(..places.min(asking.len())).unwrap_or_default().chunks(PER_WRITE) {
        let item = |(page, id)| MailItem::new(page, id, None);
        enqueue(app, &part.iter().copied().map(item).collect::<Vec<_>>())?;
        app.status().subscribers().asked(part)?;
        places -= part.len();
    }
    if has_notices && enqueue_notices(app, places)? {
        app.status().set_notices_enqueued(generation);
    }
    Ok(())
}

/// Ends all notices without mails, since no mail server is configured.
fn drop_notices(app: &App, generation: u64) -> Result<(), StatusError> {
    if !app.status().notices_enqueued(generation) {
        notices::pending(app)?.iter().try_for_each(|notice| notices::finish(app, &notice.key))?;
        app.status().set_notices_enqueued(generation);
    }
    Ok(())
}

/// Enqueues mails about notices, so many at most. Those of a page are enqueued in the order of the
/// notices; pages with many subscribers leave places to others. Returns whether all are enqueued.
fn enqueue_notices(app: &App, mut places: usize) -> Result<bool, StatusError> {
    let mut by_page: BTreeMap<PageId, Vec<PendingNotice>> = BTreeMap::new();
    for notice in notices::pending(app)? {
        by_page.entry(notice.page).or_default().push(notice);
    }
    let (mut pages, mut is_finished) = (by_page.len(), true);
    for pending in by_page.values() {
        let share = places.div_ceil(pages);
        let (enqueued, is_page_finished) = enqueue_of_page(app, pending, share)?;
        places -= enqueued;
        pages -= 1;
        is_finished &= is_page_finished;
    }
    Ok(is_finished)
}

/// Enqueues the next mails about the notices of a page, so many at most. Returns how many, and
/// whether none is left.
fn enqueue_of_page(
    app: &App,
    pending: &[PendingNotice],
    places: usize,
) -> Result<(usize, bool), StatusError> {
    let mut all = 0;
    for notice in pending {
        let (enqueued, is_finished) = enqueue_notice(app, notice, places - all)?;
        all += enqueued;
        if !is_finished {
            return Ok((all, false));
        }
    }
    Ok((all, true))
}

/// Enqueues the next mails about a notice, so many at most. Returns how many, and whether none is
/// left.
fn enqueue_notice(
    app: &App,
    notice: &PendingNotice,
    places: usize,
) -> Result<(usize, bool), StatusError> {
    let (mut enqueued, mut after) = (0, notice.enqueued_until);
    while enqueued < places {
        let max = PER_WRITE.min(places - enqueued);
        let next = app.status().subscribers().confirmed_after(notice.page, after, max);
        let item = |id: &_| MailItem::new(notice.page, *id, Some(notice.key.clone()));
        enqueue(app, &next.iter().map(item).collect::<Vec<_>>())?;
        enqueued += next.len();
        let Some(last) = next.last().filter(|_| next.len() == max) else {
            notices::finish(app, &notice.key)?;
            return Ok((enqueued, true));
        };
        after = Some(*last);
        notices::enqueued_until(app, &notice.key, *last)?;
    }
    Ok((enqueued, false))
}

/// Returns how many mails may be enqueued now.
fn places(app: &App) -> Result<usize, StatusError> {
    let queue = QueueName::own(MAIL.queue).map_err(JobsError::from);
    let unfinished = match queue.and_then(|queue| app.jobs().queue_blocking(queue)) {
        Ok(view) => view.ready + view.scheduled + view.retrying + view.running,
        Err(JobsError::QueueNotFound(_)) => 0,
        Err(error) => return Err(unavailable(&error)),
    };
    Ok(limits::SUBSCRIBER_MAILS_UNFINISHED_MAX.saturating_sub(unfinished))
}

fn enqueue(app: &App, items: &[MailItem]) -> Result<(), StatusError> {
    let keys: Vec<String> = items.iter().map(MailItem::unique_key).collect();
    let items = items.iter().zip(keys.iter().map(String::as_str));
    let enqueued = MAIL.enqueue_all_once(app.jobs(), items);
    enqueued.map(drop).map_err(|error| unavailable(&error))
}

fn unavailable(error: &JobsError) -> StatusError {
    let why = format!("mails to subscribers could not be enqueued: {error}");
    telltale_engine::Error::Unavailable(why).into()
}
