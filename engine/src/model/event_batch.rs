//! A columnar batch of events: passed from the parser to the write-ahead log and the head, where it
//! remains until the events are sealed. Each distinct string is stored once per batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{
    Event, EventId, InvalidName, InvalidTags, MetricName, NewEvent, StringId, StringInterner, Tags,
    TimestampMs, event_day,
};
use crate::limits;

/// Events to be written together. Created by [`crate::Engine::event_batch`], which assigns their
/// numbers.
#[derive(Clone, Debug)]
pub struct EventBatch {
    rows: EventRows,
    received: TimestampMs,
    numbers: Arc<AtomicU64>,
}

/// Why an event is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEvent {
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The tags are invalid.
    #[error(transparent)]
    Tags(#[from] InvalidTags),
    /// The user is empty or has more than [`limits::USER_CHARS_MAX`] characters.
    #[error("user_id must have 1 to {} characters", limits::USER_CHARS_MAX)]
    User,
    /// The value is not finite.
    #[error("value must be a finite number")]
    Value,
    /// The time is before 1970, or millions of years ahead.
    #[error("time must be in 1970 or later")]
    Time,
}

impl EventBatch {
    pub(crate) fn new(received: TimestampMs, numbers: Arc<AtomicU64>) -> Self {
        Self { rows: EventRows::default(), received, numbers }
    }

    /// Appends an event and returns its id. An invalid event is rejected; the batch stays usable.
    pub fn push(&mut self, event: &NewEvent<'_>) -> Result<EventId, InvalidEvent> {
        MetricName::check_given(event.name)?;
        Tags::check(event.tags)?;
        if event.user.is_some_and(|user| {
            user.is_empty()
                || (user.len() > limits::USER_CHARS_MAX
                    && user.chars().count() > limits::USER_CHARS_MAX)
        }) {
            return Err(InvalidEvent::User);
        }
        if event.value.is_some_and(|value| !value.is_finite()) {
            return Err(InvalidEvent::Value);
        }
        if event_day(event.time).is_none() {
            return Err(InvalidEvent::Time);
        }
        let id = EventId::new(self.received, self.numbers.fetch_add(1, Ordering::Relaxed));
        self.rows.push(id, event);
        Ok(id)
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    pub(crate) fn into_rows(self) -> EventRows {
        self.rows
    }
}

/// Columns of events in the order they were pushed. A row is identified by its position.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventRows {
    texts: StringInterner,
    ids: Vec<EventId>,
    times: Vec<i64>,
    names: Vec<StringId>,
    users: Vec<Option<StringId>>,
    /// NaN where the event has no value; stored values are finite.
    values: Vec<f64>,
    /// The end of each row's part of `tags`.
    tag_ends: Vec<u32>,
    /// Keys and values, sorted by key within a row.
    tags: Vec<(StringId, StringId)>,
    /// The end of each row's part of `properties`.
    property_ends: Vec<u32>,
    /// The concatenated JSON of all rows; an empty string means no properties.
    properties: String,
}

/// A row whose strings are interned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventRow<'a> {
    pub(crate) id: EventId,
    pub(crate) time: i64,
    pub(crate) name: StringId,
    pub(crate) user: Option<StringId>,
    pub(crate) value: Option<f64>,
    /// Sorted by the string of the key.
    pub(crate) tags: &'a [(StringId, StringId)],
    /// Canonical JSON; empty if the event has no properties.
    pub(crate) properties: &'a str,
}

impl EventRows {
    /// Interns a string for [`Self::push_row`].
    pub(crate) fn intern(&mut self, text: &str) -> StringId {
        self.texts.intern(text)
    }

    /// Appends a row whose strings were interned in `self`.
    pub(crate) fn push_row(&mut self, row: &EventRow<'_>) {
        self.tags.extend_from_slice(row.tags);
        self.properties.push_str(row.properties);
        self.push_rest(row.id, row.time, row.name, row.user, row.value);
    }

    /// Appends an event whose fields are valid.
    pub(crate) fn push(&mut self, id: EventId, event: &NewEvent<'_>) {
        let name = self.texts.intern(event.name);
        let user = event.user.map(|user| self.texts.intern(user));
        let from = self.tags.len();
        let before = self.len().checked_sub(1).map_or(from..from, |row| span(&self.tag_ends, row));
        for (at, (key, value)) in event.tags.iter().enumerate() {
            // Events usually have the keys of the event before.
            let expected = before.clone().nth(at).and_then(|at| self.tags.get(at));
            let key = self.texts.intern_expected(key, expected.map(|(key, _)| *key));
            self.tags.push((key, self.texts.intern(value)));
        }
        let Self { tags, texts, .. } = self;
        if let Some(own) = tags.get_mut(from..)
            && !own.is_sorted_by_key(|(key, _)| texts.text(*key))
        {
            own.sort_unstable_by(|a, b| texts.text(a.0).cmp(texts.text(b.0)));
        }
        if let Some(properties) = event.properties {
            self.properties.push_str(properties.as_str());
        }
        self.push_rest(id, event.time.0, name, user, event.value);
    }

