//! Newline-delimited JSON: one metric input per line, in the form of `POST /api/v1/metrics`. Empty
//! lines are skipped.

use std::io::{self, BufRead, BufReader, Read};

use telltale_engine::{MetricName, Refusal, Tags, TimestampMs};

use super::rows::{ChunkEnd, FilePosition, Reject, RowCallback, RowReader};
use crate::areas::metrics::{Point, read_one};

/// Bytes of one line: the limit of a body with one metric. A longer line is skipped without
/// buffering it.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// An NDJSON file.
#[derive(Debug)]
pub(super) struct NdjsonReader<R> {
    input: BufReader<R>,
    position: FilePosition,
    line: Vec<u8>,
}

impl<R: Read> NdjsonReader<R> {
    /// Reads the lines of an input that starts at this position.
    pub(super) fn new(input: R, position: FilePosition) -> Self {
        Self { input: BufReader::with_capacity(256 << 10, input), position, line: Vec::new() }
    }

    /// Reads a line into the buffer, up to the limit of a line. Returns the bytes of the line in
    /// the file; 0 at the end.
    fn next_line(&mut self) -> io::Result<u64> {
        self.line.clear();
        let mut bytes =
            (&mut self.input).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut self.line)? as u64;
        if bytes > LINE_BYTES_MAX && !self.line.ends_with(b"\n") {
            bytes += self.input.skip_until(b'\n')? as u64;
        }
        Ok(bytes)
    }
}

impl<R: Read> RowReader for NdjsonReader<R> {
    fn position(&self) -> FilePosition {
        self.position
    }

    fn read(
        &mut self,
        until: ChunkEnd,
        now: TimestampMs,
        take: &mut RowCallback<'_>,
    ) -> io::Result<()> {
        let mut rows = 0;
        while !until.reached(rows, self.position) {
            let bytes = self.next_line()?;
            if bytes == 0 {
                return Ok(());
            }
            let line = self.position.line;
            self.position = FilePosition { byte: self.position.byte + bytes, line: line + 1 };
            if bytes > LINE_BYTES_MAX {
                take(line, Err(too_long()));
            } else if !self.line.trim_ascii().is_empty() {
                one(&self.line, now, line, take);
            } else {
                continue;
            }
            rows += 1;
        }
        Ok(())
    }
}

fn one(text: &[u8], now: TimestampMs, line: u64, take: &mut RowCallback<'_>) {
    let mut taken = false;
    let read = read_one(text, now, |point| {
        check(point)?;
        taken = true;
        take(line, Ok(point));
        Ok(())
    });
    if let Err(error) = read
        && !taken
    {
        take(line, Err(error.into()));
    }
}

/// Applies the checks that the engine makes regardless of its state, so that a running and a
/// stopped server reject the same rows.
fn check(point: &Point<'_>) -> Result<(), Refusal> {
    MetricName::check_given(point.name)?;
    Tags::new(point.tags)?;
    Ok(())
}

fn too_long() -> Reject {
    Reject {
        code: "payload_too_large".to_owned(),
        message: format!("the line has more than {LINE_BYTES_MAX} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

    /// Reads the lines in chunks of `rows`; returns the result of each.
    fn chunks(text: &str, rows: usize) -> Vec<String> {
        let mut reader = NdjsonReader::new(text.as_bytes(), FilePosition { byte: 0, line: 1 });
        let mut seen = Vec::new();
        loop {
            let before = reader.position();
            let mut take = |line: u64, row: Result<&Point<'_>, Reject>| {
                seen.push(match row {
                    Ok(point) => format!(
                        "{line}: {} {} {:?} {:?}",
                        point.name, point.kind, point.value, point.tags
                    ),
                    Err(reject) => format!("{line}: {}", reject.code),
                });
            };
            reader.read(ChunkEnd::Rows(rows), NOW, &mut take).unwrap();
            if reader.position() == before {
                assert_eq!(before.byte, text.len() as u64);
                return seen;
            }
            seen.push(format!("at {}", reader.position().byte));
        }
    }

    #[test]
    fn lines_are_samples_or_rejected_by_number() {
        let text = "{\"name\":\"a\",\"type\":\"gauge\",\"value\":1}\n\n nonsense\r\n{\"name\":\"b\",\"type\":\"set\",\"value\":\"m\",\"tags\":{\"k\":7}}";
        assert_eq!(
            chunks(text, 2),
            [
                "1: a gauge Number(1.0) []",
                "3: invalid_json",
                "at 50",
                "4: b set Member(\"m\") [(\"k\", \"7\")]",
                "at 102"
            ]
        );
    }

    #[test]
    fn invalid_names_and_tags_are_rejected() {
        let text = "{\"name\":\"a\\u0001\",\"type\":\"gauge\",\"value\":1}\n{\"name\":\"a\",\"type\":\"gauge\",\"value\":1,\"tags\":{\"\":1}}\n";
        let seen = chunks(text, 10);
        assert_eq!(seen[..2], ["1: invalid_name", "2: invalid_tags"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_as_a_whole() {
        let text =
            format!("{}\n{{\"name\":\"a\",\"type\":\"gauge\",\"value\":1}}\n", "x".repeat(3 << 20));
        let seen = chunks(&text, 10);
        assert_eq!(seen[..2], ["1: payload_too_large", "2: a gauge Number(1.0) []"]);
    }
}
