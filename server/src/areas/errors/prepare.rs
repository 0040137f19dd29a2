//! Turns an occurrence into what is stored of it and what its group displays: everything that does
//! not depend on which group it belongs to.

use telltale_engine::limits::TAG_KEY_CHARS_MAX;
use telltale_engine::{Properties, PropertiesWriter, TimestampMs};

use super::document::{self, EventHeader};
use super::event_id::format_event_id;
use super::grouping::hashes_of;
use super::ledger::OWN_TAG_PREFIX;
use super::model::{GroupHashes, Level, Sender, SentLevel};
use super::occurrence::{Occurrence, truncate};
use super::scrub::Scrubber;
use crate::limits;

/// An occurrence that is ready to be stored.
#[derive(Clone, Debug)]
pub(super) struct PreparedOccurrence {
    pub(super) sender: Sender,
    pub(super) project: u64,
    /// The id that the sender gave it, or a new one.
    pub(super) event_id: u128,
    pub(super) hashes: GroupHashes,
    pub(super) time: TimestampMs,
    pub(super) level: SentLevel,
    pub(super) environment: Option<String>,
    pub(super) release: Option<String>,
    pub(super) user: Option<String>,
    /// Tags that lists of errors can be filtered by, with their keys as tags of the event.
    pub(super) tags: Vec<(String, String)>,
    pub(super) summary: GroupSummary,
    pub(super) properties: Properties,
}

/// What a group displays of its newest occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupSummary {
    pub(super) title: String,
    /// What is searched besides the title: the beginning of the message, or nothing where the title
    /// already contains it.
    pub(super) message: String,
    pub(super) level: Level,
}

impl GroupSummary {
    /// Returns the summary of an occurrence whose event cannot be read.
    pub(super) fn unreadable() -> Self {
        let level = SentLevel::default().level();
        Self { title: "(unreadable)".to_owned(), message: String::new(), level }
    }
}

/// The context in which an occurrence arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) sender: Sender,
    pub(super) project: u64,
    /// The id for an occurrence that was sent without one.
    pub(super) event_id: u128,
    pub(super) now: TimestampMs,
}

/// Prepares an occurrence. Returns `None` only if its properties do not fit into an event, which
/// the limits of [`document`] rule out.
pub(super) fn prepare(
    occurrence: &Occurrence<'_>,
    arrival: Arrival,
    scrubber: &Scrubber,
    writer: &mut PropertiesWriter,
) -> Option<PreparedOccurrence> {
    let event_id = occurrence.event_id.unwrap_or(arrival.event_id);
    let title =
        truncate(&scrubber.scrub(&occurrence.title()), limits::ERROR_TITLE_CHARS_MAX).to_owned();
    let header = EventHeader {
        project: arrival.project,
        event_id: &format_event_id(event_id),
        title: &title,
    };
    let properties = document::write(writer, occurrence, header, scrubber)?.clone();
    let owned = |text: &Option<std::borrow::Cow<'_, str>>| {
        text.as_deref().map(|text| scrubber.scrub(text).into_owned())
    };
    Some(PreparedOccurrence {
        sender: arrival.sender,
        project: arrival.project,
        event_id,
        hashes: hashes_of(occurrence),
        time: occurrence.time.unwrap_or(arrival.now),
        level: occurrence.level,
        environment: owned(&occurrence.environment),
        release: owned(&occurrence.release),
        user: occurrence.user.key().map(|user| scrubber.scrub_user(user).into_owned()),
        tags: indexed_tags(occurrence, scrubber),
        summary: GroupSummary {
            message: searched_message(occurrence, &title, scrubber),
            title,
            level: occurrence.level.level(),
        },
        properties,
    })
}

/// Returns the tags that errors can be filtered by: those that the engine accepts as tags of an
/// event, up to the limit.
fn indexed_tags(occurrence: &Occurrence<'_>, scrubber: &Scrubber) -> Vec<(String, String)> {
    let mut tags: Vec<(String, String)> = Vec::new();
    for (key, value) in occurrence.tags.iter().filter(|(key, _)| !scrubber.is_secret(key)) {
        let key = [OWN_TAG_PREFIX, &scrubber.scrub(key)].concat();
        let is_key = key.chars().count() <= TAG_KEY_CHARS_MAX && !key.contains(char::is_control);
        if is_key && !tags.iter().any(|(known, _)| *known == key) {
            let value = truncate(&scrubber.scrub(value), limits::ERROR_TAG_CHARS_MAX).to_owned();
            tags.push((key, value));
        }
        if tags.len() == limits::ERROR_TAGS_INDEXED_MAX {
            break;
        }
    }
    tags
}

/// Returns the beginning of the message, unless the title contains it.
fn searched_message(occurrence: &Occurrence<'_>, title: &str, scrubber: &Scrubber) -> String {
    let raised = occurrence.raised().and_then(|raised| raised.value.as_deref());
    let message = raised.or(occurrence.message.as_deref()).unwrap_or_default();
    beyond_title(&scrubber.scrub(message), title)
}

/// Returns the beginning of `message`, or an empty string if `title` ends with it.
pub(super) fn beyond_title(message: &str, title: &str) -> String {
    if title.ends_with(message) {
        return String::new();
    }
    truncate(message, limits::ERROR_SEARCH_CHARS_MAX).to_owned()
}
