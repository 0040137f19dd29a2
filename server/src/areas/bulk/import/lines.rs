//! A body of lines, each one metric input in JSON. What an input may be is the metrics area's to know.
//!
//! Lines are told by their number from 1, and by their index among those that are not empty from 0.

use serde::{Deserialize, Serialize};
use telltale_engine::{BatchBuilder, Engine, Memory, PointBatch, TimestampMs};

use crate::areas::bulk::intake::{PartSize, Progress, Reading};
use crate::areas::metrics;
use crate::http::{ApiError, BulkOutcome, BulkPlace, ErrorCode};
use crate::limits::BULK_LINE_BYTES_MAX;

/// The lines of a body that are not read yet.
pub(super) struct Lines<B> {
    body: B,
    /// Where the next line begins.
    at: usize,
    /// Lines before it.
    lines: usize,
    /// Those of them that are not empty.
    items: usize,
    now: TimestampMs,
    memory: Memory,
}

impl<B: AsRef<[u8]>> Lines<B> {
    /// `now` is the time of points that have none; documents of lines are in `memory` while they are read.
    pub(super) fn new(body: B, now: TimestampMs, memory: &Memory) -> Self {
        Self { body, at: 0, lines: 0, items: 0, now, memory: memory.clone() }
    }
}

/// How far a body is read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reached {
    at: usize,
    lines: usize,
    items: usize,
    now_ms: i64,
}

impl<B: AsRef<[u8]>> Reading for Lines<B> {
    type Reached = Reached;

    fn read_on(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Progress {
        let (body, mut reader) = (self.body.as_ref(), metrics::Reader::new(self.now, &self.memory));
        while batch.len() < part.points_max {
            let rest = body.get(self.at..).unwrap_or_default();
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
            match read(&mut reader, batch, line) {
                Ok(()) => outcome.accept(),
                Err(error) => outcome.reject(place, error),
            }
        }
        Progress::Paused
    }

    fn reached(&self) -> Reached {
        Reached { at: self.at, lines: self.lines, items: self.items, now_ms: self.now.0 }
    }

    fn go_on(&mut self, reached: Reached) {
        let Reached { at, lines, items, now_ms } = reached;
        (self.at, self.lines, self.items, self.now) = (at, lines, items, TimestampMs(now_ms));
    }
}

/// The points of a body, and what became of its lines. The series of the points are found, or made.
pub fn resolve_lines(engine: &Engine, body: &[u8], now: TimestampMs) -> (PointBatch, BulkOutcome) {
    Lines::new(body, now, engine.memory()).read_whole(engine)
}

fn read<'b>(
    reader: &mut metrics::Reader<'b>,
    batch: &mut BatchBuilder<'_>,
    line: &'b [u8],
) -> Result<(), ApiError> {
    if line.len() > BULK_LINE_BYTES_MAX {
        let message = format!("a line may have at most {BULK_LINE_BYTES_MAX} bytes");
        return Err(ApiError::new(ErrorCode::InvalidParameter, message));
    }
    metrics::resolve_into(reader, batch, line).map_err(|error| of_line(error.into()))
}

/// A line is read as a body of its own, whose first line it is: what is told of that is told of the line.
fn of_line(error: ApiError) -> ApiError {
    match error.message().strip_prefix("the body ") {
        Some(rest) => {
            let rest = rest.replace(" at line 1, column ", " at column ");
            ApiError::new(error.code(), format!("the line {rest}"))
        }
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::{Maintenance, Options};

    use super::*;
    use crate::areas::bulk::intake::testing::check_goes_on;

    #[test]
    fn a_body_is_read_on_by_another_attempt() {
        let point = |kind: &str| format!("{{\"name\":\"{kind}\",\"type\":\"{kind}\",\"value\":1}}");
        let lines = ["gauge", "counter", "distribution"].map(point);
        let body =
            format!("{}\n\nbad\n{}\r\n  \n[]\n{}\n{}", lines[0], lines[1], lines[2], lines[1]);
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        check_goes_on(&engine, |attempt| {
            Lines::new(&body, TimestampMs(1_000 + attempt as i64), engine.memory())
        });
    }
}
