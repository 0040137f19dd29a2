//! The parts of a block, decoded on first use and kept in the cache if there is one.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use roaring::RoaringBitmap;

use super::cache::{Part, PartsCache};
use super::clusters::Clusters;
use super::codes::{self, ColumnCodes};
use super::header::{ColumnStrings, Header, NAME, SectionKind, USER};
use super::ids::{self, Ids};
use super::info::{EventBlockKey, Extent};
use super::memory::InMemory;
use super::ranks::{RankedBits, decode_runs};
use super::string_pages::{StringIndex, StringPage};
use crate::cast::to_u32;
use crate::codec::bytes::Reader;
use crate::codec::floats::{FloatColumn, FloatPage};
use crate::codec::integers::{IntegerColumn, PAGE_ROWS};
use crate::codec::runs::Runs;
use crate::codec::{CodecError, CodecResult};
use crate::error::{Error, Result};
use crate::sketch::hash_member;

/// The bytes of a block.
pub(super) trait BlockBytes: Send + Sync {
    fn bytes(&self) -> Result<&[u8]>;
}

/// Bytes that are already in memory.
pub(super) struct BorrowedBytes<'a>(pub(super) &'a [u8]);

impl BlockBytes for BorrowedBytes<'_> {
    fn bytes(&self) -> Result<&[u8]> {
        Ok(self.0)
    }
}

/// Bytes that are read once, when a part is not in the cache.
pub(super) struct LazyBytes<F, B> {
    pub(super) fetch: F,
    pub(super) bytes: OnceLock<B>,
}

impl<F, B> BlockBytes for LazyBytes<F, B>
where
    F: Fn() -> Result<B> + Send + Sync,
    B: Deref<Target = [u8]> + Send + Sync,
{
    fn bytes(&self) -> Result<&[u8]> {
        if let Some(bytes) = self.bytes.get() {
            return Ok(bytes);
        }
        let bytes = (self.fetch)()?;
        Ok(self.bytes.get_or_init(|| bytes))
    }
}

/// An open block.
pub(super) struct Parts<'a> {
    key: EventBlockKey,
    header: Arc<Header>,
    bytes: Box<dyn BlockBytes + 'a>,
    cache: Option<&'a PartsCache>,
}

impl<'a> Parts<'a> {
    pub(super) fn open(
        key: EventBlockKey,
        bytes: Box<dyn BlockBytes + 'a>,
        cache: Option<&'a PartsCache>,
    ) -> Result<Self> {
        let kept = cache.and_then(|cache| cache.get(key, Part::Header));
        let header = match kept {
            Some(header) => header,
            None => {
                let header = Header::read(bytes.bytes()?).map_err(|e| damaged(key, &e))?;
                let header = Arc::new(header);
                if let Some(cache) = cache {
                    cache.insert(key, Part::Header, &header);
                }
                header
            }
        };
        Ok(Self { key, header, bytes, cache })
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn rows(&self) -> usize {
        self.header.extent.rows as usize
    }

    /// Returns the error for a corrupt block.
    pub(super) fn damaged(&self, reason: &str) -> Error {
        damaged(self.key, &CodecError::new(reason))
    }

    /// Returns a section, or `None` if the block has no such section.
    pub(super) fn section(&self, kind: SectionKind, number: u32) -> Result<Option<&[u8]>> {
        if !self.header.has(kind, number) {
            return Ok(None);
        }
        let section = self.header.section(self.bytes.bytes()?, kind, number);
        section.map_err(|e| damaged(self.key, &e))
    }

    fn required_section(&self, kind: SectionKind, number: u32) -> Result<&[u8]> {
        self.section(kind, number)?
            .ok_or_else(|| self.damaged(&format!("section {kind:?} {number} is missing")))
    }

    /// Returns a part from the cache, or decodes it from a section.
    fn get_or_decode<T: InMemory + Send + Sync + 'static>(
        &self,
        part: Part,
        (kind, number): (SectionKind, u32),
        decode: impl FnOnce(&[u8]) -> CodecResult<T>,
    ) -> Result<Arc<T>> {
        self.get_or_compute(part, || {
            let section = self.required_section(kind, number)?;
            decode(section).map_err(|e| damaged(self.key, &e))
        })
    }

