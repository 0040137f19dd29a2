//! A notice for the subscribers of a page.

use telltale_engine::TimestampMs;

use crate::areas::status::ids::{PageId, SubscriberId};

/// A notice for the subscribers of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct Notice {
    /// What it is about and the step, of letters, digits, `-` and `_`: recorded once.
    pub(in crate::areas::status) key: String,
    pub(in crate::areas::status) page: PageId,
    pub(in crate::areas::status) text: NoticeText,
    pub(in crate::areas::status) created_at: TimestampMs,
    /// When the last mail about it was enqueued, by the trusted time; `None` until then.
    pub(super) enqueued_at: Option<TimestampMs>,
    /// The last subscriber whose mail about it is enqueued: those of earlier ones are, too.
    pub(super) enqueued_until: Option<SubscriberId>,
}

/// A notice whose mails are not all enqueued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct PendingNotice {
    pub(in crate::areas::status) key: String,
    pub(in crate::areas::status) page: PageId,
    pub(in crate::areas::status) enqueued_until: Option<SubscriberId>,
}

/// What a notice says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct NoticeText {
    /// `Investigating: the shop is slow`
    pub(in crate::areas::status) title: String,
    /// What is known.
    pub(in crate::areas::status) paragraphs: Vec<String>,
    /// Name and value of each fact.
    pub(in crate::areas::status) facts: Vec<(String, String)>,
}

impl Notice {
    /// Returns a notice that is new.
    pub(in crate::areas::status) fn new(
        key: String,
        page: PageId,
        text: NoticeText,
        created_at: TimestampMs,
    ) -> Self {
        Self { key, page, text, created_at, enqueued_at: None, enqueued_until: None }
    }
}
