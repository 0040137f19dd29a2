//! Lists of strings in pages that are compressed one by one: sorted dictionaries and unsorted
//! lists.
//!
//! ```text
//! form: u8                    0 unsorted, 1 sorted
//! strings, pages: varint
//! of each page: strings: varint │ bytes unpacked: varint │ bytes: varint │
//!               if sorted: first string
//! pages: a page is stored plain if both lengths are equal, else as a Zstandard frame, of
//!   if sorted: bytes shared with the string before, of each string: varint
//!   bytes that follow, of each string: varint
//!   those bytes
//! ```
//!
//! The index contains the first string of each sorted page, so a lookup unpacks a single page.

use std::cell::Cell;

use super::memory::InMemory;
use crate::cast::to_u32;
use crate::codec::bytes::{Reader, put_bytes, put_varint};
use crate::codec::integers::Effort;
use crate::codec::{CodecError, CodecResult};

/// Maximum strings per page: enough for Zstandard to compress well, few enough to unpack for one
/// lookup.
const PAGE_STRINGS_MAX: usize = 512;
/// A page is closed at this many bytes of strings.
const PAGE_BYTES_MAX: usize = 64 << 10;
/// Maximum bytes of an unpacked page: its last string may be large, and lengths come on top.
const UNPACKED_BYTES_MAX: usize = PAGE_BYTES_MAX + (256 << 10);

const UNSORTED: u8 = 0;
const SORTED: u8 = 1;

/// Encodes pages. Shared by all columns of a block, because a compression context is large.
pub(super) struct StringPacker {
    /// `None` if pages are stored plain.
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl StringPacker {
    pub(super) fn new(effort: Effort) -> CodecResult<Self> {
        let level = match effort {
            Effort::Seal => Some(1),
            Effort::Merge => Some(5),
            Effort::Plain => None,
        };
        let zstd = level.map(zstd::bulk::Compressor::new).transpose();
        Ok(Self { zstd: zstd.map_err(|e| zstd_error(&e))? })
    }

    /// Packs strings that are sorted and distinct.
    pub(super) fn sorted<'t>(
        &mut self,
        strings: impl Iterator<Item = &'t str>,
    ) -> CodecResult<Vec<u8>> {
        self.pack(strings, SORTED)
    }

    /// Packs strings in any order.
    pub(super) fn unsorted<'t>(
        &mut self,
        strings: impl Iterator<Item = &'t str>,
    ) -> CodecResult<Vec<u8>> {
        self.pack(strings, UNSORTED)
    }

    fn pack<'t>(
        &mut self,
        strings: impl Iterator<Item = &'t str>,
        form: u8,
    ) -> CodecResult<Vec<u8>> {
        let (mut index, mut pages) = (Vec::new(), Vec::new());
        let (mut count, mut page_count) = (0u64, 0u64);
        let mut page: Vec<&str> = Vec::new();
        let mut bytes = 0;
        let mut strings = strings.peekable();
        while let Some(text) = strings.next() {
            page.push(text);
            bytes += text.len();
            count += 1;
            let full = page.len() == PAGE_STRINGS_MAX || bytes >= PAGE_BYTES_MAX;
            if full || strings.peek().is_none() {
                self.page(&page, form, &mut index, &mut pages)?;
                page_count += 1;
                page.clear();
                bytes = 0;
            }
        }
        let mut out = vec![form];
        put_varint(&mut out, count);
        put_varint(&mut out, page_count);
        out.extend_from_slice(&index);
        out.extend_from_slice(&pages);
        Ok(out)
    }

    fn page(
        &mut self,
        strings: &[&str],
        form: u8,
        index: &mut Vec<u8>,
        pages: &mut Vec<u8>,
    ) -> CodecResult<()> {
        let (mut shared, mut lengths, mut tails) = (Vec::new(), Vec::new(), Vec::new());
        // A page is closed after a string, so it has a first one.
        let first = strings[0].as_bytes();
        let mut before = first;
        for text in strings.iter().map(|text| text.as_bytes()) {
            let same = match form {
                SORTED => text.iter().zip(before).take_while(|(a, b)| a == b).count(),
                _ => 0,
            };
            if form == SORTED {
                put_varint(&mut shared, same as u64);
            }
            let tail = &text[same..];
            put_varint(&mut lengths, tail.len() as u64);
            tails.extend_from_slice(tail);
            before = text;
        }
        let plain = [shared, lengths, tails].concat();
        if plain.len() > UNPACKED_BYTES_MAX {
            return Err(CodecError::new("a string is too long for a block"));
        }
        let packed = self.zstd.as_mut().map(|zstd| zstd.compress(&plain)).transpose();
        let packed = packed.map_err(|e| zstd_error(&e))?;
        let stored = packed.as_ref().filter(|packed| packed.len() < plain.len()).unwrap_or(&plain);
        put_varint(index, strings.len() as u64);
        put_varint(index, plain.len() as u64);
        put_varint(index, stored.len() as u64);
        if form == SORTED {
            put_bytes(index, first);
        }
        pages.extend_from_slice(stored);
        Ok(())
    }
}