    /// Returns a part from the cache, or computes it.
    pub(super) fn get_or_compute<T: InMemory + Send + Sync + 'static>(
        &self,
        part: Part,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        if let Some(part) = self.cached(part) {
            return Ok(part);
        }
        let value = Arc::new(make()?);
        self.cache(part, &value);
        Ok(value)
    }

    /// Returns a part from the cache.
    pub(super) fn cached<T: Send + Sync + 'static>(&self, part: Part) -> Option<Arc<T>> {
        self.cache.and_then(|cache| cache.get(self.key, part))
    }

    /// Adds a part to the cache.
    pub(super) fn cache<T: InMemory + Send + Sync + 'static>(&self, part: Part, value: &Arc<T>) {
        if let Some(cache) = self.cache {
            cache.insert(self.key, part, value);
        }
    }

    pub(super) fn times(&self) -> Result<Arc<Vec<i64>>> {
        let Extent { first_time, last_time, .. } = self.header.extent;
        self.get_or_decode(Part::Times, (SectionKind::Times, 0), |section| {
            let gaps = integers_of(section, self.rows() - 1)?;
            let mut time = first_time;
            let mut times = Vec::with_capacity(self.rows());
            times.push(time);
            for gap in gaps {
                let next = time.checked_add(gap).filter(|next| *next >= time);
                time = next.ok_or_else(|| CodecError::new("times do not ascend"))?;
                times.push(time);
            }
            if time != last_time {
                return Err(CodecError::new("the last time differs from the header"));
            }
            Ok(times)
        })
    }

    pub(super) fn ids(&self) -> Result<Arc<Ids>> {
        let decode = |section: &[u8]| ids::decode(section, self.rows());
        self.get_or_decode(Part::Ids, (SectionKind::Ids, 0), decode)
    }

    pub(super) fn codes(&self, column: u32) -> Result<Arc<ColumnCodes>> {
        let strings = self.column(column)?.strings();
        let section = (SectionKind::Codes, column);
        self.get_or_decode(Part::Codes(column), section, |bytes| {
            codes::decode(bytes, self.rows(), strings)
        })
    }

    pub(super) fn column(&self, number: u32) -> Result<&super::header::Column> {
        self.header.column(number).map_err(|e| damaged(self.key, &e))
    }

    /// Returns the rows of each string of a column with few strings.
    pub(super) fn bitmaps(&self, column: u32) -> Result<Arc<Bitmaps>> {
        self.get_or_compute(Part::Bitmaps(column), || {
            let strings = self.column(column)?.strings();
            Ok(Bitmaps(self.codes(column)?.bitmaps(strings)))
        })
    }

    pub(super) fn clusters(&self) -> Result<Arc<Clusters>> {
        self.get_or_compute(Part::Clusters, || {
            let names = self.column(NAME)?.strings();
            Ok(Clusters::new(&*self.codes(NAME)?, names, self.rows()))
        })
    }

    pub(super) fn user_hashes(&self) -> Result<Arc<Vec<u64>>> {
        self.get_or_compute(Part::UserHashes, || {
            let mut hashes = vec![0];
            self.each_string(USER, |text| hashes.push(hash_member(text)))?;
            let mut of_rows = vec![0; self.rows()];
            self.codes(USER)?.each(|row, code| {
                of_rows[row as usize] = hashes[code as usize];
            });
            Ok(of_rows)
        })
    }

    /// Calls `with` with the strings of a column in the order of their codes.
    pub(super) fn each_string(&self, column: u32, mut with: impl FnMut(&str)) -> Result<()> {
        match &self.column(column)?.strings {
            ColumnStrings::Few(strings) => strings.iter().for_each(|(text, _)| with(text)),
            ColumnStrings::Many { .. } => {
                let index = self.string_index(SectionKind::Strings, column)?;
                let section = self.required_section(SectionKind::Strings, column)?;
                for page in 0..index.pages() {
                    let page = index.page(section, page).map_err(|e| damaged(self.key, &e))?;
                    page.iter().for_each(&mut with);
                }
            }
        }
        Ok(())
    }

    pub(super) fn string_index(&self, kind: SectionKind, number: u32) -> Result<Arc<StringIndex>> {
        let part = Part::StringIndex(kind, number);
        // The header has the number of strings of a column; other sections have at most one for
        // each row.
        let strings = match kind {
            SectionKind::Strings => Some(self.column(number)?.strings()),
            _ => None,
        };
        self.get_or_decode(part, (kind, number), |section| {
            let index = StringIndex::read(section, self.rows())?;
            match strings {
                Some(strings) if strings != index.strings() => {
                    Err(CodecError::new("a column has another number of strings than the header"))
                }
                _ => Ok(index),
            }
        })
    }

    pub(super) fn string_page(
        &self,
        (kind, number): (SectionKind, u32),
        index: &StringIndex,
        page: usize,
    ) -> Result<Arc<StringPage>> {
        let part = Part::Page(kind, number, to_u32(page));
        self.get_or_decode(part, (kind, number), |section| index.page(section, page))
    }

    /// Returns a page of a column of `rows` floats.
    pub(super) fn float_page(
        &self,
        (kind, number): (SectionKind, u32),
        rows: usize,
        page: usize,
    ) -> Result<Arc<Vec<f64>>> {
        let part = Part::Page(kind, number, to_u32(page));
        self.get_or_decode(part, (kind, number), |section| floats_of(section, rows, Some(page)))
    }

    /// Returns a page of a column of `rows` integers.
    pub(super) fn integer_page(
        &self,
        (kind, number): (SectionKind, u32),
        rows: usize,
        page: usize,
    ) -> Result<Arc<Vec<i64>>> {
        let part = Part::Page(kind, number, to_u32(page));
        self.get_or_decode(part, (kind, number), |section| {
            let mut reader = Reader::new(section);
            let column = IntegerColumn::read(&mut reader, rows)?;
            reader.finish()?;
            if column.rows() != rows {
                return Err(CodecError::new("too few integers"));
            }
            let mut values = Vec::new();
            column.page(page, &mut values)?;
            Ok(values)
        })
    }

    /// Returns all integers of a section of exactly `rows` integers.
    pub(super) fn integers<T: InMemory + Send + Sync + 'static>(
        &self,
        part: Part,
        section: (SectionKind, u32),
        rows: usize,
        convert: impl FnOnce(Vec<i64>) -> CodecResult<T>,
    ) -> Result<Arc<T>> {
        self.get_or_decode(part, section, |bytes| convert(integers_of(bytes, rows)?))
    }

    /// Returns all integers of a section of exactly `rows` integers, past the cache.
    pub(super) fn all_integers(
        &self,
        (kind, number): (SectionKind, u32),
        rows: usize,
    ) -> Result<Vec<i64>> {
        let section = self.required_section(kind, number)?;
        integers_of(section, rows).map_err(|e| damaged(self.key, &e))
    }

    /// Returns all floats of a section of exactly `rows` floats, past the cache.
    pub(super) fn all_floats(
        &self,
        (kind, number): (SectionKind, u32),
        rows: usize,
    ) -> Result<Vec<f64>> {
        let section = self.required_section(kind, number)?;
        floats_of(section, rows, None).map_err(|e| damaged(self.key, &e))
    }

    /// Returns all strings of a section, past the cache. Each occurs in a row, so together they
    /// have at most the bytes of strings of all rows.
    pub(super) fn all_strings(&self, kind: SectionKind, number: u32) -> Result<StringPage> {
        let index = self.string_index(kind, number)?;
        let section = self.required_section(kind, number)?;
        index.all(section, self.header.extent.string_bytes).map_err(|e| damaged(self.key, &e))
    }

    /// Returns which rows, in clustered order, have a value.
    pub(super) fn value_presence(&self) -> Result<Arc<RankedBits>> {
        if self.header.has(SectionKind::ValuePresence, 0) {
            let section = (SectionKind::ValuePresence, 0);
            let decode = |bytes: &[u8]| decode_runs(bytes, self.rows());
            return self.get_or_decode(Part::ValuePresence, section, decode);
        }
        let all = self.header.has(SectionKind::Values, 0);
        self.get_or_compute(Part::ValuePresence, || Ok(RankedBits::new(self.rows(), |_| all)))
    }
}

