//! Events: things that happened, each with a name, a time and what the sender wants to say about it.

use std::fmt;

use super::{Properties, TimestampMs};

/// The identity of an event: a ULID, 48 bits of time of receipt over an 80-bit number that counts up. So ids ascend in the
/// order of receipt, and take next to nothing on disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u128);

/// Bits of an id below its time.
const NUMBER_BITS: u32 = 80;

impl EventId {
    /// The id of the event with this number, received at this time.
    pub fn new(received: TimestampMs, number: u64) -> Self {
        let ms = u128::from(received.0.unsigned_abs()) & ((1 << 48) - 1);
        Self(ms << NUMBER_BITS | u128::from(number))
    }

    /// When the event was received.
    pub fn received(self) -> TimestampMs {
        TimestampMs((self.0 >> NUMBER_BITS) as i64)
    }

    /// The number of the event among all that the engine has taken.
    pub fn number(self) -> u64 {
        self.0 as u64
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event#{}@{}", self.number(), self.received().0)
    }
}

/// One event, as it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its identity.
    pub id: EventId,
    /// What happened, such as `order.paid`.
    pub name: String,
    /// When.
    pub time: TimestampMs,
    /// To whom.
    pub user: Option<String>,
    /// How much: a finite number.
    pub value: Option<f64>,
    /// What to filter and group by, sorted by key.
    pub tags: Vec<(String, String)>,
    /// Everything else: the text of [`Properties`].
    pub properties: Option<String>,
}

impl Event {
    /// Bytes in memory, about.
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

/// One event, as it is written.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent<'a> {
    /// What happened: 1 to [`crate::limits::NAME_CHARS_MAX`] characters, none of them a control character.
    pub name: &'a str,
    /// When.
    pub time: TimestampMs,
    /// To whom: 1 to [`crate::limits::USER_CHARS_MAX`] characters.
    pub user: Option<&'a str>,
    /// How much: finite.
    pub value: Option<f64>,
    /// Tags in any order; the rules of [`super::Tags`] hold.
    pub tags: &'a [(&'a str, &'a str)],
    /// Everything else.
    pub properties: Option<&'a Properties>,
}
