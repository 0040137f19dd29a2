//! Many texts, in pages that are unpacked one by one: sorted dictionaries, and texts as they came.
//!
//! ```text
//! form: u8                    0 as they came, 1 sorted
//! texts, pages: varint
//! of each page: texts: varint │ bytes unpacked: varint │ bytes: varint │ sorted: first text: text
//! pages: a page as it is when it has as many bytes as unpacked, else a Zstandard frame of
//!   sorted: bytes shared with the text before, of each text: varint
//!   bytes that follow, of each text: varint
//!   those bytes
//! ```
//!
//! The first text of a page stands in the index, so a text is looked up by unpacking the one page that may have it.

use super::memory::InMemory;
use crate::codec::bytes::{Reader, put_bytes, put_varint};
use crate::codec::integers::Effort;
use crate::codec::{CodecError, CodecResult};

/// Texts of a page: enough for Zstandard to learn from, few enough to unpack for the sake of one.
const PAGE_TEXTS_MAX: usize = 512;
/// Bytes of texts that close a page.
const PAGE_BYTES_MAX: usize = 64 << 10;
/// Bytes that a page can unpack to: the last text may be large, and lengths come on top.
const UNPACKED_BYTES_MAX: usize = PAGE_BYTES_MAX + (256 << 10);

const AS_THEY_CAME: u8 = 0;
const SORTED: u8 = 1;

/// Packs pages. One is made for all columns of a block: its memory is not small.
pub(super) struct TextPacker {
    /// None where pages stay as they are.
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl TextPacker {
    pub(super) fn new(effort: Effort) -> CodecResult<Self> {
        let level = match effort {
            Effort::Seal => Some(1),
            Effort::Merge => Some(5),
            Effort::Plain => None,
        };
        let zstd = level.map(zstd::bulk::Compressor::new).transpose();
        Ok(Self { zstd: zstd.map_err(|e| zstd_error(&e))? })
    }

    /// Texts that are sorted, no two equal.
    pub(super) fn sorted<'t>(
        &mut self,
        texts: impl Iterator<Item = &'t str>,
    ) -> CodecResult<Vec<u8>> {
        self.pack(texts, SORTED)
    }

