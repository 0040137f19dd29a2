//! A column of `i64`: constant, bit-packed or compressed by pco, whichever is smallest.
//!
//! ```text
//! rows: varint │ form: u8 │ body
//!   0 constant   value: signed varint
//!   1 packed     min: signed varint │ width: u8 │ rows × width bits, little-endian
//!   2 pco        header and chunk metadata: bytes │ one length per page: varint │ pages
//! ```
//!
//! Rows are decoded one page of [`PAGE_ROWS`] at a time. Values are stored as given, so that each
//! page can be decoded alone; callers take deltas first where that helps.

use std::cell::RefCell;
use std::sync::OnceLock;

use pco::metadata::{Bin, ChunkLatentVarMeta, ChunkMeta, DynBins, PerLatentVar};
use pco::wrapped::{ChunkDecompressor, FileCompressor, FileDecompressor};
use pco::{ChunkConfig, DecompressorScratch, DeltaSpec, ModeSpec, PagingSpec};

use super::bits::BitWriter;
use super::bytes::{Reader, put_bytes, put_signed, put_varint};
use super::{CodecError, CodecResult};
use crate::cast::{low_byte, low_word};

/// Rows per page: enough for pco to compress nearly as well as possible, few enough to decode for a
/// single series.
pub(crate) const PAGE_ROWS: usize = 4096;

/// Rows that pco decodes at once.
const PCO_BATCH_ROWS: usize = 256;

/// Below this many rows, the metadata of pco outweighs its savings.
const PCO_ROWS_MIN: usize = 96;

const FORM_CONSTANT: u8 = 0;
const FORM_PACKED: u8 = 1;
const FORM_PCO: u8 = 2;

/// How much work to spend on a small encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For a seal, while samples wait in memory.
    Seal,
    /// For a compaction in the background, whose output stays.
    Merge,
    /// No compression. The fallback when a compressed encoding does not decode to its input.
    Plain,
}

impl Effort {
    /// Returns the compression level of pco; `None` when it is not used.
    fn level(self) -> Option<usize> {
        match self {
            Self::Seal => Some(4),
            Self::Merge => Some(8),
            Self::Plain => None,
        }
    }
}

/// Appends `values` as a column.
pub(crate) fn encode(values: &[i64], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
    put_varint(out, values.len() as u64);
    let Some((&first, rest)) = values.split_first() else { return Ok(()) };
    let (min, max) = rest.iter().fold((first, first), |(lo, hi), &v| (lo.min(v), hi.max(v)));
    if min == max {
        out.push(FORM_CONSTANT);
        put_signed(out, first);
        return Ok(());
    }
    let width = 64 - max.wrapping_sub(min).cast_unsigned().leading_zeros();
    let packed_bytes = (values.len() * width as usize).div_ceil(8);
    if values.len() >= PCO_ROWS_MIN
        && let Some(level) = effort.level()
    {
        let mark = out.len();
        out.push(FORM_PCO);
        encode_pco(values, level, out)?;
        if out.len() - mark < packed_bytes {
            return Ok(());
        }
        out.truncate(mark);
    }
    out.push(FORM_PACKED);
    put_signed(out, min);
    out.push(low_byte(u64::from(width)));
    pack(values, min, width, out);
    Ok(())
}

fn encode_pco(values: &[i64], level: usize, out: &mut Vec<u8>) -> CodecResult<()> {
    let pages: Vec<usize> = values.chunks(PAGE_ROWS).map(<[i64]>::len).collect();
    let config = ChunkConfig::default()
        .with_compression_level(level)
        .with_mode_spec(ModeSpec::Classic)
        .with_delta_spec(DeltaSpec::NoOp)
        .with_paging_spec(PagingSpec::Exact(pages.clone()));
    let file = FileCompressor::default();
    let mut chunk = file.chunk_compressor(values, &config)?;
    let head = chunk.write_meta(file.write_header(Vec::new())?)?;
    put_bytes(out, &head);
    let mut body = Vec::with_capacity(values.len());
    for page in 0..pages.len() {
        let before = body.len();
        body = chunk.write_page(page, body)?;
        put_varint(out, (body.len() - before) as u64);
    }
    out.extend_from_slice(&body);
    Ok(())
}

