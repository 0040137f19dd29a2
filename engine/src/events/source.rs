//! What a query reads: rows of events ordered by time and id, from a block or from a chunk of the
//! head.

use std::ops::Deref;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::{NumbersInUse, RowNumbers};
use crate::error::Result;
use crate::model::{Event, EventField, EventGroupBy, EventId, NameFilter, TagFilter};

/// The code of a row that has no string in a column.
pub(crate) const NO_CODE: u32 = u32::MAX;

/// A set of rows of a source, by position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RowSet {
    /// All rows.
    All,
    /// These rows; an empty bitmap means none.
    Some(RoaringBitmap),
}

impl RowSet {
    /// Returns the empty set.
    pub(crate) fn none() -> Self {
        Self::Some(RoaringBitmap::new())
    }

    /// Returns the intersection.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, rows) | (rows, Self::All) => rows,
            (Self::Some(a), Self::Some(b)) => Self::Some(a & b),
        }
    }

    /// Returns the union, for a source of `rows` rows.
    pub(crate) fn or(self, other: Self, rows: u32) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Some(a), Self::Some(b)) => {
                let either = a | b;
                if either.len() == u64::from(rows) { Self::All } else { Self::Some(either) }
            }
        }
    }

    /// Returns the complement, for a source of `rows` rows.
    pub(crate) fn complement(self, rows: u32) -> Self {
        match self {
            Self::All => Self::none(),
            Self::Some(some) if some.is_empty() => Self::All,
            Self::Some(some) => Self::Some(Self::All.to_bitmap(rows) - some),
        }
    }

    /// Returns the number of rows, for a source of `rows` rows.
    pub(crate) fn len(&self, rows: u32) -> u64 {
        match self {
            Self::All => u64::from(rows),
            Self::Some(some) => some.len(),
        }
    }

    /// Calls `visit` with each row, ascending, for a source of `rows` rows.
    pub(crate) fn each(&self, rows: u32, visit: &mut dyn FnMut(u32)) {
        match self {
            Self::All => (0..rows).for_each(visit),
            Self::Some(some) => some.iter().for_each(visit),
        }
    }

    /// Returns the set as a bitmap, for a source of `rows` rows.
    pub(crate) fn to_bitmap(&self, rows: u32) -> RoaringBitmap {
        match self {
            Self::All => {
                let mut all = RoaringBitmap::new();
                all.insert_range(0..rows);
                all
            }
            Self::Some(bitmap) => bitmap.clone(),
        }
    }
}

/// A dictionary-encoded column of strings.
#[derive(Debug, Default)]
pub(crate) struct CodedColumn {
    /// The distinct strings; a code is an index into this.
    pub(crate) strings: Vec<Box<str>>,
    /// One code per row, [`NO_CODE`] where the row has no string.
    pub(crate) codes: Vec<u32>,
    /// The rows of each string, where the source keeps bitmaps: for columns with few distinct
    /// strings.
    pub(crate) rows: Option<Vec<RoaringBitmap>>,
}

/// A column of strings as hashes, for counting distinct strings without returning them.
#[derive(Debug, Default)]
pub(crate) struct StringHashes {
    /// The [`crate::fingerprint::fingerprint`] of each distinct string; a code is an index into
    /// this.
    pub(crate) hashes: Vec<u128>,
    /// One code per row, [`NO_CODE`] where the row has no string.
    pub(crate) codes: Vec<u32>,
}

/// The distinct strings of a column with the number of rows of each.
pub(crate) type StringCounts = Vec<(Box<str>, u32)>;

/// The numbers of some rows.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Numbers {
    /// The positions of the rows that have a number, ascending.
    pub(crate) positions: Vec<u32>,
    /// The number of each of these rows.
    pub(crate) values: Vec<f64>,
}

/// A source that is not open. Its bounds are in memory.
pub(crate) trait ClosedSource: std::fmt::Debug + Sync {
    /// Returns the number of rows.
    fn rows(&self) -> u32;

