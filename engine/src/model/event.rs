//! Events: occurrences with a name, a time and optional fields given by the sender.

use std::fmt;

use super::{Interval, Properties, TimestampMs};

/// The identity of an event: a ULID whose upper 48 bits are the time of receipt in milliseconds and
/// whose lower 80 bits are a counter. Ids therefore ascend in the order of receipt, and compress to
/// very few bytes on disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u128);

/// Returns the UTC day of an event, counted from 1970, or `None` if no event may have this time: it
/// is before 1970, or beyond the days that the key of a block has room for.
pub(crate) fn event_day(time: TimestampMs) -> Option<u32> {
    u32::try_from(time.0.div_euclid(Interval::DAY.ms())).ok()
}

/// Bits of an id below its time.
const NUMBER_BITS: u32 = 80;

impl EventId {
    /// Returns the id of the event with this number, received at this time.
    pub fn new(received: TimestampMs, number: u64) -> Self {
        let ms = u128::from(received.0.unsigned_abs()) & ((1 << 48) - 1);
        Self(ms << NUMBER_BITS | u128::from(number))
    }

    /// Returns the time at which the event was received.
    pub fn received(self) -> TimestampMs {
        TimestampMs((self.0 >> NUMBER_BITS) as i64)
    }

    /// Returns the number of the event: a counter over all events of the engine.
    pub fn number(self) -> u64 {
        self.0 as u64
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event#{}@{}", self.number(), self.received().0)
    }
}

/// An event as returned by queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The identity of the event.
    pub id: EventId,
    /// The kind of event, such as `order.paid`.
    pub name: String,
    /// The time of the event, given by the sender.
    pub time: TimestampMs,
    /// The user that the event belongs to.
    pub user: Option<String>,
    /// A finite number to aggregate.
    pub value: Option<f64>,
    /// Tags to filter and group by, sorted by key.
    pub tags: Vec<(String, String)>,
    /// Free-form data: the canonical JSON of [`Properties`].
    pub properties: Option<String>,
}

impl Event {
    /// Returns the bytes of the event in memory, approximately.
    pub(crate) fn bytes(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let of_tag = |(key, value): &(String, String)| {
            size_of::<(String, String)>() + key.len() + value.len()
        };
        let tags: usize = self.tags.iter().map(of_tag).sum();
        let texts = self.name.len() + optional(&self.user) + optional(&self.properties);
        size_of::<Self>() + texts + tags
    }
}

/// An event to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent<'a> {
    /// The kind of event: 1 to [`crate::limits::NAME_CHARS_MAX`] characters, no control characters.
    pub name: &'a str,
    /// The time of the event.
    pub time: TimestampMs,
    /// The user that the event belongs to: 1 to [`crate::limits::USER_CHARS_MAX`] characters.
    pub user: Option<&'a str>,
    /// A finite number to aggregate.
    pub value: Option<f64>,
    /// Tags in any order, within the limits of [`super::Tags`].
    pub tags: &'a [(&'a str, &'a str)],
    /// Free-form data.
    pub properties: Option<&'a Properties>,
}
