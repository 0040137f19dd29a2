//! The stored documents of notices.
//!
//! The collection is `status_notices`, the key that of the notice.
//!
//! ```text
//! {"page", "title", "paragraphs", "facts": [[name, value]], "created_at_ms", "enqueued",
//!  "enqueued_at_ms"?, "enqueued_until": subscriber or null}
//! ```
//!
//! Those that are `enqueued` and do not say when are of an earlier version.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{Notice, NoticeText};
use crate::areas::status::documents::StoredResource;
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::limits;

/// The JSON of a stored notice.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::areas::status) struct StoredNotice {
    page: String,
    title: String,
    paragraphs: Vec<String>,
    facts: Vec<(String, String)>,
    created_at_ms: i64,
    enqueued: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enqueued_at_ms: Option<i64>,
    #[serde(default)]
    enqueued_until: Option<String>,
}

impl StoredResource for Notice {
    type Kind = StatusKind;
    type Error = StatusError;
    type Stored = StoredNotice;
    const COLLECTION: Collection = Collection("status_notices");
    const KIND: StatusKind = StatusKind::Notice;
    const COUNT_MAX: usize = limits::NOTICES_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.key.as_str().into()
    }

    fn to_stored(&self) -> StoredNotice {
        StoredNotice {
            page: self.page.text(),
            title: self.text.title.clone(),
            paragraphs: self.text.paragraphs.clone(),
            facts: self.text.facts.clone(),
            created_at_ms: self.created_at.0,
            enqueued: self.enqueued_at.is_some(),
            enqueued_at_ms: self.enqueued_at.map(|at| at.0),
            enqueued_until: self.enqueued_until.map(SubscriberId::text),
        }
    }

    fn from_stored(key: String, stored: StoredNotice) -> Self {
        let StoredNotice { title, paragraphs, facts, created_at_ms, .. } = stored;
        let enqueued_at_ms = stored.enqueued_at_ms.unwrap_or(created_at_ms);
        Self {
            key,
            // One whose page cannot be read is of none.
            page: PageId::parse(&stored.page).unwrap_or(PageId(0)),
            text: NoticeText { title, paragraphs, facts },
            created_at: TimestampMs(created_at_ms),
            enqueued_at: stored.enqueued.then_some(TimestampMs(enqueued_at_ms)),
            enqueued_until: stored.enqueued_until.as_deref().and_then(SubscriberId::parse),
        }
    }
}
