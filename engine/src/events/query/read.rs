//! The columns of one source that a question needs, read before anything is added up: what is damaged adds nothing.

use std::sync::Arc;

use super::super::{Codes, Numbers, Source, TextHashes};
use super::ask::QueryContext;
use super::cell::{Keep, Wanted};
use super::page::check_len;
use super::select::{Segment, Selected, segments, select};
use super::several::{Combined, combine};
use crate::asking::BorrowedMemory;
use crate::error::Result;
use crate::model::{EventGroupBy, EventQuery, Interval};

/// What one source has to say.
#[derive(Debug)]
pub(super) struct Read<'c> {
    pub(super) selected: Selected,
    /// How many rows are selected.
    pub(super) matched: u64,
    /// How many rows there are.
    pub(super) rows: u32,
    /// The buckets that hold selected rows.
    pub(super) segments: Vec<Segment>,
    /// What makes the groups.
    pub(super) codes: Option<Arc<Codes>>,
    /// What the question has taken for them, until they are added up.
    _memory: Option<BorrowedMemory<'c>>,
    /// How many rows have each code, where that is all there is to know: then no row has been read.
    pub(super) counts: Option<Vec<u32>>,
    pub(super) hashes: Option<Arc<Vec<u64>>>,
    /// The texts of which each is counted once.
    pub(super) distinct: Option<Arc<TextHashes>>,
    /// Of selected rows only.
    pub(super) numbers: Numbers,
}

/// Reads a source; nothing when none of its rows match.
pub(super) fn read<'c>(
    source: &dyn Source,
    query: &EventQuery,
    wanted: Wanted,
    context: &QueryContext<'c>,
) -> Result<Option<Read<'c>>> {
    let selected = select(source, &query.filter)?;
    let (matched, rows) = (selected.len(), source.rows());
    if matched == 0 {
        return Ok(None);
    }
    let width = query.interval.map(Interval::ms);
    let segments = segments(source, &selected, query.filter.range, width)?;
    let only_counted = wanted == Wanted::default();
    let in_one_piece = matched == u64::from(rows) && segments.len() == 1;
    let by_rows = !(only_counted && in_one_piece);
    let Grouped { codes, counts, memory } =
        group(source, &query.group_by, &selected, by_rows, context)?;
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
    Ok(Some(Read {
        selected,
        matched,
        rows,
        segments,
        codes,
        _memory: memory,
        counts,
        hashes,
        distinct,
        numbers,
    }))
}

/// What makes the groups of a source.
#[derive(Debug, Default)]
struct Grouped<'c> {
    codes: Option<Arc<Codes>>,
    counts: Option<Vec<u32>>,
    memory: Option<BorrowedMemory<'c>>,
}

/// Reads what makes the groups: by rows, or only how many rows have each text, where that is known and suffices.
fn group<'c>(
    source: &dyn Source,
    by: &[EventGroupBy],
    selected: &Selected,
    by_rows: bool,
    context: &QueryContext<'c>,
) -> Result<Grouped<'c>> {
    let by = match by {
        [] => return Ok(Grouped::default()),
        [by] => by,
        several => {
            let Combined { codes, memory } = combine(source, several, selected, context)?;
            let (codes, memory) = (Some(Arc::new(codes)), Some(memory));
            return Ok(Grouped { codes, counts: None, memory });
        }
    };
    let counted = if by_rows { None } else { source.counts(by)? };
    if let Some(counted) = counted {
        let (texts, counts) = counted.into_iter().unzip();
        let codes = Some(Arc::new(Codes { texts, ..Codes::default() }));
        return Ok(Grouped { codes, counts: Some(counts), memory: None });
    }
    let codes = source.groups(by)?;
    check_len(codes.codes.len(), source.rows() as usize)?;
    Ok(Grouped { codes: Some(codes), counts: None, memory: None })
}
