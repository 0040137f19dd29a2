//! Enqueues the jobs that send mails to subscribers.
//!
//! A limited number of them is unfinished at a time, so that mails to many subscribers neither fill
//! the queues nor use up what is reserved for the server's own jobs. Those that ask for
//! confirmation have a queue and a limit of their own: whatever strangers enter, mails about
//! notices are sent.
//!
//! How far the mails are enqueued is stored after each write of jobs, up to the first job that was
//! refused: mails are neither left out nor repeated. If the server is killed between the two
//! writes, the mails of the first may be sent twice; those about notices have the same message id.

use std::collections::BTreeMap;

use super::work::{CONFIRM, MAIL, MailItem};
use crate::app::App;
use crate::areas::status::documents::StoredResource as _;
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::PageId;
use crate::areas::status::notices::{Notice, PendingNotice};
use crate::areas::status::{limits, notices};
use crate::jobs::work::WorkKind;
use crate::jobs::{EnqueuedPrefix, JobsError, QueueName};

/// Jobs about notices that one write enqueues.
const PER_WRITE: usize = limits::SUBSCRIBER_MAILS_PER_WRITE;

/// Enqueues the mails that ask for confirmation, and those about all notices, as many as may be
/// unfinished. The rest follows when the sweep runs again. `served` is the page whose notices had
/// their turn last. Blocks.
pub(in crate::areas::status) fn enqueue_mails(
    app: &App,
    served: &mut Option<PageId>,
) -> Result<(), StatusError> {
    let generation = app.status().documents().generation_of(&[Notice::COLLECTION]);
    let has_notices = !app.status().notices_enqueued(generation);
    if app.status().mailer().is_none() {
        return if has_notices { drop_notices(app, generation) } else { Ok(()) };
    }
    let asked = enqueue_confirmations(app);
    if has_notices && enqueue_notices(app, served)? {
        app.status().set_notices_enqueued(generation);
    }
    asked
}

/// Ends all notices without mails, since no mail server is configured.
fn drop_notices(app: &App, generation: u64) -> Result<(), StatusError> {
    notices::pending(app)?.iter().try_for_each(|notice| notices::finish(app, &notice.key))?;
    app.status().set_notices_enqueued(generation);
    Ok(())
}

/// Enqueues the next mails that ask for confirmation.
fn enqueue_confirmations(app: &App) -> Result<(), StatusError> {
    let subscribers = app.status().subscribers();
    if !subscribers.is_asking() {
        return Ok(());
    }
    let keys = subscribers.asking(places(app, &CONFIRM, limits::CONFIRMATIONS_UNFINISHED_MAX)?);
    let items = keys.iter().map(|(page, id)| MailItem::new(*page, *id, None));
    let (accepted, outcome) = enqueue(app, &CONFIRM, &items.collect::<Vec<_>>());
    subscribers.asked(keys.get(..accepted).unwrap_or_default())?;
    outcome
}

/// Enqueues the next mails about notices. Those of a page are enqueued in the order of the notices;
/// pages with many subscribers leave places to others, and if places are scarce, all pages have
/// their turn. Returns whether all are enqueued.
fn enqueue_notices(app: &App, served: &mut Option<PageId>) -> Result<bool, StatusError> {
    let mut places = places(app, &MAIL, limits::SUBSCRIBER_MAILS_UNFINISHED_MAX)?;
    if places == 0 {
        return Ok(false);
    }
    let mut by_page: BTreeMap<PageId, Vec<PendingNotice>> = BTreeMap::new();
    for notice in notices::pending(app)? {
        by_page.entry(notice.page).or_default().push(notice);
    }
    let (mut pages, mut is_finished) = (by_page.len(), true);
    let next = served.and_then(|last| by_page.keys().find(|page| **page > last).copied());
    let later = next.map(|next| by_page.split_off(&next)).unwrap_or_default();
    for (page, pending) in later.into_iter().chain(by_page) {
        let share = places.div_ceil(pages);
        if share > 0 {
            *served = Some(page);
        }
        let (enqueued, is_page_finished) = enqueue_of_page(app, &pending, share)?;
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
        let (accepted, outcome) = enqueue(app, &MAIL, &next.iter().map(item).collect::<Vec<_>>());
        enqueued += accepted;
        if accepted == next.len() && accepted < max {
            notices::finish(app, &notice.key)?;
            return Ok((enqueued, true));
        }
        if let Some(last) = next.iter().take(accepted).next_back() {
            after = Some(*last);
            notices::enqueued_until(app, &notice.key, *last)?;
        }
        outcome?;
    }
    Ok((enqueued, false))
}

/// Returns how many mails of a kind may be enqueued now, of those that may be unfinished.
fn places(app: &App, kind: &WorkKind<MailItem>, max: usize) -> Result<usize, StatusError> {
    let queue = QueueName::own(kind.queue).map_err(JobsError::from);
    let unfinished = match queue.and_then(|queue| app.jobs().queue_blocking(queue)) {
        Ok(view) => view.ready + view.scheduled + view.retrying + view.running,
        Err(JobsError::QueueNotFound(_)) => 0,
        Err(error) => return Err(unavailable(&error)),
    };
    Ok(max.saturating_sub(unfinished))
}

/// Enqueues mails up to the first one that is refused. Returns how many there are jobs for now, and
/// why the next one was refused.
fn enqueue(
    app: &App,
    kind: &WorkKind<MailItem>,
    items: &[MailItem],
) -> (usize, Result<(), StatusError>) {
    let keys: Vec<String> = items.iter().map(MailItem::unique_key).collect();
    let items = items.iter().zip(keys.iter().map(String::as_str));
    match kind.enqueue_prefix_once(app.jobs(), items) {
        Ok(EnqueuedPrefix { accepted, refused: None, .. }) => (accepted, Ok(())),
        Ok(EnqueuedPrefix { accepted, refused: Some(error), .. }) => {
            (accepted, Err(unavailable(&error)))
        }
        Err(error) => (0, Err(unavailable(&error))),
    }
}

fn unavailable(error: &JobsError) -> StatusError {
    let why = format!("mails to subscribers could not be enqueued: {error}");
    telltale_engine::Error::Unavailable(why).into()
}
