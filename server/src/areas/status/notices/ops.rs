//! Recording notices, and what becomes of them. All of it blocks.

use std::collections::BTreeSet;

use telltale_engine::{TimestampMs, Versioned};

use super::model::{Notice, PendingNotice};
use super::space::{NoticeSpace, PendingCounts};
use crate::app::App;
use crate::areas::status::documents::{self, Changes};
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::limits;
use crate::areas::status::pages::Page;

/// Returns whether anybody would get a notice about a page: it has subscribers, and mails to them
/// can be sent.
pub(in crate::areas::status) fn are_wanted(app: &App, page: &Page) -> bool {
    app.status().can_subscribe(page) && app.status().subscribers().has_confirmed(page.id)
}

/// Records a notice about a page as part of `changes`, unless it is recorded or nobody would get
/// it. Fails if there is no space for it. At most one notice may be recorded like this in a
/// transaction.
pub(in crate::areas::status) fn record(
    app: &App,
    changes: &mut Changes<'_>,
    page: &Page,
    notice: &Notice,
) -> Result<(), StatusError> {
    if !are_wanted(app, page) || changes.contains::<Notice>(&notice.key)? {
        return Ok(());
    }
    NoticeSpace::make(app, changes)?.record(changes, notice)
}

/// Returns the pages of which no other notice can be recorded now.
pub(in crate::areas::status) fn full_pages(app: &App) -> Result<BTreeSet<PageId>, StatusError> {
    let waiting = documents::select(app.engine(), |found: Versioned<Notice>| {
        found.value.enqueued_at.is_none().then_some(found.value.page)
    })?;
    let mut pending = PendingCounts::default();
    waiting.into_iter().for_each(|page| pending.add(page));
    Ok(pending.full_pages())
}

/// Returns a notice, if it is recorded.
pub(in crate::areas::status) fn get(app: &App, key: &str) -> Result<Option<Notice>, StatusError> {
    match documents::get::<Notice>(app.engine(), key) {
        Ok(found) => Ok(Some(found.value)),
        Err(StatusError::NotFound(..)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the notices whose mails are not all enqueued, oldest first.
pub(in crate::areas::status) fn pending(app: &App) -> Result<Vec<PendingNotice>, StatusError> {
    let pending = |found: Versioned<Notice>| {
        let Notice { key, page, created_at, enqueued_at, enqueued_until, .. } = found.value;
        let notice = PendingNotice { key, page, enqueued_until };
        enqueued_at.is_none().then_some((created_at, notice))
    };
    let mut pending = documents::select::<Notice, _>(app.engine(), pending)?;
    pending.sort_by_key(|(created_at, _)| *created_at);
    Ok(pending.into_iter().map(|(_, notice)| notice).collect())
}

/// Records that the mails about a notice are enqueued, up to that of this subscriber.
pub(in crate::areas::status) fn enqueued_until(
    app: &App,
    key: &str,
    subscriber: SubscriberId,
) -> Result<(), StatusError> {
    change(app, key, |notice| notice.enqueued_until = Some(subscriber))
}

/// Records that all mails about a notice are enqueued.
pub(in crate::areas::status) fn finish(app: &App, key: &str) -> Result<(), StatusError> {
    let now = app.engine().trusted_time().believed;
    change(app, key, |notice| notice.enqueued_at = Some(now))
}

/// Changes a notice, unless it is deleted.
fn change(app: &App, key: &str, change: impl FnOnce(&mut Notice)) -> Result<(), StatusError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut notice, revision } = match changes.get::<Notice>(key, |_| true) {
        Ok(found) => found,
        Err(StatusError::NotFound(..)) => return Ok(()),
        Err(error) => return Err(error),
    };
    change(&mut notice);
    changes.replace(&notice, revision)?;
    changes.commit(None).map(drop)
}

/// Deletes the notices whose mails were enqueued so long ago that they are not kept any more.
pub(in crate::areas::status) fn trim(app: &App) -> Result<(), StatusError> {
    let now = app.engine().trusted_time().expiry;
    let before = TimestampMs(now.0.saturating_sub(limits::NOTICE_KEPT_MS));
    let old = |found: Versioned<Notice>| {
        let is_old = found.value.enqueued_at.is_some_and(|at| at < before);
        is_old.then_some((found.value.key, found.revision))
    };
    if documents::select::<Notice, _>(app.engine(), old)?.is_empty() {
        return Ok(());
    }
    // Again under the lock: their revisions may have changed.
    let mut changes = documents::begin(app);
    let old = changes.select(old)?;
    if old.is_empty() {
        return Ok(());
    }
    for (key, revision) in old {
        changes.delete::<Notice>(&key, revision);
    }
    changes.commit(None).map(drop)
}
