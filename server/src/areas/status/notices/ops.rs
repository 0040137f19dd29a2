//! Recording notices, and what becomes of them. All of it blocks.

use telltale_engine::{TimestampMs, Versioned};

use super::model::Notice;
use crate::app::App;
use crate::areas::status::documents::{self, Changes};
use crate::areas::status::error::StatusError;
use crate::areas::status::limits;

/// Records a notice as part of `changes`, unless it is recorded.
pub(in crate::areas::status) fn record(
    changes: &mut Changes<'_>,
    notice: &Notice,
) -> Result<(), StatusError> {
    if changes.contains::<Notice>(&notice.key)? {
        return Ok(());
    }
    if changes.count::<Notice>()? >= limits::NOTICES_MAX {
        tracing::error!(
            notice = notice.key,
            "subscribers are not notified: there are too many notices"
        );
        return Ok(());
    }
    changes.insert(notice)
}

/// Returns whether a notice is recorded.
pub(in crate::areas::status) fn is_recorded(app: &App, key: &str) -> Result<bool, StatusError> {
    documents::contains::<Notice>(app.engine(), key)
}

/// Returns a notice, if it is recorded.
pub(in crate::areas::status) fn get(app: &App, key: &str) -> Result<Option<Notice>, StatusError> {
    match documents::get::<Notice>(app.engine(), key) {
        Ok(found) => Ok(Some(found.value)),
        Err(StatusError::NotFound(..)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the notices whose mails are not enqueued, oldest first.
pub(in crate::areas::status) fn pending(app: &App) -> Result<Vec<Notice>, StatusError> {
    let pending = |found: Versioned<Notice>| (!found.value.is_enqueued).then_some(found.value);
    let mut pending = documents::select::<Notice, _>(app.engine(), pending)?;
    pending.sort_by_key(|notice| notice.created_at);
    Ok(pending)
}

/// Records that the mails about a notice are enqueued.
pub(in crate::areas::status) fn enqueued(app: &App, key: &str) -> Result<(), StatusError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut notice, revision } = changes.get::<Notice>(key, |_| true)?;
    notice.is_enqueued = true;
    changes.replace(&notice, revision)?;
    changes.commit(None).map(drop)
}

/// Deletes the notices that are older than the time for which they are kept.
pub(in crate::areas::status) fn trim(app: &App, now: TimestampMs) -> Result<(), StatusError> {
    let before = TimestampMs(now.0.saturating_sub(limits::NOTICE_KEPT_MS));
    let is_old = |found: Versioned<Notice>| {
        (found.value.created_at < before).then_some((found.value.key, found.revision))
    };
    let old = documents::select::<Notice, _>(app.engine(), is_old)?;
    if old.is_empty() {
        return Ok(());
    }
    let mut changes = documents::begin(app);
    for (key, revision) in old {
        changes.delete::<Notice>(&key, revision);
    }
    changes.commit(None).map(drop)
}