    fn push_rest(
        &mut self,
        id: EventId,
        time: i64,
        name: StringId,
        user: Option<StringId>,
        value: Option<f64>,
    ) {
        self.ids.push(id);
        self.times.push(time);
        self.names.push(name);
        self.users.push(user);
        // Adding 0.0 turns −0.0 into 0.0.
        self.values.push(value.map_or(f64::NAN, |value| value + 0.0));
        self.tag_ends.push(self.tags.len() as u32);
        self.property_ends.push(self.properties.len() as u32);
    }

    /// Appends all rows of `other`.
    pub(crate) fn append(&mut self, other: &Self) {
        let Self { texts, tags, .. } = self;
        let new_ids: Vec<StringId> = other.texts.iter().map(|text| texts.intern(text)).collect();
        let remapped = |id: StringId| new_ids[id.0 as usize];
        let (tags_before, text_before) = (tags.len() as u32, self.properties.len() as u32);
        tags.extend(other.tags.iter().map(|(key, value)| (remapped(*key), remapped(*value))));
        self.ids.extend_from_slice(&other.ids);
        self.times.extend_from_slice(&other.times);
        self.names.extend(other.names.iter().map(|name| remapped(*name)));
        self.users.extend(other.users.iter().map(|user| user.map(remapped)));
        self.values.extend_from_slice(&other.values);
        self.tag_ends.extend(other.tag_ends.iter().map(|end| end + tags_before));
        self.property_ends.extend(other.property_ends.iter().map(|end| end + text_before));
        self.properties.push_str(&other.properties);
    }

    /// Returns the rows for which `keep` returns true, in their order, with only the strings that
    /// they refer to.
    pub(crate) fn retained(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut kept = Self::default();
        let mut tags = Vec::new();
        for at in (0..self.len()).filter(|at| keep(*at)) {
            let row = self.row(at).unwrap_or_else(|| panic!("row {at}: all columns are as long"));
            let Self { texts, .. } = &mut kept;
            let mut remapped = |id: StringId| texts.intern(self.texts.text(id));
            tags.clear();
            tags.extend(row.tags.iter().map(|(key, value)| (remapped(*key), remapped(*value))));
            let (name, user) = (remapped(row.name), row.user.map(&mut remapped));
            kept.push_row(&EventRow { name, user, tags: &tags, ..row });
        }
        kept
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns the interned strings: names, users, tag keys and tag values.
    pub(crate) fn texts(&self) -> &StringInterner {
        &self.texts
    }

    /// Returns the times of all rows, in milliseconds since the epoch.
    pub(crate) fn times(&self) -> &[i64] {
        &self.times
    }

    /// Returns the ids of all rows.
    pub(crate) fn ids(&self) -> &[EventId] {
        &self.ids
    }

    /// Returns the names of all rows.
    pub(crate) fn names(&self) -> &[StringId] {
        &self.names
    }

    /// Returns the users of all rows.
    pub(crate) fn users(&self) -> &[Option<StringId>] {
        &self.users
    }

    /// Returns the values of all rows, NaN where there is none.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the tags of a row, sorted by the string of the key.
    pub(crate) fn tags(&self, row: usize) -> &[(StringId, StringId)] {
        &self.tags[span(&self.tag_ends, row)]
    }

    /// Returns the properties of a row; empty if it has none.
    pub(crate) fn properties(&self, row: usize) -> &str {
        let span = span(&self.property_ends, row);
        let Some(text) = self.properties.get(span) else { panic!("row {row} has no properties") };
        text
    }

    /// Returns the bytes of all strings of a row, including strings shared with other rows.
    pub(crate) fn string_bytes(&self, row: usize) -> usize {
        let bytes = |id: &StringId| self.texts.bytes_of(*id);
        let tags = self.tags(row).iter().map(|(key, value)| bytes(key) + bytes(value));
        let user = self.users[row].as_ref().map_or(0, bytes);
        let properties = span(&self.property_ends, row).len();
        bytes(&self.names[row]) + user + tags.sum::<usize>() + properties
    }

    /// Returns the value of a tag of a row.
    pub(crate) fn tag(&self, row: usize, key: StringId) -> Option<StringId> {
        self.tags(row).iter().find_map(|(k, v)| (*k == key).then_some(*v))
    }

    /// Returns a row.
    pub(crate) fn row(&self, row: usize) -> Option<EventRow<'_>> {
        let value = *self.values.get(row)?;
        Some(EventRow {
            id: *self.ids.get(row)?,
            time: *self.times.get(row)?,
            name: *self.names.get(row)?,
            user: *self.users.get(row)?,
            value: (!value.is_nan()).then_some(value),
            tags: self.tags(row),
            properties: self.properties(row),
        })
    }