/// The page index of a section.
#[derive(Debug, Default)]
pub(super) struct StringIndex {
    sorted: bool,
    pages: Vec<PageSpan>,
    /// Number of strings.
    strings: usize,
}

#[derive(Debug)]
struct PageSpan {
    /// Number of strings before the page.
    from: usize,
    strings: usize,
    unpacked: usize,
    offset: usize,
    length: usize,
    /// The first string, if sorted.
    first: Box<str>,
}

impl StringIndex {
    /// Decodes the index of a section of at most `strings_max` strings.
    pub(super) fn read(section: &[u8], strings_max: usize) -> CodecResult<Self> {
        let mut reader = Reader::new(section);
        let sorted = match reader.u8()? {
            UNSORTED => false,
            SORTED => true,
            form => {
                return Err(CodecError::new(format!("unknown encoding {form} of string pages")));
            }
        };
        let strings = reader.count("strings", strings_max)?;
        let count = reader.count("pages", strings)?;
        let mut pages = Vec::with_capacity(count.min(reader.rest().len() / 3));
        let (mut from, mut offset) = (0, 0);
        for _ in 0..count {
            let strings = reader.count("strings of a page", PAGE_STRINGS_MAX)?;
            let unpacked = reader.count("bytes of a page", UNPACKED_BYTES_MAX)?;
            let length = reader.count("bytes of a page", unpacked)?;
            let first = if sorted { reader.text()?.into() } else { Box::default() };
            pages.push(PageSpan { from, strings, unpacked, offset, length, first });
            from += strings;
            offset += length;
        }
        let index_bytes = section.len() - reader.rest().len();
        pages.iter_mut().for_each(|page| page.offset += index_bytes);
        if from != strings || index_bytes + offset != section.len() {
            return Err(CodecError::new("string pages do not match their index"));
        }
        if sorted && !pages.is_sorted_by(|a, b| a.first < b.first) {
            return Err(CodecError::new("string pages are not sorted"));
        }
        Ok(Self { sorted, pages, strings })
    }

    /// Returns the number of strings.
    pub(super) fn strings(&self) -> usize {
        self.strings
    }

    /// Returns the number of pages.
    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Returns the page that contains the string of this rank, and the position in it.
    pub(super) fn locate(&self, rank: usize) -> Option<(usize, usize)> {
        let page = self.pages.partition_point(|page| page.from <= rank).checked_sub(1)?;
        Some((page, rank - self.pages.get(page)?.from))
    }

    /// Returns the last page whose first string satisfies `before`, or `None` if there is none.
    pub(super) fn page_of(&self, before: impl Fn(&str) -> bool) -> Option<usize> {
        self.pages.partition_point(|page| before(&page.first)).checked_sub(1)
    }

    /// Returns the number of strings before a page.
    pub(super) fn before(&self, page: usize) -> usize {
        self.pages.get(page).map_or(self.strings, |page| page.from)
    }

    /// Unpacks all pages, and returns their strings as one page. They have at most `bytes_max`
    /// bytes: a compaction reserves memory for as many.
    pub(super) fn all(&self, section: &[u8], bytes_max: u32) -> CodecResult<StringPage> {
        let mut all = StringPage::default();
        for page in 0..self.pages() {
            let page = self.page(section, page)?;
            let bytes = u32::try_from(all.text.len() + page.text.len()).ok();
            if bytes.is_none_or(|bytes| bytes > bytes_max) {
                return Err(CodecError::new("more bytes of strings than the header says"));
            }
            all.append(&page);
        }
        Ok(all)
    }

