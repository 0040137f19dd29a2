//! Pages of a section, held while many rows are read.

use std::sync::Arc;

use super::header::SectionKind;
use super::parts::Parts;
use super::texts::{TextIndex, TextPage};
use crate::codec::integers::PAGE_ROWS;
use crate::error::Result;

type Load<'p, T> = Box<dyn Fn(usize) -> Result<Arc<Vec<T>>> + 'p>;

/// A column of numbers whose pages are loaded as they are needed.
pub(super) struct Pages<'p, T> {
    parts: &'p Parts<'p>,
    load: Load<'p, T>,
    pages: Vec<Option<Arc<Vec<T>>>>,
}

impl<'p> Pages<'p, i64> {
    /// A column of `rows` integers.
    pub(super) fn integers(parts: &'p Parts<'p>, section: (SectionKind, u32), rows: usize) -> Self {
        let load = Box::new(move |page| parts.integer_page(section, rows, page));
        Self { parts, load, pages: vec![None; rows.div_ceil(PAGE_ROWS)] }
    }
}

impl<'p> Pages<'p, f64> {
    /// A column of `rows` numbers.
    pub(super) fn floats(parts: &'p Parts<'p>, section: (SectionKind, u32), rows: usize) -> Self {
        let load = Box::new(move |page| parts.float_page(section, rows, page));
        Self { parts, load, pages: vec![None; rows.div_ceil(PAGE_ROWS)] }
    }
}

impl<T: Copy> Pages<'_, T> {
    /// The number at a position.
    #[inline]
    pub(super) fn get(&mut self, at: usize) -> Result<T> {
        if let Some(Some(page)) = self.pages.get(at / PAGE_ROWS)
            && let Some(value) = page.get(at % PAGE_ROWS)
        {
            return Ok(*value);
        }
        self.load(at)
    }

    #[cold]
    fn load(&mut self, at: usize) -> Result<T> {
        let value = match self.pages.get_mut(at / PAGE_ROWS) {
            Some(slot) => slot.insert((self.load)(at / PAGE_ROWS)?).get(at % PAGE_ROWS).copied(),
            None => None,
        };
        value.ok_or_else(|| self.parts.damaged("a row is missing in a column"))
    }
}

/// Texts whose pages are loaded as they are needed.
pub(super) struct Texts<'p> {
    parts: &'p Parts<'p>,
    section: (SectionKind, u32),
    index: Arc<TextIndex>,
    pages: Vec<Option<Arc<TextPage>>>,
}

impl<'p> Texts<'p> {
    pub(super) fn open(parts: &'p Parts<'p>, kind: SectionKind, number: u32) -> Result<Self> {
        let index = parts.text_index(kind, number)?;
        let pages = vec![None; index.pages()];
        Ok(Self { parts, section: (kind, number), index, pages })
    }

    /// The text of a rank.
    pub(super) fn get(&mut self, rank: usize) -> Result<&str> {
        let damaged = || self.parts.damaged("a text is missing in a column");
        let (page, at) = self.index.locate(rank).ok_or_else(damaged)?;
        let slot = self.pages.get_mut(page).ok_or_else(damaged)?;
        let page = match slot {
            Some(page) => page,
            none => none.insert(self.parts.text_page(self.section, &self.index, page)?),
        };
        page.get(at).ok_or_else(damaged)
    }

    /// How many texts, of sorted ones, come `before` something.
    pub(super) fn partition_point(&mut self, before: impl Fn(&str) -> bool) -> Result<usize> {
        let Some(page) = self.index.page_of(&before) else { return Ok(0) };
        let texts = self.parts.text_page(self.section, &self.index, page)?;
        Ok(self.index.before(page) + texts.partition_point(before))
    }
}
