//! Interns the strings of rows from several sources as common numbers, and makes columns of sorted
//! codes from them.

use std::borrow::Cow;

use super::header::{Column, ColumnStrings};
use crate::cast::to_u32;
use crate::limits::EVENT_LISTED_STRINGS_MAX;
use crate::model::{EventRows, StringId, StringInterner};

const UNKNOWN: u32 = u32::MAX;

/// Numbers for strings, common to all sources.
pub(super) struct Terms<'a> {
    sources: &'a [&'a EventRows],
    strings: Cow<'a, StringInterner>,
    /// The number of each string of each source, once assigned; empty if there is only one source.
    known: Vec<Vec<u32>>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(sources: &'a [&'a EventRows]) -> Self {
        match sources {
            [only] => Self { sources, strings: Cow::Borrowed(only.texts()), known: Vec::new() },
            _ => {
                let known = sources.iter().map(|rows| vec![UNKNOWN; rows.texts().len()]);
                Self {
                    sources,
                    strings: Cow::Owned(StringInterner::default()),
                    known: known.collect(),
                }
            }
        }
    }

    /// Returns the number of a string of a source.
    #[inline]
    pub(super) fn number(&mut self, source: u32, id: StringId) -> u32 {
        if self.known.is_empty() {
            return id.0;
        }
        let slot = &mut self.known[source as usize][id.0 as usize];
        if *slot == UNKNOWN {
            let text = self.sources[source as usize].texts().text(id);
            *slot = self.strings.to_mut().intern(text).0;
        }
        *slot
    }

    /// Returns the string of a number.
    pub(super) fn text(&self, number: u32) -> &str {
        self.strings.text(StringId(number))
    }

    /// Returns the number of strings.
    pub(super) fn len(&self) -> usize {
        self.strings.len()
    }
}

/// A column to be written.
pub(super) struct StringColumn<'t> {
    pub(super) column: Column,
    /// The distinct strings, sorted.
    pub(super) strings: Vec<&'t str>,
    /// Row and code, from 1; ascending by row.
    pub(super) cells: Vec<(u32, u32)>,
}

/// Makes columns of strings. Reuses a table with one entry per interned string.
pub(super) struct Ranks {
    /// The rank of each string in the column that is being made.
    ranks: Vec<u32>,
}

impl Ranks {
    pub(super) fn new(terms: &Terms<'_>) -> Self {
        Self { ranks: vec![UNKNOWN; terms.len()] }
    }

    /// Makes the column of `cells`: row and number of the string, ascending by row.
    pub(super) fn column<'t>(
        &mut self,
        key: &str,
        terms: &'t Terms<'_>,
        mut cells: Vec<(u32, u32)>,
    ) -> StringColumn<'t> {
        let mut distinct: Vec<u32> = Vec::new();
        for (_, number) in &cells {
            let rank = &mut self.ranks[*number as usize];
            if *rank == UNKNOWN {
                *rank = 0;
                distinct.push(*number);
            }
        }
        let sorted = sort(distinct, |number| terms.text(number));
        for (number, rank) in sorted.iter().zip(0..) {
            self.ranks[*number as usize] = rank;
        }
        let mut counts = vec![0u32; sorted.len()];
        for (_, cell) in &mut cells {
            let rank = self.ranks[*cell as usize];
            counts[rank as usize] += 1;
            *cell = rank + 1;
        }
        sorted.iter().for_each(|number| self.ranks[*number as usize] = UNKNOWN);
        let strings: Vec<&str> = sorted.iter().map(|number| terms.text(*number)).collect();
        let column_strings = if strings.len() <= EVENT_LISTED_STRINGS_MAX {
            ColumnStrings::Few(strings.iter().map(|t| Box::from(*t)).zip(counts).collect())
        } else {
            ColumnStrings::Many { strings: to_u32(strings.len()), rows: to_u32(cells.len()) }
        };
        StringColumn { column: Column { key: key.into(), strings: column_strings }, strings, cells }
    }
}

/// Sorts numbers of strings by string. Compares the eight bytes after the common prefix of all
/// strings before it compares whole strings.
pub(super) fn sort<'t>(numbers: Vec<u32>, text: impl Fn(u32) -> &'t str) -> Vec<u32> {
    let mut shared: Option<&[u8]> = None;
    for number in &numbers {
        let text = text(*number).as_bytes();
        let same = shared.map(|s| s.iter().zip(text).take_while(|(a, b)| a == b).count());
        shared = text.get(..same.unwrap_or(text.len()));
    }
    let shared = shared.unwrap_or_default().len();
    let start = |number: u32| {
        let mut bytes = [0; 8];
        let rest = text(number).as_bytes().get(shared..).unwrap_or_default();
        bytes.iter_mut().zip(rest).for_each(|(slot, byte)| *slot = *byte);
        u64::from_be_bytes(bytes)
    };
    let mut keyed: Vec<(u64, u32)> = numbers.into_iter().map(|n| (start(n), n)).collect();
    keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a.1).cmp(text(b.1))));
    keyed.into_iter().map(|(_, number)| number).collect()
}
