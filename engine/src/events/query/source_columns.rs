//! Reads all columns of one source that a query needs before anything is accumulated, so that a
//! corrupt source contributes nothing.

use std::sync::Arc;

use super::super::{CodedColumn, EventSource, Numbers, NumbersInUse, RowNumbers};
use super::cell::{Keep, Wanted};
use super::group_keys::{Combined, combine};
use super::page::check_len;
use super::query_context::QueryContext;
use super::select::{Segment, Selected, segments, select};
use crate::error::Result;
use crate::model::{EventGroupBy, EventQuery, Interval};
use crate::query_in_progress::TransientMemory;

/// The columns of one source.
#[derive(Debug)]
pub(super) struct SourceColumns<'c> {
    pub(super) selected: Selected,
    /// Number of selected rows.
    pub(super) matched: u64,
    /// Number of all rows.
    pub(super) rows: u32,
    /// The buckets that contain selected rows.
    pub(super) segments: Vec<Segment>,
    /// The grouping column.
    pub(super) codes: Option<Arc<CodedColumn>>,
    /// Query memory taken for the grouping column, until the source is accumulated.
    _memory: Option<TransientMemory<'c>>,
    /// Number of rows with each code, if that suffices; then `codes` has no rows.
    pub(super) counts: Option<Vec<u32>>,
    pub(super) hashes: Option<Arc<Vec<u64>>>,
    /// The column whose distinct strings are counted.
    pub(super) distinct: Option<Distinct>,
    /// The numbers of selected rows.
    pub(super) numbers: Numbers,
}

/// A column whose distinct strings are counted.
#[derive(Debug)]
pub(super) struct Distinct {
    pub(super) rows: Arc<RowNumbers>,
    /// All shared numbers are less.
    pub(super) bound: usize,
}

/// Reads the columns of a source. Returns `None` if none of its rows match. `distinct` are the
/// numbers of the column whose distinct strings are counted.
pub(super) fn read<'c>(
    source: &dyn EventSource,
    query: &EventQuery,
    (wanted, distinct): (Wanted, Option<&NumbersInUse<'_>>),
    context: &QueryContext<'c>,
) -> Result<Option<SourceColumns<'c>>> {
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
    let distinct = match (&query.distinct, distinct) {
        (Some(of), Some(in_use)) => {
            let numbers = source.string_numbers(of, in_use, &selected.clipped(rows))?;
            if let Some(numbers) = &numbers {
                check_len(numbers.numbers.len(), rows as usize)?;
            }
            context.in_progress.take(in_use.take_grown())?;
            numbers.map(|rows| Distinct { rows, bound: in_use.bound() })
        }
        _ => None,
    };
    let numbers = match wanted.numbers {
        Keep::Nothing => Numbers::default(),
        _ => source.numbers(&query.field, &selected.clipped(rows))?,
    };
    check_len(numbers.values.len(), numbers.positions.len())?;
    Ok(Some(SourceColumns {
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

/// The grouping column of a source.
#[derive(Debug, Default)]
struct Grouped<'c> {
    codes: Option<Arc<CodedColumn>>,
    counts: Option<Vec<u32>>,
    memory: Option<TransientMemory<'c>>,
}

/// Reads the grouping column: by rows, or only the number of rows of each string where that is
/// known and suffices.
fn group<'c>(
    source: &dyn EventSource,
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
        let (strings, counts) = counted.into_iter().unzip();
        let codes = Some(Arc::new(CodedColumn { strings, ..CodedColumn::default() }));
        return Ok(Grouped { codes, counts: Some(counts), memory: None });
    }
    let codes = source.groups(by)?;
    check_len(codes.codes.len(), source.rows() as usize)?;
    Ok(Grouped { codes: Some(codes), counts: None, memory: None })
}
