//! What both formats have in common: rows, each with a point or the reason why there is none.

use std::io;

use telltale_engine::TimestampMs;

use crate::areas::metrics::{MetricsError, Point};
use crate::http::ApiError;

/// A place in a file, between two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Place {
    /// Bytes before it.
    pub(super) byte: u64,
    /// The line that begins there, from 1.
    pub(super) line: u64,
}

/// Where a chunk of rows ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// After so many rows.
    Rows(usize),
    /// At this byte: the chunk was read before and must be the same again.
    Byte(u64),
}

impl Until {
    /// Whether a chunk of `rows` rows that has come to `place` ends here.
    pub(super) fn reached(self, rows: usize, place: Place) -> bool {
        match self {
            Self::Rows(max) => rows >= max,
            Self::Byte(byte) => place.byte >= byte,
        }
    }
}

/// Why a row is not stored, in the words of the HTTP API.
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

/// Where rows go: the line they stand on, and their point or the reason why there is none.
pub(super) type Take<'t> = dyn FnMut(u64, Result<&Point<'_>, Reject>) + 't;

/// A file open for reading rows.
pub(super) trait RowReader {
    /// The place before the next row.
    fn place(&self) -> Place;

    /// Hands rows to `take` until the chunk ends or the file does. `now` is the time of rows without one.
    fn read(&mut self, until: Until, now: TimestampMs, take: &mut Take<'_>) -> io::Result<()>;
}
