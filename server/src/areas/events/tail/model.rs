//! A request for new events, and the cursor with which the next one continues.

use std::fmt;
use std::time::Duration;

use telltale_engine::{EventFilter, EventTailPage};

/// A position among the events of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TailCursor {
    /// The process.
    pub(super) run: u64,
    /// The number of events written before.
    pub(super) position: u64,
}

/// A request for new events.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TailRequest {
    pub(super) filter: EventFilter,
    /// Where the response before ended; the present if absent.
    pub(super) after: Option<TailCursor>,
    pub(super) limit: usize,
    pub(super) wait: Duration,
}

/// New events, and how far they reach.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    pub(super) page: EventTailPage,
    /// Whether the cursor is of an earlier process, so that events may have been missed.
    pub(super) is_restarted: bool,
}

impl TailCursor {
    /// Parses a cursor; `None` if the text has another form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u64::from_str_radix(text, 16).ok()).flatten()
        };
        let (run, position) = text.split_once('-')?;
        Some(Self { run: number(run)?, position: number(position)? })
    }
}

impl fmt::Display for TailCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}", self.run, self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_can_be_parsed_back() {
        for (run, position) in [(0, 0), (7, 255), (u64::MAX, u64::MAX)] {
            let cursor = TailCursor { run, position };
            assert_eq!(TailCursor::parse(&cursor.to_string()), Some(cursor));
        }
        for bad in ["", "-", "1", "1-", "-1", "+1-1", "g-1", "1-1-1", "1-10000000000000000", "é-1"]
        {
            assert_eq!(TailCursor::parse(bad), None, "{bad}");
        }
    }
}
