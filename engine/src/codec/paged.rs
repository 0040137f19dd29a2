//! Pages of a column: byte slices one after the other, which are decoded one at a time.

use super::bits::{BitReader, BitWriter};
use super::bytes::{Reader, put_varint};
use super::{CodecError, CodecResult};
use crate::cast::low_byte;

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

    /// Reads `count` pages of nearly the same length, as [`put_similar_pages`] appends them.
    pub(super) fn take_similar_pages(
        reader: &mut Reader<'a>,
        count: usize,
    ) -> CodecResult<Vec<Self>> {
        let shortest = reader.count("bytes of a page", reader.rest().len())?;
        let width = u32::from(reader.u8()?);
        if width > usize::BITS {
            return Err(CodecError::new(format!("invalid width of lengths: {width} bits")));
        }
        let packed = reader.take((count * width as usize).div_ceil(8))?;
        let mut packed = BitReader::new(packed);
        let page = |_| {
            let more = packed.take(width)?;
            let len = usize::try_from(more).ok().and_then(|more| shortest.checked_add(more));
            let len = len.ok_or_else(|| CodecError::new("a page is too long"))?;
            Self::take(reader, len)
        };
        (0..count).map(page).collect()
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

/// Appends pages, given their lengths and all of their bytes: the shortest length, and what the
/// others are longer, in as many bits as that takes.
pub(super) fn put_similar_pages(lengths: &[usize], pages: &[u8], out: &mut Vec<u8>) {
    let shortest = lengths.iter().min().copied().unwrap_or_default();
    let more = |length: &usize| (length - shortest) as u64;
    let width = u64::BITS - lengths.iter().map(more).max().unwrap_or_default().leading_zeros();
    put_varint(out, shortest as u64);
    out.push(low_byte(u64::from(width)));
    let mut bits = BitWriter::default();
    lengths.iter().for_each(|length| bits.push(more(length), width, out));
    bits.finish(out);
    out.extend_from_slice(pages);
}

/// Returns page `page`.
pub(super) fn page_of<'p, 'a>(
    pages: &'p [Followed<'a>],
    page: usize,
) -> CodecResult<&'p Followed<'a>> {
    pages.get(page).ok_or_else(|| CodecError::new(format!("page {page} does not exist")))
}