    /// Checks that strings can be searched for: that `all` of them ascend, and each page begins
    /// with the string that the index says.
    pub(super) fn check_order(&self, all: &StringPage) -> CodecResult<()> {
        let begins = |page: &PageSpan| all.get(page.from) == Some(&*page.first);
        if !self.sorted || !self.pages.iter().all(begins) || !all.iter().is_sorted_by(|a, b| a < b)
        {
            return Err(CodecError::new("the strings of a column are not sorted"));
        }
        Ok(())
    }

    /// Unpacks a page.
    pub(super) fn page(&self, section: &[u8], page: usize) -> CodecResult<StringPage> {
        let no_page = || CodecError::new(format!("no string page {page}"));
        let span = self.pages.get(page).ok_or_else(no_page)?;
        let stored = section.get(span.offset..span.offset + span.length).ok_or_else(no_page)?;
        if span.length == span.unpacked {
            return self.parse(span, stored);
        }
        let plain = decompress(stored, span.unpacked).map_err(|e| zstd_error(&e))?;
        if plain.len() != span.unpacked {
            return Err(CodecError::new("a string page is too short"));
        }
        self.parse(span, &plain)
    }

    fn parse(&self, span: &PageSpan, plain: &[u8]) -> CodecResult<StringPage> {
        let mut reader = Reader::new(plain);
        let mut lengths = |wanted: bool| match wanted {
            true => (0..span.strings).map(|_| reader.count("bytes", UNPACKED_BYTES_MAX)).collect(),
            false => CodecResult::Ok(Vec::new()),
        };
        let shared = lengths(self.sorted)?;
        let lengths = lengths(true)?;
        let total = shared.iter().chain(&lengths).sum::<usize>();
        if total > UNPACKED_BYTES_MAX {
            return Err(CodecError::new("a string page is too long"));
        }
        let mut buffer = Vec::with_capacity(span.first.len() + total);
        let mut ends = Vec::with_capacity(span.strings);
        let mut before = 0..span.first.len();
        buffer.extend_from_slice(span.first.as_bytes());
        let base = buffer.len();
        for (i, length) in lengths.into_iter().enumerate() {
            // Unsorted strings share nothing.
            let same = if self.sorted { shared[i] } else { 0 };
            if same > before.len() {
                return Err(CodecError::new(
                    "a string shares more bytes than the one before it has",
                ));
            }
            let start = buffer.len();
            buffer.extend_from_within(before.start..before.start + same);
            buffer.extend_from_slice(reader.take(length)?);
            ends.push(to_u32(buffer.len() - base));
            before = start..buffer.len();
        }
        reader.finish()?;
        buffer.drain(..base);
        let text =
            String::from_utf8(buffer).map_err(|_| CodecError::new("a string is not UTF-8"))?;
        if ends.iter().any(|end| !text.is_char_boundary(*end as usize)) {
            return Err(CodecError::new("a string is not UTF-8"));
        }
        Ok(StringPage { text, ends })
    }
}

impl InMemory for StringIndex {
    fn bytes(&self) -> usize {
        self.pages.iter().map(|page| size_of::<PageSpan>() + page.first.len()).sum()
    }
}

/// The strings of a page.
#[derive(Debug, Default)]
pub(super) struct StringPage {
    text: String,
    ends: Vec<u32>,
}

impl StringPage {
    /// Returns the number of strings.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Appends the strings of another page.
    fn append(&mut self, other: &Self) {
        let before = to_u32(self.text.len());
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }

    /// Returns the string at a position.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)? as usize;
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        self.text.get(from as usize..end)
    }

    /// Returns the strings in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let no_string = |at| panic!("string {at}: all ends are checked to be within the page");
        (0..self.len()).map(move |at| self.get(at).unwrap_or_else(|| no_string(at)))
    }

    /// Returns how many of the strings, which must be sorted, satisfy `before`.
    pub(super) fn partition_point(&self, before: impl Fn(&str) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.get(middle).is_some_and(&before) { from = middle + 1 } else { to = middle }
        }
        from
    }
}

impl InMemory for StringPage {
    fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 4
    }
}

/// Decompresses a page of `bytes` bytes. Each thread reuses a context, because making one takes
/// longer than decompressing a page.
fn decompress(stored: &[u8], bytes: usize) -> std::io::Result<Vec<u8>> {
    thread_local! {
        static DECOMPRESSOR: Cell<Option<zstd::bulk::Decompressor<'static>>> = const { Cell::new(None) };
    }
    let mut decompressor = match DECOMPRESSOR.take() {
        Some(decompressor) => decompressor,
        None => zstd::bulk::Decompressor::new()?,
    };
    let plain = decompressor.decompress(stored, bytes);
    DECOMPRESSOR.set(Some(decompressor));
    plain
}

