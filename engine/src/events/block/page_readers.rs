//! Readers of paged sections, which hold the pages that they have read.

use std::sync::Arc;

use super::header::SectionKind;
use super::parts::Parts;
use super::string_pages::{StringIndex, StringPage};
use crate::codec::integers::PAGE_ROWS;
use crate::error::Result;

type Load<'p, T> = Box<dyn Fn(usize) -> Result<Arc<Vec<T>>> + 'p>;

/// A column of numbers whose pages are loaded on demand.
pub(super) struct NumberPages<'p, T> {
    parts: &'p Parts<'p>,
    load: Load<'p, T>,
    pages: Vec<Option<Arc<Vec<T>>>>,
}

impl<'p> NumberPages<'p, i64> {
    /// Returns a reader of a column of `rows` integers.
    pub(super) fn integers(parts: &'p Parts<'p>, section: (SectionKind, u32), rows: usize) -> Self {
        let load = Box::new(move |page| parts.integer_page(section, rows, page));
        Self { parts, load, pages: vec![None; rows.div_ceil(PAGE_ROWS)] }
    }
}

impl<'p> NumberPages<'p, f64> {
    /// Returns a reader of a column of `rows` floats.
    pub(super) fn floats(parts: &'p Parts<'p>, section: (SectionKind, u32), rows: usize) -> Self {
        let load = Box::new(move |page| parts.float_page(section, rows, page));
        Self { parts, load, pages: vec![None; rows.div_ceil(PAGE_ROWS)] }
    }
}

impl<T: Copy> NumberPages<'_, T> {
    /// Returns the number at a position.
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

/// Strings whose pages are loaded on demand.
pub(super) struct StringPages<'p> {
    parts: &'p Parts<'p>,
    section: (SectionKind, u32),
    index: Arc<StringIndex>,
    pages: Vec<Option<Arc<StringPage>>>,
}

impl<'p> StringPages<'p> {
    pub(super) fn open(parts: &'p Parts<'p>, kind: SectionKind, number: u32) -> Result<Self> {
        let index = parts.string_index(kind, number)?;
        let pages = vec![None; index.pages()];
        Ok(Self { parts, section: (kind, number), index, pages })
    }

    /// Returns the number of strings.
    pub(super) fn len(&self) -> usize {
        self.index.strings()
    }

    /// Returns the string of a rank.
    pub(super) fn get(&mut self, rank: usize) -> Result<&str> {
        let damaged = || self.parts.damaged("a string is missing in a column");
        let (page, at) = self.index.locate(rank).ok_or_else(damaged)?;
        let slot = self.pages.get_mut(page).ok_or_else(damaged)?;
        let page = match slot {
            Some(page) => page,
            none => none.insert(self.parts.string_page(self.section, &self.index, page)?),
        };
        page.get(at).ok_or_else(damaged)
    }

    /// Returns how many of the strings, which must be sorted, satisfy `before`.
    pub(super) fn partition_point(&mut self, before: impl Fn(&str) -> bool) -> Result<usize> {
        let Some(page) = self.index.page_of(&before) else { return Ok(0) };
        let strings = self.parts.string_page(self.section, &self.index, page)?;
        Ok(self.index.before(page) + strings.partition_point(before))
    }
}