    /// Returns a row with its strings resolved.
    pub(crate) fn event(&self, row: usize) -> Option<Event> {
        let text = |id: StringId| self.texts.text(id).to_owned();
        let EventRow { id, time, name, user, value, tags, properties } = self.row(row)?;
        Some(Event {
            id,
            name: text(name),
            time: TimestampMs(time),
            user: user.map(text),
            value,
            tags: tags.iter().map(|(k, v)| (text(*k), text(*v))).collect(),
            properties: (!properties.is_empty()).then(|| properties.to_owned()),
        })
    }

    /// Returns the bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let row = size_of::<EventId>() + 8 + 4 + 8 + 8 + 4 + 4;
        self.texts.bytes()
            + self.times.capacity() * row
            + self.tags.capacity() * 8
            + self.properties.capacity()
    }
}

fn span(ends: &[u32], row: usize) -> std::ops::Range<usize> {
    let from = row.checked_sub(1).map_or(0, |before| ends[before]);
    from as usize..ends[row] as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Properties;

    fn batch() -> EventBatch {
        EventBatch::new(TimestampMs(1_000), Arc::new(AtomicU64::new(7)))
    }

    fn event<'a>(name: &'a str, tags: &'a [(&'a str, &'a str)]) -> NewEvent<'a> {
        NewEvent { name, time: TimestampMs(5), user: None, value: None, tags, properties: None }
    }

    #[test]
    fn events_read_back_equal_the_pushed_ones() {
        let properties = Properties::parse(r#"{"b":1,"a":[2]}"#).unwrap();
        let mut batch = batch();
        let first = batch.push(&event("a", &[])).unwrap();
        let full = NewEvent {
            user: Some("u"),
            value: Some(-0.0),
            properties: Some(&properties),
            ..event("b", &[("zone", "eu"), ("app", "b")])
        };
        let second = batch.push(&full).unwrap();
        assert!(first < second && second.number() == 8 && second.received().0 == 1_000);
        let mut rows = EventRows::default();
        rows.append(&batch.clone().into_rows());
        rows.append(&batch.into_rows());
        assert_eq!(rows.len(), 4);
        let event = rows.event(3).unwrap();
        assert_eq!(event.tags, [("app".into(), "b".into()), ("zone".into(), "eu".into())]);
        assert_eq!((event.name.as_str(), event.user.as_deref()), ("b", Some("u")));
        assert_eq!(event.value.map(f64::to_bits), Some(0));
        assert_eq!(event.properties.as_deref(), Some(properties.as_str()));
        assert_eq!(rows.event(2), rows.event(0));
        assert_eq!(rows.event(4), None);
    }

    #[test]
    fn an_invalid_event_is_refused_and_the_batch_stays_usable() {
        let mut batch = batch();
        assert!(matches!(batch.push(&event("", &[])), Err(InvalidEvent::Name(_))));
        assert!(matches!(batch.push(&event("a", &[("", "x")])), Err(InvalidEvent::Tags(_))));
        let twice = [("k", "x"), ("k", "y")];
        assert!(matches!(batch.push(&event("a", &twice)), Err(InvalidEvent::Tags(_))));
        let bad = NewEvent { value: Some(f64::INFINITY), ..event("a", &[]) };
        assert_eq!(batch.push(&bad), Err(InvalidEvent::Value));
        for time in [-1, i64::MIN, i64::MAX] {
            let bad = NewEvent { time: TimestampMs(time), ..event("a", &[]) };
            assert_eq!(batch.push(&bad), Err(InvalidEvent::Time));
        }
        let long = "x".repeat(limits::USER_CHARS_MAX + 1);
        for user in ["", long.as_str()] {
            let bad = NewEvent { user: Some(user), ..event("a", &[]) };
            assert_eq!(batch.push(&bad), Err(InvalidEvent::User));
        }
        assert!(batch.is_empty());
    }
}
