//! What a question reads: rows of events in the order of time and id, whether they lie in a block or in a chunk of the head.

use std::ops::Deref;
use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::error::Result;
use crate::model::{Event, EventField, EventGroupBy, EventId, NameFilter, TagFilter};

/// The code of a row that lacks what a column holds.
pub(crate) const NO_CODE: u32 = u32::MAX;

/// Some of the rows of a source, named by their positions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rows {
    /// All of them.
    All,
    /// These; none when empty.
    Some(RoaringBitmap),
}

impl Rows {
    /// No rows.
    pub(crate) fn none() -> Self {
        Self::Some(RoaringBitmap::new())
    }

    /// The rows in both.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, rows) | (rows, Self::All) => rows,
            (Self::Some(a), Self::Some(b)) => Self::Some(a & b),
        }
    }

    /// The rows in either, of so many.
    pub(crate) fn or(self, other: Self, rows: u32) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Some(a), Self::Some(b)) => {
                let either = a | b;
                if either.len() == u64::from(rows) { Self::All } else { Self::Some(either) }
            }
        }
    }

    /// The other ones of so many rows.
    pub(crate) fn complement(self, rows: u32) -> Self {
        match self {
            Self::All => Self::none(),
            Self::Some(some) if some.is_empty() => Self::All,
            Self::Some(some) => Self::Some(Self::All.to_bitmap(rows) - some),
        }
    }

    /// The rows as a bitmap.
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

/// A column of texts: a code for every row, and what the codes stand for.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    /// The texts, each once; a code is a position in here.
    pub(crate) texts: Vec<Box<str>>,
    /// One code per row, [`NO_CODE`] where the row has none.
    pub(crate) codes: Vec<u32>,
    /// The rows of each text, where the source keeps them: for columns of few texts.
    pub(crate) rows: Option<Vec<RoaringBitmap>>,
}

/// A column of texts as hashes: what is counted and not shown.
#[derive(Debug, Default)]
pub(crate) struct TextHashes {
    /// The [`crate::fingerprint::fingerprint`] of each text; a code is a position in here.
    pub(crate) hashes: Vec<u128>,
    /// One code per row, [`NO_CODE`] where the row has none.
    pub(crate) codes: Vec<u32>,
}

/// Texts of a column and how many rows have each.
pub(crate) type Counts = Vec<(Box<str>, u32)>;

/// Numbers of some rows.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Numbers {
    /// The positions of the rows that have one, ascending.
    pub(crate) positions: Vec<u32>,
    /// Their numbers.
    pub(crate) values: Vec<f64>,
}

/// A source that has not been looked into: all that is known of it costs no memory.
pub(crate) trait Unopened: std::fmt::Debug + Sync {
    /// How many rows there are.
    fn rows(&self) -> u32;

    /// The times of the first and the last row, milliseconds.
    fn time_bounds(&self) -> (i64, i64);

    /// The source, for as long as it is read. What it reads from disk is kept for as long, so it is closed soon: a question may meet
    /// more blocks than memory holds.
    fn open(&self) -> Result<Opened<'_>>;
}

/// A source that is read.
pub(crate) enum Opened<'a> {
    /// One that is in memory anyway.
    Kept(&'a dyn Source),
    /// One that was opened.
    Read(Box<dyn Source + 'a>),
}

impl<'a> Deref for Opened<'a> {
    type Target = dyn Source + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Kept(source) => *source,
            Self::Read(source) => source.as_ref(),
        }
    }
}

impl<S: Source> Unopened for S {
    fn rows(&self) -> u32 {
        Source::rows(self)
    }

    fn time_bounds(&self) -> (i64, i64) {
        Source::time_bounds(self)
    }

    fn open(&self) -> Result<Opened<'_>> {
        Ok(Opened::Kept(self))
    }
}

/// Rows of events, sorted by time, then id. Row 0 is the oldest. All methods may read from disk.
pub(crate) trait Source: std::fmt::Debug + Sync {
    /// How many rows there are.
    fn rows(&self) -> u32;

    /// The times of the first and the last row, milliseconds. Costs nothing.
    fn time_bounds(&self) -> (i64, i64);

    /// The times of all rows, ascending.
    fn times(&self) -> Result<Arc<Vec<i64>>>;

    /// The ids of some rows.
    fn ids(&self, positions: &[u32]) -> Result<Vec<EventId>>;

    /// The rows whose name matches.
    fn with_name(&self, filter: &NameFilter) -> Result<Rows>;

    /// Those of `rows` whose name matches.
    fn named_among(&self, filter: &NameFilter, rows: Rows) -> Result<Rows> {
        Ok(rows.and(self.with_name(filter)?))
    }

    /// The rows of a user.
    fn with_user(&self, user: &str) -> Result<Rows>;

    /// The rows whose tag matches. A row without the tag matches as [`crate::TagCondition::matches_absent`] says.
    fn with_tag(&self, filter: &TagFilter) -> Result<Rows>;

    /// How many rows have each text of the column that makes the groups, where that is known without reading rows.
    fn counts(&self, by: &EventGroupBy) -> Result<Option<Counts>>;

    /// The column that makes the groups.
    fn groups(&self, by: &EventGroupBy) -> Result<Arc<Codes>>;

    /// The same column, of which only the hashes of texts are wanted.
    fn text_hashes(&self, of: &EventGroupBy) -> Result<Arc<TextHashes>>;

    /// [`crate::sketch::hash_member`] of the user of every row, 0 where there is none.
    fn user_hashes(&self) -> Result<Arc<Vec<u64>>>;

    /// The numbers of those of `rows` that have one.
    fn numbers(&self, field: &EventField, rows: &Rows) -> Result<Numbers>;

    /// Some rows as events, in the order of `positions`.
    fn events(&self, positions: &[u32]) -> Result<Vec<Event>>;
}