fn zstd_error(error: &std::io::Error) -> CodecError {
    CodecError::new(format!("zstd: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(strings: &[&str], sorted: bool) {
        [Effort::Seal, Effort::Plain]
            .iter()
            .for_each(|effort| check_with(*effort, strings, sorted));
    }

    fn check_with(effort: Effort, strings: &[&str], sorted: bool) {
        let mut packer = StringPacker::new(effort).unwrap();
        let all = strings.iter().copied();
        let bytes = if sorted { packer.sorted(all) } else { packer.unsorted(all) }.unwrap();
        let index = StringIndex::read(&bytes, strings.len()).unwrap();
        assert_eq!(index.strings(), strings.len());
        let bytes_of_all = to_u32(strings.concat().len());
        let whole = index.all(&bytes, bytes_of_all).unwrap();
        assert!(whole.iter().eq(strings.iter().copied()));
        if let Some(too_few) = bytes_of_all.checked_sub(1) {
            assert!(index.all(&bytes, too_few).is_err());
        }
        for (rank, text) in strings.iter().enumerate() {
            let (page, at) = index.locate(rank).unwrap();
            assert_eq!(index.page(&bytes, page).unwrap().get(at), Some(*text));
        }
        let again = (0..index.pages()).flat_map(|page| {
            let page = index.page(&bytes, page).unwrap();
            page.iter().map(str::to_owned).collect::<Vec<_>>()
        });
        assert!(again.eq(strings.iter().copied()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_strings_round_trip(strings in proptest::collection::vec("[ab\u{e4}]{0,6}", 0..1500)) {
            check(&strings.iter().map(String::as_str).collect::<Vec<_>>(), false);
            let sorted: std::collections::BTreeSet<&str> =
                strings.iter().map(String::as_str).collect();
            check(&sorted.into_iter().collect::<Vec<_>>(), true);
        }

        #[test]
        fn any_bytes_decode_to_an_error_or_to_strings(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(index) = StringIndex::read(&bytes, 100) {
                for page in 0..index.pages() {
                    if let Ok(page) = index.page(&bytes, page) {
                        prop_assert!(page.iter().count() <= 100);
                    }
                }
            }
        }
    }

    #[test]
    fn large_strings_get_pages_of_their_own() {
        let large = ["x".repeat(70_000), "y".repeat(63_000), "z".repeat(65_536)];
        check(&large.each_ref().map(String::as_str), true);
        check(&large.each_ref().map(String::as_str), false);
    }

    /// Returns a section with one page of empty strings.
    fn of_empty_strings(strings: usize) -> Vec<u8> {
        let mut section = vec![UNSORTED];
        // Strings, pages, and of the page: strings, bytes unpacked, bytes stored.
        for number in [strings, 1, strings, strings, strings] {
            put_varint(&mut section, number as u64);
        }
        section.resize(section.len() + strings, 0);
        section
    }

    #[test]
    fn a_page_with_one_string_more_than_the_limit_is_refused() {
        let section = of_empty_strings(PAGE_STRINGS_MAX);
        let index = StringIndex::read(&section, PAGE_STRINGS_MAX).unwrap();
        assert_eq!(index.page(&section, 0).unwrap().len(), PAGE_STRINGS_MAX);
        assert!(
            StringIndex::read(&section, PAGE_STRINGS_MAX - 1).is_err(),
            "more strings than rows"
        );
        assert!(StringIndex::read(&of_empty_strings(PAGE_STRINGS_MAX + 1), usize::MAX).is_err());
    }

    #[test]
    fn a_page_with_one_byte_more_than_the_limit_is_refused() {
        // The length before the string takes three bytes.
        let largest = "x".repeat(UNPACKED_BYTES_MAX - 3);
        check(&[largest.as_str()], false);
        let too_large = largest + "x";
        let packed = StringPacker::new(Effort::Seal).unwrap().unsorted([&*too_large].into_iter());
        assert!(packed.is_err());
        let read = |unpacked: usize| {
            let mut section = vec![UNSORTED];
            for number in [1, 1, 1, unpacked, 0] {
                put_varint(&mut section, number as u64);
            }
            StringIndex::read(&section, 1).is_ok()
        };
        assert!(read(UNPACKED_BYTES_MAX));
        assert!(!read(UNPACKED_BYTES_MAX + 1));
    }
}
