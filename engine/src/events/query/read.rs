//! The columns of one source that a question needs, read before anything is added up: what is damaged adds nothing.

use std::sync::Arc;

use super::super::{Codes, Numbers, Source, TextHashes};
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
    /// How many rows have each code, where that is all there is to know: then no row has been read.
    pub(super) counts: Option<Vec<u32>>,
    pub(super) hashes: Option<Arc<Vec<u64>>>,
    /// The texts of which each is counted once.
    pub(super) distinct: Option<Arc<TextHashes>>,
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
    let only_counted = wanted == Wanted::default();
    let in_one_piece = matched == u64::from(rows) && segments.len() == 1;
    let counted = match &query.group_by {
        Some(by) if only_counted && in_one_piece => source.counts(by)?,
        _ => None,
    };
    let (codes, counts) = match (&query.group_by, counted) {
        (None, _) => (None, None),
        (Some(_), Some(counted)) => {
            let (texts, counts) = counted.into_iter().unzip();
            (Some(Arc::new(Codes { texts, ..Codes::default() })), Some(counts))
        }
        (Some(by), None) => {
            let codes = source.groups(by)?;
            check_len(codes.codes.len(), rows as usize)?;
            (Some(codes), None)
        }
    };
    let hashes = wanted.users.then(|| source.user_hashes()).transpose()?;
    if let Some(hashes) = &hashes {
        check_len(hashes.len(), rows as usize)?;
    }
    let distinct = match &query.distinct {
        Some(of) if wanted.texts => Some(source.text_hashes(of)?),
        _ => None,
    };
    if let Some(texts) = &distinct {
        check_len(texts.codes.len(), rows as usize)?;
    }
    let numbers = match wanted.numbers {
        Keep::Nothing => Numbers::default(),
        _ => source.numbers(&query.field, &selected.clipped(rows))?,
    };
    check_len(numbers.values.len(), numbers.positions.len())?;
    Ok(Some(Read { selected, matched, rows, segments, codes, counts, hashes, distinct, numbers }))
}
