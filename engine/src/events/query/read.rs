//! The columns of one source that a question needs, read before anything is added up: what is damaged adds nothing.

use std::sync::Arc;

use super::super::{Codes, Numbers, Source};
use super::cell::{Keep, Wanted};
use super::page::check_len;
use super::select::{Segment, Selected, segments, select};
use crate::error::Result;
use crate::model::{EventQuery, Interval};

/// What one source has to say.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) selected: Selected,
    /// How many rows are selected.
    pub(super) matched: u64,
    /// How many rows there are.
    pub(super) rows: u32,
    /// The buckets that hold selected rows.
    pub(super) segments: Vec<Segment>,
    /// What makes the groups.
    pub(super) codes: Option<Arc<Codes>>,
    pub(super) hashes: Option<Arc<Vec<u64>>>,
    /// Of selected rows only.
    pub(super) numbers: Numbers,
}

/// Reads a source; nothing when none of its rows match.
pub(super) fn read(
    source: &dyn Source,
    query: &EventQuery,
    wanted: Wanted,
) -> Result<Option<Read>> {
    let selected = select(source, &query.filter)?;
    let (matched, rows) = (selected.len(), source.rows());
    if matched == 0 {
        return Ok(None);
    }
    let width = query.interval.map(Interval::ms);
    let segments = segments(source, &selected, query.filter.range, width)?;
    let codes = query.group_by.as_ref().map(|by| source.groups(by)).transpose()?;
    if let Some(codes) = &codes {
        check_len(codes.codes.len(), rows as usize)?;
    }
    let hashes = wanted.users.then(|| source.user_hashes()).transpose()?;
    if let Some(hashes) = &hashes {
        check_len(hashes.len(), rows as usize)?;
    }
    let numbers = match wanted.numbers {
        Keep::Nothing => Numbers::default(),
        _ => source.numbers(&query.field, &selected.clipped(rows))?,
    };
    check_len(numbers.values.len(), numbers.positions.len())?;
    Ok(Some(Read { selected, matched, rows, segments, codes, hashes, numbers }))
}