/// The rows of each string of a column.
pub(super) struct Bitmaps(pub(super) Vec<RoaringBitmap>);

impl InMemory for Bitmaps {
    fn bytes(&self) -> usize {
        self.0.iter().map(|bitmap| bitmap.serialized_size() + 64).sum()
    }
}

impl InMemory for Clusters {
    fn bytes(&self) -> usize {
        Clusters::bytes(self)
    }
}

impl InMemory for RankedBits {
    fn bytes(&self) -> usize {
        RankedBits::bytes(self)
    }
}

fn integers_of(section: &[u8], rows: usize) -> CodecResult<Vec<i64>> {
    let mut reader = Reader::new(section);
    let mut integers = Vec::new();
    let column = IntegerColumn::read(&mut reader, rows)?;
    column.all(&mut integers)?;
    reader.finish()?;
    if integers.len() != rows {
        return Err(CodecError::new(format!("{} integers instead of {rows}", integers.len())));
    }
    Ok(integers)
}

/// Returns the floats of a section of `rows` floats: those of a page, or all.
fn floats_of(section: &[u8], rows: usize, page: Option<usize>) -> CodecResult<Vec<f64>> {
    let mut reader = Reader::new(section);
    let column = FloatColumn::read(&mut reader, rows)?;
    reader.finish()?;
    if column.rows() != rows {
        return Err(CodecError::new("too few numbers"));
    }
    let pages = page.map_or(0..rows.div_ceil(PAGE_ROWS), |page| page..page + 1);
    let (runs, mut decoded, mut values) =
        (Runs::new([rows]), FloatPage::default(), Vec::with_capacity(pages.len() * PAGE_ROWS));
    for page in pages {
        column.page(page, &runs, &mut decoded)?;
        decoded.rows().extend(&mut values);
    }
    if values.iter().any(|value| !value.is_finite()) {
        return Err(CodecError::new("a number is not finite"));
    }
    Ok(values)
}

fn damaged(key: EventBlockKey, error: &CodecError) -> Error {
    Error::Corrupt(format!("event block {}/{}: {error}", key.day, key.sequence))
}