fn pack(values: &[i64], min: i64, width: u32, out: &mut Vec<u8>) {
    let mut bits = BitWriter::default();
    for &value in values {
        bits.push(value.wrapping_sub(min).cast_unsigned(), width, out);
    }
    bits.finish(out);
}

fn unpack(bytes: &[u8], min: i64, width: usize, skip: usize, out: &mut [i64]) {
    let mask = u64::MAX >> (64 - width);
    let first_bit = skip * width;
    let mut source = bytes.get(first_bit / 8..).unwrap_or_default().iter();
    let mut pending = 0u128;
    let mut bits = 0;
    let mut drop_bits = first_bit % 8;
    for row in out {
        while bits < width + drop_bits {
            pending |= u128::from(source.next().copied().unwrap_or(0)) << bits;
            bits += 8;
        }
        pending >>= drop_bits;
        bits -= drop_bits;
        drop_bits = 0;
        *row = min.wrapping_add((low_word(pending) & mask).cast_signed());
        pending >>= width;
        bits -= width;
    }
}

/// A column in a block, opened but not decoded.
#[derive(Debug)]
pub(crate) struct IntegerColumn<'a> {
    rows: usize,
    body: Body<'a>,
}

#[derive(Debug)]
enum Body<'a> {
    Constant(i64),
    Packed { min: i64, width: usize, bytes: &'a [u8] },
    Pco(PcoPages<'a>),
}

/// Pages of pco. The tables to decode them are made for the first page that is read: most columns
/// of a block that is opened are not.
#[derive(Debug)]
struct PcoPages<'a> {
    /// Header and metadata.
    head: Followed<'a>,
    chunk: OnceLock<Box<ChunkDecompressor<i64>>>,
    pages: Vec<Followed<'a>>,
}

/// Bytes of pco, with what follows them in the block. pco reads some kilobytes ahead; where fewer
/// are left, it copies them into a larger buffer, which took a third of the time of a short page.
#[derive(Clone, Copy, Debug)]
struct Followed<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> Followed<'a> {
    fn take(reader: &mut Reader<'a>, len: usize) -> CodecResult<Self> {
        let bytes = reader.rest();
        reader.take(len)?;
        Ok(Self { bytes, len })
    }

    /// Fails unless exactly these bytes were read, or not more if `is_partial`; `rest` is what was
    /// not read of them and of those that follow.
    fn expect_read(&self, rest: &[u8], is_partial: bool) -> CodecResult<()> {
        let read = self.bytes.len().saturating_sub(rest.len());
        if read == self.len || (is_partial && read < self.len) {
            return Ok(());
        }
        let len = self.len;
        Err(CodecError::new(format!("compressed integers end after {read} bytes instead of {len}")))
    }
}

thread_local! {
    /// What pco decodes a batch into; clearing it for each page would take longer than a batch.
    static SCRATCH: RefCell<DecompressorScratch> = RefCell::default();
}

impl PcoPages<'_> {
    fn chunk(&self) -> CodecResult<&ChunkDecompressor<i64>> {
        if let Some(chunk) = self.chunk.get() {
            return Ok(chunk);
        }
        let (file, rest) = FileDecompressor::new(self.head.bytes)?;
        let (chunk, rest) = file.chunk_decompressor::<i64, _>(rest)?;
        self.head.expect_read(rest, false)?;
        Ok(self.chunk.get_or_init(|| Box::new(chunk)))
    }

    fn bytes(&self) -> usize {
        let tables = self.chunk.get().map_or(0, |chunk| table_bytes(chunk.meta()));
        size_of_val(self.pages.as_slice()) + tables
    }

    /// Decodes rows of a page of `rows_of_page` rows until `out` is full.
    fn decode(&self, page: usize, rows_of_page: usize, out: &mut [i64]) -> CodecResult<()> {
        let Some(source) = self.pages.get(page) else {
            return Err(CodecError::new(format!("page {page} does not exist")));
        };
        let chunk = self.chunk()?;
        SCRATCH.with_borrow_mut(|scratch| {
            let mut decompressor =
                chunk.page_decompressor_with_scratch(source.bytes, rows_of_page, scratch)?;
            let progress = decompressor.read(out)?;
            if progress.n_processed != out.len() {
                return Err(CodecError::new(format!("page {page} has too few rows")));
            }
            source.expect_read(decompressor.into_src(), !progress.finished)
        })
    }
}

