//! Grouping by several keys: every combination of strings in a source becomes one code.
//!
//! A combination is accumulated as one string: each part, preceded by its length in bytes:
//! `2:eu5:ann,b`.

use std::fmt::Write as _;
use std::sync::Arc;

use hashbrown::HashMap;

use super::super::{CodedColumn, EventSource, NO_CODE};
use super::page::check_len;
use super::query_context::QueryContext;
use super::select::Selected;
use crate::error::{Refusal, Result};
use crate::limits::GROUP_KEYS_MAX;
use crate::model::EventGroupBy;
use crate::query_in_progress::TransientMemory;

/// Approximate bytes of the length prefix of a part, and of the bookkeeping of a combination.
const PART_BYTES: usize = 8;
const COMBINATION_BYTES: usize = 3 * size_of::<Combination>() + size_of::<Box<str>>();

/// The code of a row in each column; [`NO_CODE`] where it has no string, and for unused columns.
type Combination = [u32; GROUP_KEYS_MAX];

/// The combinations of a source.
#[derive(Debug)]
pub(super) struct Combined<'c> {
    pub(super) codes: CodedColumn,
    /// Query memory taken for them.
    pub(super) memory: TransientMemory<'c>,
}

/// Combines the strings of the selected rows of a source. Fails if there are more combinations than
/// groups allowed.
pub(super) fn combine<'c>(
    source: &dyn EventSource,
    by: &[EventGroupBy],
    selected: &Selected,
    context: &QueryContext<'c>,
) -> Result<Combined<'c>> {
    let rows = source.rows() as usize;
    let mut columns = Vec::with_capacity(by.len());
    for by in by {
        let column = source.groups(by)?;
        check_len(column.codes.len(), rows)?;
        columns.push(column);
    }
    let (mut known, mut found) = (HashMap::new(), Vec::new());
    let mut codes = vec![NO_CODE; rows];
    selected.each(selected.span.clone(), |row| {
        let combination = combination(&columns, row);
        let code = *known.entry(combination).or_insert_with(|| {
            found.push(combination);
            found.len() as u32 - 1
        });
        codes[row as usize] = code;
    });
    let max = context.limits.groups_max;
    if found.len() > max {
        return Err(Refusal::Range(format!("the answer has more than {max} groups")).into());
    }
    let parts = |combination: &Combination| -> usize {
        strings(&columns, combination).map(|text| text.len() + PART_BYTES).sum()
    };
    let bytes = rows * size_of::<u32>()
        + found.iter().map(|found| parts(found) + COMBINATION_BYTES).sum::<usize>();
    let memory = context.in_progress.borrow(bytes)?;
    let strings = found.iter().map(|found| joined(strings(&columns, found))).collect();
    Ok(Combined { codes: CodedColumn { strings, codes, rows: None }, memory })
}

fn combination(columns: &[Arc<CodedColumn>], row: u32) -> Combination {
    let mut combination = [NO_CODE; GROUP_KEYS_MAX];
    for (part, column) in combination.iter_mut().zip(columns) {
        *part = column.codes[row as usize];
    }
    combination
}

fn strings<'c>(
    columns: &'c [Arc<CodedColumn>],
    combination: &'c Combination,
) -> impl Iterator<Item = &'c str> {
    let text = |(column, code): (&'c Arc<CodedColumn>, &u32)| {
        // Rows without a string have no code, and the empty string as their group.
        column.strings.get(*code as usize).map_or("", AsRef::as_ref)
    };
    columns.iter().zip(combination).map(text)
}

/// Encodes the parts of a key as one string.
fn joined<'t>(parts: impl Iterator<Item = &'t str>) -> Box<str> {
    let mut text = String::new();
    for part in parts {
        // Writing to a `String` does not fail.
        let _written = write!(text, "{}:{part}", part.len());
    }
    text.into()
}

/// Decodes the key of a group into its parts; `by` is the number of grouping keys.
pub(super) fn parts(key: &str, by: usize) -> Vec<String> {
    if by == 1 {
        return vec![key.to_owned()];
    }
    let (mut parts, mut rest) = (Vec::with_capacity(by), key);
    while let Some((part, after)) = first_part(rest) {
        parts.push(part.to_owned());
        rest = after;
    }
    assert_eq!(parts.len(), by, "the key of a group is the parts that were joined: {key:?}");
    parts
}

fn first_part(text: &str) -> Option<(&str, &str)> {
    let (len, rest) = text.split_once(':')?;
    rest.split_at_checked(len.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_key_round_trip() {
        for key in [&["", ""][..], &["eu", "ann"], &["1:a", "", "2:"], &["ä,b", "\\", ":", "12:34"]]
        {
            let text = joined(key.iter().copied());
            assert_eq!(parts(&text, key.len()), key, "{text}");
        }
        assert_eq!(&*joined(["eu", "ann,b"].into_iter()), "2:eu5:ann,b");
        assert_eq!(parts("2:eu", 1), ["2:eu"], "a single key is not encoded");
    }
}
