//! Pages of a column: byte slices one after the other, which are decoded one at a time.

use super::bytes::Reader;
use super::{CodecError, CodecResult};

/// Pages to decode in one call where both are wanted: the codes of two pages of words are read in
/// 0.58 of the time.
pub(crate) const PAGES_AT_ONCE: usize = 2;

/// Bytes of a page, with what follows them in the block. Decoders read some bytes ahead; where
/// fewer are left, pco copies them into a larger buffer, which took a third of the time of a short
/// page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) len: usize,
}

impl<'a> Followed<'a> {
    pub(super) fn take(reader: &mut Reader<'a>, len: usize) -> CodecResult<Self> {
        let bytes = reader.rest();
        reader.take(len)?;
        Ok(Self { bytes, len })
    }

    /// Reads the lengths of `count` pages, and then the pages.
    pub(super) fn take_pages(reader: &mut Reader<'a>, count: usize) -> CodecResult<Vec<Self>> {
        let lengths = reader.lengths(count)?;
        lengths.into_iter().map(|len| Self::take(reader, len)).collect()
    }

    /// Fails unless all bytes were read, or not more than all if `is_partial`.
    pub(super) fn expect_read(&self, read: usize, is_partial: bool) -> CodecResult<()> {
        if read == self.len || (is_partial && read < self.len) {
            return Ok(());
        }
        let len = self.len;
        Err(CodecError::new(format!("compressed integers end after {read} bytes instead of {len}")))
    }
}

/// Returns page `page`.
pub(super) fn page_of<'p, 'a>(
    pages: &'p [Followed<'a>],
    page: usize,
) -> CodecResult<&'p Followed<'a>> {
    pages.get(page).ok_or_else(|| CodecError::new(format!("page {page} does not exist")))
}
