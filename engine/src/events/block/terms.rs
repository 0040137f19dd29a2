//! The texts of rows that come from several sources, as numbers of one interner; and columns of them as sorted codes.

use std::borrow::Cow;

use super::header::{Column, ColumnTexts};
use crate::limits::EVENT_FEW_TEXTS_MAX;
use crate::model::{EventRows, Interner, TextId};

const UNKNOWN: u32 = u32::MAX;

/// Numbers that texts have in all sources alike.
pub(super) struct Terms<'a> {
    sources: &'a [&'a EventRows],
    texts: Cow<'a, Interner>,
    /// The number of each text of each source, as far as known; empty when there is but one source.
    known: Vec<Vec<u32>>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(sources: &'a [&'a EventRows]) -> Self {
        match sources {
            [only] => Self { sources, texts: Cow::Borrowed(only.texts()), known: Vec::new() },
            _ => {
                let known = sources.iter().map(|rows| vec![UNKNOWN; rows.texts().len()]);
                Self { sources, texts: Cow::Owned(Interner::default()), known: known.collect() }
            }
        }
    }

    /// The number of a text of a source.
    #[inline]
    pub(super) fn number(&mut self, source: u32, id: TextId) -> u32 {
        let slot =
            self.known.get_mut(source as usize).and_then(|known| known.get_mut(id.0 as usize));
        let Some(slot) = slot else { return id.0 };
        if *slot == UNKNOWN {
            let text = self.sources.get(source as usize).map(|rows| rows.texts().text(id));
            *slot = self.texts.to_mut().intern(text.unwrap_or_default()).0;
        }
        *slot
    }

    /// The text of a number.
    pub(super) fn text(&self, number: u32) -> &str {
        self.texts.text(TextId(number))
    }

    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }
}

/// A column to be written.
pub(super) struct TextColumn<'t> {
    pub(super) column: Column,
    /// All texts, sorted.
    pub(super) texts: Vec<&'t str>,
    /// Row and code, from 1; ascending by row.
    pub(super) cells: Vec<(u32, u32)>,
}

/// Makes columns of texts. Keeps a table as large as the interner between them.
pub(super) struct Ranks {
    /// The rank of a text in the column that is being made.
    ranks: Vec<u32>,
}

impl Ranks {
    pub(super) fn new(terms: &Terms<'_>) -> Self {
        Self { ranks: vec![UNKNOWN; terms.len()] }
    }

    /// The column of `cells`: row and number of the text, ascending by row.
    pub(super) fn column<'t>(
        &mut self,
        key: &str,
        terms: &'t Terms<'_>,
        mut cells: Vec<(u32, u32)>,
    ) -> TextColumn<'t> {
        let mut distinct: Vec<u32> = Vec::new();
        for (_, number) in &cells {
            if let Some(rank) = self.ranks.get_mut(*number as usize)
                && *rank == UNKNOWN
            {
                *rank = 0;
                distinct.push(*number);
            }
        }
        let sorted = sort(distinct, |number| terms.text(number));
        for (number, rank) in sorted.iter().zip(0..) {
            self.set(*number, rank);
        }
        let mut counts = vec![0u32; sorted.len()];
        for (_, cell) in &mut cells {
            let rank = self.ranks.get(*cell as usize).copied().unwrap_or_default();
            if let Some(count) = counts.get_mut(rank as usize) {
                *count += 1;
            }
            *cell = rank + 1;
        }
        sorted.iter().for_each(|number| self.set(*number, UNKNOWN));
        let texts: Vec<&str> = sorted.iter().map(|number| terms.text(*number)).collect();
        let column_texts = if texts.len() <= EVENT_FEW_TEXTS_MAX {
            ColumnTexts::Few(texts.iter().map(|t| Box::from(*t)).zip(counts).collect())
        } else {
            ColumnTexts::Many { texts: texts.len() as u32, rows: cells.len() as u32 }
        };
        TextColumn { column: Column { key: key.into(), texts: column_texts }, texts, cells }
    }

    fn set(&mut self, number: u32, rank: u32) {
        if let Some(slot) = self.ranks.get_mut(number as usize) {
            *slot = rank;
        }
    }
}

/// Numbers of texts, sorted by text. Compares the eight bytes after what all texts share before it looks at the texts.
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