impl<'a> IntegerColumn<'a> {
    /// Reads the column at the position of `reader`. Fails when it has more than `rows_max` rows.
    pub(crate) fn read(reader: &mut Reader<'a>, rows_max: usize) -> CodecResult<Self> {
        let rows = reader.count("rows", rows_max)?;
        if rows == 0 {
            return Ok(Self { rows, body: Body::Constant(0) });
        }
        let body = match reader.u8()? {
            FORM_CONSTANT => Body::Constant(reader.signed()?),
            FORM_PACKED => {
                let min = reader.signed()?;
                let width = usize::from(reader.u8()?);
                if !(1..=64).contains(&width) {
                    return Err(CodecError::new(format!(
                        "invalid width of packed integers: {width} bits"
                    )));
                }
                Body::Packed { min, width, bytes: reader.take((rows * width).div_ceil(8))? }
            }
            FORM_PCO => read_pco(reader, rows)?,
            form => return Err(CodecError::new(format!("unknown integer encoding {form}"))),
        };
        Ok(Self { rows, body })
    }

    /// Reads the column at the position of `reader`. Fails unless it has `rows` rows.
    pub(crate) fn read_exactly(reader: &mut Reader<'a>, rows: usize) -> CodecResult<Self> {
        let column = Self::read(reader, rows)?;
        column.check_rows(rows)?;
        Ok(column)
    }