    /// Returns the times of the first and the last row, in milliseconds.
    fn time_bounds(&self) -> (i64, i64);

    /// Opens the source. What it reads from disk stays in memory until it is dropped, so keep it
    /// open briefly: a query can cover more blocks than fit into memory.
    fn open(&self) -> Result<OpenSource<'_>>;
}

/// A source that is open.
pub(crate) enum OpenSource<'a> {
    /// A source that is in memory anyway.
    Borrowed(&'a dyn EventSource),
    /// A source that was opened for this query.
    Owned(Box<dyn EventSource + 'a>),
}

impl<'a> Deref for OpenSource<'a> {
    type Target = dyn EventSource + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Borrowed(source) => *source,
            Self::Owned(source) => source.as_ref(),
        }
    }
}

impl<S: EventSource> ClosedSource for S {
    fn rows(&self) -> u32 {
        EventSource::rows(self)
    }

    fn time_bounds(&self) -> (i64, i64) {
        EventSource::time_bounds(self)
    }

    fn open(&self) -> Result<OpenSource<'_>> {
        Ok(OpenSource::Borrowed(self))
    }
}

/// Rows of events, sorted by time, then id; row 0 is the oldest. Any method may read from disk
/// unless noted.
pub(crate) trait EventSource: std::fmt::Debug + Sync {
    /// Returns the number of rows. Does not read from disk.
    fn rows(&self) -> u32;

    /// Returns the times of the first and the last row, in milliseconds. Does not read from disk.
    fn time_bounds(&self) -> (i64, i64);

    /// Returns the times of all rows, ascending.
    fn times(&self) -> Result<Arc<Vec<i64>>>;

    /// Returns the ids of some rows.
    fn ids(&self, positions: &[u32]) -> Result<Vec<EventId>>;

    /// Returns the rows whose name matches.
    fn with_name(&self, filter: &NameFilter) -> Result<RowSet>;

    /// Returns those of `rows` whose name matches.
    fn named_among(&self, filter: &NameFilter, rows: RowSet) -> Result<RowSet> {
        Ok(rows.and(self.with_name(filter)?))
    }

    /// Returns the rows of a user.
    fn with_user(&self, user: &str) -> Result<RowSet>;

    /// Returns the rows whose tag matches. Whether a row without the tag matches is decided by
    /// [`crate::TagCondition::matches_absent`].
    fn with_tag(&self, filter: &TagFilter) -> Result<RowSet>;

    /// Returns the number of rows of each string of the grouping column, if known without reading
    /// rows.
    fn counts(&self, by: &EventGroupBy) -> Result<Option<StringCounts>>;

    /// Returns the grouping column.
    fn groups(&self, by: &EventGroupBy) -> Result<Arc<CodedColumn>>;

    /// Returns the grouping column with hashes in place of strings.
    fn string_hashes(&self, of: &EventGroupBy) -> Result<Arc<StringHashes>>;

    /// Returns the numbers of the strings of at least those of `rows` that have one. `None` if no
    /// row has one.
    fn string_numbers(
        &self,
        of: &EventGroupBy,
        numbers: &NumbersInUse<'_>,
        rows: &RowSet,
    ) -> Result<Option<Arc<RowNumbers>>> {
        let (numbers, _) = numbers.of_rows(&*self.string_hashes(of)?, rows);
        Ok(Some(Arc::new(numbers)))
    }

    /// Returns [`crate::sketch::hash_member`] of the user of every row, 0 where there is none.
    fn user_hashes(&self) -> Result<Arc<Vec<u64>>>;

    /// Returns the numbers of those of `rows` that have one.
    fn numbers(&self, field: &EventField, rows: &RowSet) -> Result<Numbers>;

    /// Returns some rows as events, in the order of `positions`.
    fn events(&self, positions: &[u32]) -> Result<Vec<Event>>;
}
