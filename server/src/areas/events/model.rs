//! What the area works with: what became of a batch, a place in the list, and a page of it.

use telltale_engine::{EventId, EventListQuery, TimestampMs};

use super::error::InputError;
use crate::platform::ids;
use crate::platform::telemetry::batch;

/// Characters of a ULID.
const ULID_CHARS: usize = 26;

/// What became of a batch.
pub type Outcome = batch::Outcome<InputError>;

/// The text before the ULID of an event.
pub(super) const ID_PREFIX: &str = "evt_";

/// Where a page of the list ended: the next one goes on after it, whatever comes in meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The time of the last event of the page.
    pub(super) time: TimestampMs,
    /// Its id.
    pub(super) id: EventId,
}

/// A page of the list, and how the answer shall look.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listing {
    /// What the engine is asked: one event more than the page holds, to know whether there are more.
    pub(super) query: EventListQuery,
    /// Events of the page at most.
    pub(super) limit: usize,
}

impl Cursor {
    /// The cursor as callers get it: the ULID, then the time in hexadecimal milliseconds.
    pub(super) fn text(self) -> String {
        ids::with_ulid_text(self.id.0, |ulid| format!("{ulid}{:x}", self.time.0))
    }

    /// Reads what [`Self::text`] writes, and nothing else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (ulid, time) = text.split_at_checked(ULID_CHARS)?;
        let id = EventId(ids::parse_ulid(ulid)?);
        let time = TimestampMs(i64::from_str_radix(time, 16).ok()?);
        let cursor = Self { time, id };
        (cursor.text() == text).then_some(cursor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_cursor_is_refused() {
        let good = Cursor { time: TimestampMs(0x19b), id: EventId(7) }.text();
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
        fn cursors_read_back(time in 0_i64..i64::MAX, id: u128) {
            let cursor = Cursor { time: TimestampMs(time), id: EventId(id) };
            prop_assert_eq!(Cursor::parse(&cursor.text()), Some(cursor));
        }

        #[test]
        fn no_text_is_a_panic(text in "\\PC{0,60}") {
            Cursor::parse(&text);
        }
    }
}
