//! Rows of both formats: each is a sample or the reason why it is rejected.

use std::io;

use telltale_engine::TimestampMs;

use crate::areas::metrics::{MetricsError, Point};
use crate::http::ApiError;

/// A position in a file, between two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct FilePosition {
    /// The byte offset.
    pub(super) byte: u64,
    /// The number of the line that starts there, from 1.
    pub(super) line: u64,
}

/// Where a chunk of rows ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkEnd {
    /// After this many rows.
    Rows(usize),
    /// At this byte offset: the chunk was read before and must be the same again.
    Byte(u64),
}

impl ChunkEnd {
    /// Returns whether a chunk of `rows` rows that has reached `position` ends here.
    pub(super) fn reached(self, rows: usize, position: FilePosition) -> bool {
        match self {
            Self::Rows(max) => rows >= max,
            Self::Byte(byte) => position.byte >= byte,
        }
    }
}

/// Why a row is rejected, with the code and message of the HTTP API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reject {
    pub(super) code: String,
    pub(super) message: String,
}

impl From<MetricsError> for Reject {
    fn from(error: MetricsError) -> Self {
        let error = ApiError::from(error);
        Self { code: error.code().as_str().to_owned(), message: error.message().to_owned() }
    }
}

/// Receives each row: the line on which it starts, and its sample or the reason of its rejection.
pub(super) type RowCallback<'t> = dyn FnMut(u64, Result<&Point<'_>, Reject>) + 't;

/// A file open for reading rows.
pub(super) trait RowReader {
    /// Returns the position before the next row.
    fn position(&self) -> FilePosition;

    /// Passes rows to `take` until the chunk or the file ends. `now` is the timestamp of rows
    /// without one.
    fn read(
        &mut self,
        until: ChunkEnd,
        now: TimestampMs,
        take: &mut RowCallback<'_>,
    ) -> io::Result<()>;
}
