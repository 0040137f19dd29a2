//! Recording notices, and what becomes of them. All of it blocks.

use telltale_engine::{TimestampMs, Versioned};

use super::model::{Notice, PendingNotice};
use crate::app::App;
use crate::areas::status::documents::{self, Changes};
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::ids::SubscriberId;
use crate::areas::status::limits;
use crate::areas::status::pages::Page;

/// Returns whether anybody would get a notice about a page: it has subscribers, and mails to them
/// can be sent.
pub(in crate::areas::status) fn are_wanted(app: &App, page: &Page) -> bool {
    app.status().can_subscribe(page) && app.status().subscribers().has_confirmed(page.id)
}

/// Records a notice about a page as part of `changes`, unless it is recorded or nobody would get
/// it. Returns whether it did. Makes space for it if there are too many, and fails if too many of
/// the page wait; at most one notice may be recorded in a transaction.
pub(in crate::areas::status) fn record(
    app: &App,
    changes: &mut Changes<'_>,
    page: &Page,
    notice: &Notice,
) -> Result<bool, StatusError> {
    if !are_wanted(app, page) || changes.contains::<Notice>(&notice.key)? {
        return Ok(false);
    }
    check_pending(changes, page)?;
    make_space(changes)?;
    changes.insert(notice)?;
    Ok(true)
}

/// Refuses another notice of a page of which too many wait for their mails to be enqueued: those of
/// one page must not keep other pages from notifying.
fn check_pending(changes: &Changes<'_>, page: &Page) -> Result<(), StatusError> {
    let is_pending = |found: Versioned<Notice>| {
        (found.value.page == page.id && !found.value.is_enqueued).then_some(())
    };
    let max = limits::NOTICES_PENDING_OF_PAGE_MAX;
    match changes.select(is_pending)?.len() {
        pending if pending < max => Ok(()),
        _ => Err(StatusError::TooMany { kind: StatusKind::Notice, max }),
    }
}

/// Deletes the oldest notices whose mails are enqueued if there are too many.
fn make_space(changes: &mut Changes<'_>) -> Result<(), StatusError> {
    if changes.count::<Notice>()? < limits::NOTICES_MAX {
        return Ok(());
    }
    let mut enqueued = changes.select(|found: Versioned<Notice>| {
        let Versioned { value: notice, revision } = found;
        notice.is_enqueued.then_some((notice.created_at, notice.key, revision))
    })?;
    enqueued.sort();
    for (_, key, revision) in enqueued.into_iter().take(limits::NOTICES_DELETED_AT_ONCE) {
        changes.delete::<Notice>(&key, revision);
    }
    Ok(())
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
        let Notice { key, page, created_at, is_enqueued, enqueued_until, .. } = found.value;
        (!is_enqueued).then_some((created_at, PendingNotice { key, page, enqueued_until }))
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
    change(app, key, |notice| notice.is_enqueued = true)
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

/// Deletes the notices that are older than the time for which they are kept.
pub(in crate::areas::status) fn trim(app: &App) -> Result<(), StatusError> {
    let now = app.engine().trusted_time().expiry;
    let before = TimestampMs(now.0.saturating_sub(limits::NOTICE_KEPT_MS));
    let old = |found: Versioned<Notice>| {
        (found.value.created_at < before).then_some((found.value.key, found.revision))
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
