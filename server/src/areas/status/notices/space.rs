//! Space for new notices.
//!
//! Those of one page that wait for their mails to be enqueued are limited: they must not keep other
//! pages from notifying. All together are limited too; for new ones, the oldest are deleted, except
//! those whose mails may not be sent yet.

use std::collections::{BTreeMap, BTreeSet};

use telltale_engine::{TimestampMs, Versioned};

use super::model::Notice;
use crate::app::App;
use crate::areas::status::documents::Changes;
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::ids::PageId;
use crate::areas::status::limits;

/// The space for new notices in one transaction.
#[derive(Debug)]
pub(in crate::areas::status) struct NoticeSpace {
    /// How many notices of each page wait for their mails to be enqueued.
    pending: PendingCounts,
    recorded: usize,
}

impl NoticeSpace {
    /// Returns the space that there is, after the oldest notices are deleted as part of `changes`
    /// if there are too many. At most once in a transaction.
    pub(in crate::areas::status) fn make(
        app: &App,
        changes: &mut Changes<'_>,
    ) -> Result<Self, StatusError> {
        let (mut pending, mut enqueued) = (PendingCounts::default(), Vec::new());
        let known = changes.select(|found: Versioned<Notice>| {
            let Versioned { value: notice, revision } = found;
            Some((notice.page, notice.enqueued_at, notice.key, revision))
        })?;
        for (page, enqueued_at, key, revision) in known {
            match enqueued_at {
                None => pending.add(page),
                Some(at) => enqueued.push((at, key, revision)),
            }
        }
        if changes.count::<Notice>()? >= limits::NOTICES_MAX {
            let now = app.engine().trusted_time().expiry;
            let before = TimestampMs(now.0.saturating_sub(limits::NOTICE_SENT_MS));
            enqueued.retain(|(at, ..)| *at < before);
            enqueued.sort();
            for (_, key, revision) in enqueued.into_iter().take(limits::NOTICES_DELETED_AT_ONCE) {
                changes.delete::<Notice>(&key, revision);
            }
        }
        Ok(Self { pending, recorded: 0 })
    }

    /// Records a notice as part of the changes of [`Self::make`]. Fails if there is no space.
    pub(in crate::areas::status) fn record(
        &mut self,
        changes: &mut Changes<'_>,
        notice: &Notice,
    ) -> Result<(), StatusError> {
        if self.pending.is_full(notice.page) {
            let max = limits::NOTICES_PENDING_OF_PAGE_MAX;
            return Err(StatusError::TooMany { kind: StatusKind::Notice, max });
        }
        changes.insert(notice)?;
        self.pending.add(notice.page);
        self.recorded += 1;
        Ok(())
    }

    /// Returns whether a notice was recorded.
    pub(in crate::areas::status) fn has_recorded(&self) -> bool {
        self.recorded > 0
    }
}

/// How many notices of each page wait for their mails to be enqueued.
#[derive(Debug, Default)]
pub(super) struct PendingCounts(BTreeMap<PageId, usize>);

impl PendingCounts {
    /// Counts a notice of a page.
    pub(super) fn add(&mut self, page: PageId) {
        *self.0.entry(page).or_default() += 1;
    }

    /// Returns the pages of which no other notice may wait.
    pub(super) fn full_pages(self) -> BTreeSet<PageId> {
        let full = self.0.into_iter().filter(|(_, pending)| is_full(*pending));
        full.map(|(page, _)| page).collect()
    }

    fn is_full(&self, page: PageId) -> bool {
        self.0.get(&page).is_some_and(|pending| is_full(*pending))
    }
}

fn is_full(pending: usize) -> bool {
    pending >= limits::NOTICES_PENDING_OF_PAGE_MAX
}
