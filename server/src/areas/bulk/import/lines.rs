//! A body of lines, each one metric input in JSON. What an input may be is the metrics area's to know.
//!
//! Lines are told by their number from 1, and by their index among those that are not empty from 0.

use telltale_engine::{BatchBuilder, TimestampMs};

use crate::areas::bulk::intake::{Progress, Reading, is_full};
use crate::areas::metrics;
use crate::http::{ApiError, BulkOutcome, BulkPlace, ErrorCode};
use crate::limits::BULK_LINE_BYTES_MAX;

/// The lines of a body that are not read yet.
pub(super) struct Lines {
    body: Vec<u8>,
    /// Where the next line begins.
    at: usize,
    /// Lines before it.
    lines: usize,
    /// Those of them that are not empty.
    items: usize,
    now: TimestampMs,
}

impl Lines {
    /// `now` is the time of points that have none.
    pub(super) fn new(body: Vec<u8>, now: TimestampMs) -> Self {
        Self { body, at: 0, lines: 0, items: 0, now }
    }
}

impl Reading for Lines {
    fn read_on(&mut self, batch: &mut BatchBuilder<'_>, outcome: &mut BulkOutcome) -> Progress {
        while !is_full(batch) {
            let rest = self.body.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                return Progress::Ended;
            }
            let end = memchr::memchr(b'\n', rest);
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            self.at += line.len() + usize::from(end.is_some());
            self.lines += 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = BulkPlace { index: Some(self.items), line: Some(self.lines) };
            self.items += 1;
            match read(batch, self.now, line) {
                Ok(()) => outcome.accept(),
                Err(error) => outcome.reject(place, error),
            }
        }
        Progress::Paused
    }
}

fn read(batch: &mut BatchBuilder<'_>, now: TimestampMs, line: &[u8]) -> Result<(), ApiError> {
    if line.len() > BULK_LINE_BYTES_MAX {
        let message = format!("a line has at most {BULK_LINE_BYTES_MAX} bytes");
        return Err(ApiError::new(ErrorCode::InvalidParameter, message));
    }
    Ok(metrics::resolve_into(batch, now, line)?)
}
