//! The types of the area: the outcome of a batch, a position in the list, and a page of the list.

use telltale_engine::{EventId, EventListQuery, TimestampMs};

use super::error::InputError;
use crate::platform::ids;
use crate::platform::telemetry::batch;

/// Characters of a ULID.
const ULID_CHARS: usize = 26;

/// The outcome of a batch.
pub type Outcome = batch::Outcome<InputError>;

/// The prefix of event ids, followed by a ULID.
pub(super) const ID_PREFIX: &str = "evt_";

/// The position at which a page of the list ended. The next page continues after it, regardless of
/// events that arrive meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The time of the last event of the page.
    pub(super) time: TimestampMs,
    /// The id of that event.
    pub(super) id: EventId,
}

/// A query for a page of the list, and the form of its response.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListRequest {
    /// The engine query: one event more than the page, to determine whether there is a next page.
    pub(super) query: EventListQuery,
    /// Maximum number of events of the page.
    pub(super) limit: usize,
}

impl Cursor {
    /// Returns the cursor as sent to clients: the ULID, then the time in hexadecimal milliseconds.
    pub(super) fn encoded(self) -> String {
        ids::with_ulid_text(self.id.0, |ulid| format!("{ulid}{:x}", self.time.0))
    }

    /// Parses a cursor; `None` unless it is exactly in the form of [`Self::encoded`].
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (ulid, time) = text.split_at_checked(ULID_CHARS)?;
        let id = EventId(ids::parse_ulid(ulid)?);
        let time = TimestampMs(i64::from_str_radix(time, 16).ok()?);
        let cursor = Self { time, id };
        (cursor.encoded() == text).then_some(cursor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invalid_cursors_are_refused() {
        let good = Cursor { time: TimestampMs(0x19b), id: EventId(7) }.encoded();
        assert_eq!(good, "0000000000000000000000000719b");
        for bad in [
            "",
            "x",
            "00000000000000000000000007",
            "00000000000000000000000007-1",
            "0000000000000000000000000719B",
            "00000000000000000000000007+19b",
            "000000000000000000000000070019b",
            "80000000000000000000000007 19b",
            "é0000000000000000000000007é19b",
            "0000000000000000000000000I19b",
            "00000000000000000000000007ffffffffffffffffff",
        ] {
            assert_eq!(Cursor::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn cursors_can_be_parsed_back(time in 0_i64..i64::MAX, id: u128) {
            let cursor = Cursor { time: TimestampMs(time), id: EventId(id) };
            prop_assert_eq!(Cursor::parse(&cursor.encoded()), Some(cursor));
        }

        #[test]
        fn no_input_causes_a_panic(text in "\\PC{0,60}") {
            Cursor::parse(&text);
        }
    }
}
