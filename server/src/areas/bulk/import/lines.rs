//! Parses a body of newline-delimited JSON metric inputs. The rules for an input belong to the
//! metrics area.
//!
//! Errors name lines by their number, from 1, and by their index among the non-empty lines, from 0.

use serde::{Deserialize, Serialize};
use telltale_engine::{BatchBuilder, Engine, Memory, PointBatch, TimestampMs};

use crate::areas::bulk::intake::{BodyReader, LostPosition, PartSize, Progress};
use crate::areas::metrics;
use crate::http::{ApiError, BulkOutcome, BulkPlace, ErrorCode};
use crate::limits::BULK_LINE_BYTES_MAX;

/// A reader of the lines of a body.
pub(super) struct Lines<B> {
    body: B,
    /// The byte offset at which the next line starts.
    at: usize,
    /// The number of lines before it.
    lines: usize,
    /// The number of non-empty lines before it.
    items: usize,
    now: TimestampMs,
    memory: Memory,
}

impl<B: AsRef<[u8]>> Lines<B> {
    /// Creates a reader. `now` is the time of samples without a timestamp; `memory` accounts for
    /// the JSON documents of lines while they are parsed.
    pub(super) fn new(body: B, now: TimestampMs, memory: &Memory) -> Self {
        Self { body, at: 0, lines: 0, items: 0, now, memory: memory.clone() }
    }
}

/// The position up to which a body is parsed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Position {
    at: usize,
    lines: usize,
    items: usize,
    now_ms: i64,
}

impl<B: AsRef<[u8]>> BodyReader for Lines<B> {
    type Position = Position;

    fn read_part(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Result<Progress, LostPosition> {
        let (body, mut reader) = (self.body.as_ref(), metrics::Reader::new(self.now, &self.memory));
        while batch.len() < part.points_max {
            let rest = body.get(self.at..).ok_or(LostPosition)?;
            if rest.is_empty() {
                return Ok(Progress::Ended);
            }
            let end = memchr::memchr(b'\n', rest);
            let (line, _) = rest.split_at(end.unwrap_or(rest.len()));
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
        Ok(Progress::Paused)
    }

    fn position(&self) -> Position {
        Position { at: self.at, lines: self.lines, items: self.items, now_ms: self.now.0 }
    }

    fn resume(&mut self, position: Position) {
        let Position { at, lines, items, now_ms } = position;
        (self.at, self.lines, self.items, self.now) = (at, lines, items, TimestampMs(now_ms));
    }
}

/// Resolves a whole body to samples, finding or creating their series, and returns the outcome of
/// its lines.
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

/// Rewrites an error about the body, which was a single line, into an error about the line.
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
    use serde_json::json;
    use telltale_engine::{Maintenance, Options};

    use super::*;
    use crate::areas::bulk::intake::testing::{check_lost, check_resumes};

    #[test]
    fn a_repeated_request_resumes_in_the_middle_of_a_body() {
        let point = |kind: &str| format!("{{\"name\":\"{kind}\",\"type\":\"{kind}\",\"value\":1}}");
        let lines = ["gauge", "counter", "distribution"].map(point);
        let body =
            format!("{}\n\nbad\n{}\r\n  \n[]\n{}\n{}", lines[0], lines[1], lines[2], lines[1]);
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        check_resumes(&engine, |attempt| {
            Lines::new(&body, TimestampMs(1_000 + attempt as i64), engine.memory())
        });
        let position = json!({"at": body.len() + 1, "lines": 1, "items": 1, "now_ms": 1});
        check_lost(&engine, Lines::new(&body, TimestampMs(1_000), engine.memory()), position);
    }
}