    /// Texts in any order.
    pub(super) fn as_they_came<'t>(
        &mut self,
        texts: impl Iterator<Item = &'t str>,
    ) -> CodecResult<Vec<u8>> {
        self.pack(texts, AS_THEY_CAME)
    }

    fn pack<'t>(&mut self, texts: impl Iterator<Item = &'t str>, form: u8) -> CodecResult<Vec<u8>> {
        let (mut index, mut pages) = (Vec::new(), Vec::new());
        let (mut count, mut page_count) = (0u64, 0u64);
        let mut page: Vec<&str> = Vec::new();
        let mut bytes = 0;
        let mut texts = texts.peekable();
        while let Some(text) = texts.next() {
            page.push(text);
            bytes += text.len();
            count += 1;
            let full = page.len() == PAGE_TEXTS_MAX || bytes >= PAGE_BYTES_MAX;
            if full || texts.peek().is_none() {
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
        texts: &[&str],
        form: u8,
        index: &mut Vec<u8>,
        pages: &mut Vec<u8>,
    ) -> CodecResult<()> {
        let (mut shared, mut lengths, mut tails) = (Vec::new(), Vec::new(), Vec::new());
        let mut before: &[u8] = texts.first().map(|text| text.as_bytes()).unwrap_or_default();
        for text in texts.iter().map(|text| text.as_bytes()) {
            let same = match form {
                SORTED => text.iter().zip(before).take_while(|(a, b)| a == b).count(),
                _ => 0,
            };
            if form == SORTED {
                put_varint(&mut shared, same as u64);
            }
            let tail = text.get(same..).unwrap_or_default();
            put_varint(&mut lengths, tail.len() as u64);
            tails.extend_from_slice(tail);
            before = text;
        }
        let plain = [shared, lengths, tails].concat();
        if plain.len() > UNPACKED_BYTES_MAX {
            return Err(CodecError::new("a text is too long for a block"));
        }
        let packed = self.zstd.as_mut().map(|zstd| zstd.compress(&plain)).transpose();
        let packed = packed.map_err(|e| zstd_error(&e))?;
        let stored = packed.as_ref().filter(|packed| packed.len() < plain.len()).unwrap_or(&plain);
        put_varint(index, texts.len() as u64);
        put_varint(index, plain.len() as u64);
        put_varint(index, stored.len() as u64);
        if form == SORTED {
            put_bytes(index, texts.first().map(|text| text.as_bytes()).unwrap_or_default());
        }
        pages.extend_from_slice(stored);
        Ok(())
    }
}

/// Where the pages of a section are.
#[derive(Debug, Default)]
pub(super) struct TextIndex {
    sorted: bool,
    pages: Vec<PageSpan>,
    /// How many texts there are.
    texts: usize,
}

#[derive(Debug)]
struct PageSpan {
    /// How many texts lie before it.
    from: usize,
    texts: usize,
    unpacked: usize,
    offset: usize,
    length: usize,
    /// The first text, of sorted ones.
    first: Box<str>,
}

impl TextIndex {
    /// Reads the index of a section of at most `texts_max` texts.
    pub(super) fn read(section: &[u8], texts_max: usize) -> CodecResult<Self> {
        let mut reader = Reader::new(section);
        let sorted = match reader.u8()? {
            AS_THEY_CAME => false,
            SORTED => true,
            form => return Err(CodecError::new(format!("unknown form {form} of text pages"))),
        };
        let texts = reader.count("texts", texts_max)?;
        let count = reader.count("pages", texts)?;
        let mut pages = Vec::with_capacity(count.min(reader.rest().len() / 3));
        let (mut from, mut offset) = (0, 0);
        for _ in 0..count {
            let texts = reader.count("texts of a page", PAGE_TEXTS_MAX)?;
            let unpacked = reader.count("bytes of a page", UNPACKED_BYTES_MAX)?;
            let length = reader.count("bytes of a page", unpacked)?;
            let first = if sorted { reader.text()?.into() } else { Box::default() };
            pages.push(PageSpan { from, texts, unpacked, offset, length, first });
            from += texts;
            offset += length;
        }
        let index_bytes = section.len() - reader.rest().len();
        pages.iter_mut().for_each(|page| page.offset += index_bytes);
        if from != texts || index_bytes + offset != section.len() {
            return Err(CodecError::new("pages of texts and their index differ"));
        }
        if sorted && !pages.is_sorted_by(|a, b| a.first < b.first) {
            return Err(CodecError::new("pages of texts are not sorted"));
        }
        Ok(Self { sorted, pages, texts })
    }

    /// How many texts there are.
    pub(super) fn texts(&self) -> usize {
        self.texts
    }

    /// How many pages there are.
    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The page that holds the text of this rank, and where in it.
    pub(super) fn locate(&self, rank: usize) -> Option<(usize, usize)> {
        let page = self.pages.partition_point(|page| page.from <= rank).checked_sub(1)?;
        Some((page, rank - self.pages.get(page)?.from))
    }

    /// The page in which the texts that come `before` something end; none when they begin with none.
    pub(super) fn page_of(&self, before: impl Fn(&str) -> bool) -> Option<usize> {
        self.pages.partition_point(|page| before(&page.first)).checked_sub(1)
    }

    /// How many texts lie before a page.
    pub(super) fn before(&self, page: usize) -> usize {
        self.pages.get(page).map_or(self.texts, |page| page.from)
    }

    /// Unpacks a page.
    pub(super) fn page(&self, section: &[u8], page: usize) -> CodecResult<TextPage> {
        let no_page = || CodecError::new(format!("no page {page} of texts"));
        let span = self.pages.get(page).ok_or_else(no_page)?;
        let stored = section.get(span.offset..span.offset + span.length).ok_or_else(no_page)?;
        if span.length == span.unpacked {
            return self.parse(span, stored);
        }
        let plain = zstd::bulk::decompress(stored, span.unpacked).map_err(|e| zstd_error(&e))?;
        if plain.len() != span.unpacked {
            return Err(CodecError::new("a page of texts is short"));
        }
        self.parse(span, &plain)
    }

    fn parse(&self, span: &PageSpan, plain: &[u8]) -> CodecResult<TextPage> {
        let mut reader = Reader::new(plain);
        let mut lengths = |wanted: bool| match wanted {
            true => (0..span.texts).map(|_| reader.count("bytes", UNPACKED_BYTES_MAX)).collect(),
            false => CodecResult::Ok(Vec::new()),
        };
        let shared = lengths(self.sorted)?;
        let lengths = lengths(true)?;
        let total = shared.iter().chain(&lengths).sum::<usize>();
        if total > UNPACKED_BYTES_MAX {
            return Err(CodecError::new("texts that are too long"));
        }
        let mut buffer = Vec::with_capacity(span.first.len() + total);
        let mut ends = Vec::with_capacity(span.texts);
        let mut before = 0..span.first.len();
        buffer.extend_from_slice(span.first.as_bytes());
        let base = buffer.len();
        for (i, length) in lengths.into_iter().enumerate() {
            let same = shared.get(i).copied().unwrap_or(0);
            if same > before.len() {
                return Err(CodecError::new("a text shares more than there is"));
            }
            let start = buffer.len();
            buffer.extend_from_within(before.start..before.start + same);
            buffer.extend_from_slice(reader.take(length)?);
            ends.push((buffer.len() - base) as u32);
            before = start..buffer.len();
        }
        reader.finish()?;
        buffer.drain(..base);
        let text = String::from_utf8(buffer).map_err(|_| CodecError::new("text is not UTF-8"))?;
        if ends.iter().any(|end| !text.is_char_boundary(*end as usize)) {
            return Err(CodecError::new("text is not UTF-8"));
        }
        Ok(TextPage { text, ends })
    }
}

impl InMemory for TextIndex {
    fn bytes(&self) -> usize {
        self.pages.iter().map(|page| size_of::<PageSpan>() + page.first.len()).sum()
    }
}

/// The texts of a page.
#[derive(Debug, Default)]
pub(super) struct TextPage {
    text: String,
    ends: Vec<u32>,
}

impl TextPage {
    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text at a position.
    pub(super) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)? as usize;
        let from = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.text.get(from as usize..end)
    }

    /// The texts in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at).unwrap_or_default())
    }

    /// How many texts, of sorted ones, come `before` something.
    pub(super) fn partition_point(&self, before: impl Fn(&str) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.get(middle).is_some_and(&before) { from = middle + 1 } else { to = middle }
        }
        from
    }
}