    /// Fails unless the column has `wanted` rows.
    pub(super) fn check_rows(&self, wanted: usize) -> CodecResult<()> {
        if self.rows == wanted {
            Ok(())
        } else {
            Err(CodecError::new(format!("expected {wanted} rows, found {}", self.rows)))
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of rows of a page.
    pub(crate) fn rows_of_page(&self, page: usize) -> usize {
        self.rows.saturating_sub(page * PAGE_ROWS).min(PAGE_ROWS)
    }

    /// Decodes page `page` into `out`, replacing its contents.
    pub(crate) fn page(&self, page: usize, out: &mut Vec<i64>) -> CodecResult<()> {
        self.prefix(page, PAGE_ROWS, out)
    }

    /// Decodes the first `rows` rows of page `page` into `out`, replacing its contents, and a few
    /// more where that is no work.
    pub(crate) fn prefix(&self, page: usize, rows: usize, out: &mut Vec<i64>) -> CodecResult<()> {
        let rows = rows.next_multiple_of(PCO_BATCH_ROWS).min(self.rows_of_page(page));
        // Not cleared first: rows that are overwritten need no zeros.
        out.resize(rows, 0);
        self.fill(page, page * PAGE_ROWS, out)
    }

    /// Makes what decoding needs. Fails if that is damaged.
    pub(crate) fn prepare(&self) -> CodecResult<()> {
        match &self.body {
            Body::Pco(pco) => pco.chunk().map(drop),
            Body::Constant(_) | Body::Packed { .. } => Ok(()),
        }
    }

    /// Returns the approximate bytes in memory besides the encoded column.
    pub(crate) fn bytes(&self) -> usize {
        match &self.body {
            Body::Pco(pco) => pco.bytes(),
            Body::Constant(_) | Body::Packed { .. } => 0,
        }
    }

    /// Returns the value of all rows, if they are stored as one.
    pub(crate) fn constant(&self) -> Option<i64> {
        match self.body {
            Body::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Decodes all rows into `out`, replacing its contents.
    pub(crate) fn all(&self, out: &mut Vec<i64>) -> CodecResult<()> {
        out.resize(self.rows, 0);
        for (page, rows) in out.chunks_mut(PAGE_ROWS).enumerate() {
            self.fill(page, page * PAGE_ROWS, rows)?;
        }
        Ok(())
    }

    /// Decodes rows of page `page`, which begins with row `skip` of the column, until `out` is
    /// full.
    fn fill(&self, page: usize, skip: usize, out: &mut [i64]) -> CodecResult<()> {
        match &self.body {
            Body::Constant(value) => out.fill(*value),
            Body::Packed { min, width, bytes } => unpack(bytes, *min, *width, skip, out),
            Body::Pco(pco) => pco.decode(page, self.rows_of_page(page), out)?,
        }
        Ok(())
    }
}

/// Returns the approximate bytes of the tables to decode a chunk: of each variable, a table of
/// states with 12 bytes each, and the bins.
fn table_bytes(meta: &ChunkMeta) -> usize {
    let PerLatentVar { delta, primary, secondary } = &meta.per_latent_var;
    let bytes = |var: &ChunkLatentVarMeta| {
        let states = 1usize.checked_shl(var.ans_size_log).unwrap_or(usize::MAX);
        let bins = match &var.bins {
            DynBins::U64(bins) => size_of_val(bins.as_slice()),
            // Integers of 64 bits have bins of 64 bits, unless the chunk is damaged.
            _ => states.saturating_mul(size_of::<Bin<u64>>()),
        };
        states.saturating_mul(12).saturating_add(bins)
    };
    let others = [delta, secondary].into_iter().flatten().map(bytes);
    others.fold(bytes(primary), usize::saturating_add).saturating_add(size_of::<ChunkMeta>())
}

fn read_pco<'a>(reader: &mut Reader<'a>, rows: usize) -> CodecResult<Body<'a>> {
    let head = reader.count("bytes of metadata", reader.rest().len())?;
    let head = Followed::take(reader, head)?;
    let lengths = reader.lengths(rows.div_ceil(PAGE_ROWS))?;
    let pages = lengths.into_iter().map(|len| Followed::take(reader, len));
    let pages = pages.collect::<CodecResult<Vec<_>>>()?;
    Ok(Body::Pco(PcoPages { head, chunk: OnceLock::new(), pages }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(values: &[i64]) {
        for effort in [Effort::Seal, Effort::Merge, Effort::Plain] {
            let mut bytes = Vec::new();
            encode(values, effort, &mut bytes).unwrap();
            let mut reader = Reader::new(&bytes);
            let column = IntegerColumn::read(&mut reader, values.len()).unwrap();
            reader.finish().unwrap();
            let mut out = vec![7];
            column.all(&mut out).unwrap();
            assert_eq!(out, values);
            for (page, expected) in values.chunks(PAGE_ROWS).enumerate() {
                column.page(page, &mut out).unwrap();
                assert_eq!(out, expected, "page {page}");
                for rows in [1, 255, 256, 257, PAGE_ROWS - 1] {
                    column.prefix(page, rows, &mut out).unwrap();
                    assert!(out.len() >= rows.min(expected.len()), "{rows} rows of page {page}");
                    assert_eq!(out, expected[..out.len()], "{rows} rows of page {page}");
                }
            }
        }
    }

    #[test]
    fn a_column_of_another_length_is_refused() {
        let mut bytes = Vec::new();
        encode(&[5; 10], Effort::Seal, &mut bytes).unwrap();
        let read = |rows| IntegerColumn::read_exactly(&mut Reader::new(&bytes), rows);
        assert_eq!(read(10).unwrap().rows(), 10);
        assert_eq!(read(11).unwrap_err().to_string(), "expected 11 rows, found 10");
        assert!(read(9).is_err());
    }

    #[test]
    fn every_encoding_round_trips() {
        check(&[]);
        check(&[i64::MIN]);
        check(&[5; 10_000]);
        check(&[i64::MIN, i64::MAX, 0, -1]);
        check(&(0..50).map(|i| i * i - 7).collect::<Vec<_>>());
        check(&(0..10_000).map(|i| i * i % 1013 - 500).collect::<Vec<_>>());
        check(
            &(0..9_000)
                .map(|i: i64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64))
                .collect::<Vec<_>>(),
        );
    }

    proptest! {
        #[test]
        fn any_values_round_trip(values in proptest::collection::vec(any::<i64>(), 0..300)) {
            check(&values);
        }

        #[test]
        fn small_values_round_trip(values in proptest::collection::vec(-9i64..9, 0..6000)) {
            check(&values);
        }

        #[test]
        fn arbitrary_bytes_never_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(column) = IntegerColumn::read(&mut Reader::new(&bytes), 5000) {
                let mut out = Vec::new();
                if column.all(&mut out).is_ok() {
                    prop_assert_eq!(out.len(), column.rows());
                }
            }
        }
    }
}