impl InMemory for TextPage {
    fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 4
    }
}

fn zstd_error(error: &std::io::Error) -> CodecError {
    CodecError::new(format!("zstd: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(texts: &[&str], sorted: bool) {
        [Effort::Seal, Effort::Plain].iter().for_each(|effort| check_with(*effort, texts, sorted));
    }

    fn check_with(effort: Effort, texts: &[&str], sorted: bool) {
        let mut packer = TextPacker::new(effort).unwrap();
        let all = texts.iter().copied();
        let bytes = if sorted { packer.sorted(all) } else { packer.as_they_came(all) }.unwrap();
        let index = TextIndex::read(&bytes, texts.len()).unwrap();
        assert_eq!(index.texts(), texts.len());
        for (rank, text) in texts.iter().enumerate() {
            let (page, at) = index.locate(rank).unwrap();
            assert_eq!(index.page(&bytes, page).unwrap().get(at), Some(*text));
        }
        let again = (0..index.pages()).flat_map(|page| {
            let page = index.page(&bytes, page).unwrap();
            page.iter().map(str::to_owned).collect::<Vec<_>>()
        });
        assert!(again.eq(texts.iter().copied()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_texts_round_trip(texts in proptest::collection::vec("[ab\u{e4}]{0,6}", 0..1500)) {
            check(&texts.iter().map(String::as_str).collect::<Vec<_>>(), false);
            let sorted: std::collections::BTreeSet<&str> =
                texts.iter().map(String::as_str).collect();
            check(&sorted.into_iter().collect::<Vec<_>>(), true);
        }

        #[test]
        fn any_bytes_are_an_error_or_texts(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(index) = TextIndex::read(&bytes, 100) {
                for page in 0..index.pages() {
                    if let Ok(page) = index.page(&bytes, page) {
                        prop_assert!(page.iter().count() <= 100);
                    }
                }
            }
        }
    }

    #[test]
    fn large_texts_have_pages_of_their_own() {
        let large = ["x".repeat(70_000), "y".repeat(63_000), "z".repeat(65_536)];
        check(&large.each_ref().map(String::as_str), true);
        check(&large.each_ref().map(String::as_str), false);
    }

    /// A section with one page of empty texts.
    fn of_empty_texts(texts: usize) -> Vec<u8> {
        let mut section = vec![AS_THEY_CAME];
        // Texts, pages, and of the page: texts, bytes unpacked, bytes stored.
        for number in [texts, 1, texts, texts, texts] {
            put_varint(&mut section, number as u64);
        }
        section.resize(section.len() + texts, 0);
        section
    }

    #[test]
    fn a_page_with_a_text_more_than_the_limit_is_refused() {
        let section = of_empty_texts(PAGE_TEXTS_MAX);
        let index = TextIndex::read(&section, PAGE_TEXTS_MAX).unwrap();
        assert_eq!(index.page(&section, 0).unwrap().len(), PAGE_TEXTS_MAX);
        assert!(TextIndex::read(&section, PAGE_TEXTS_MAX - 1).is_err(), "more than there are rows");
        assert!(TextIndex::read(&of_empty_texts(PAGE_TEXTS_MAX + 1), usize::MAX).is_err());
    }

    #[test]
    fn a_page_with_a_byte_more_than_the_limit_is_refused() {
        // The length of the text stands before it, in three bytes.
        let largest = "x".repeat(UNPACKED_BYTES_MAX - 3);
        check(&[largest.as_str()], false);
        let too_large = largest + "x";
        let packed = TextPacker::new(Effort::Seal).unwrap().as_they_came([&*too_large].into_iter());
        assert!(packed.is_err());
        let read = |unpacked: usize| {
            let mut section = vec![AS_THEY_CAME];
            for number in [1, 1, 1, unpacked, 0] {
                put_varint(&mut section, number as u64);
            }
            TextIndex::read(&section, 1).is_ok()
        };
        assert!(read(UNPACKED_BYTES_MAX));
        assert!(!read(UNPACKED_BYTES_MAX + 1));
    }
}
