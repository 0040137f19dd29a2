//! Integers compressed by pco.
//!
//! ```text
//! header and chunk metadata: bytes │ one length per page: varint │ pages
//! ```

use std::cell::RefCell;
use std::sync::OnceLock;

use pco::metadata::{Bin, ChunkLatentVarMeta, ChunkMeta, DynBins, PerLatentVar};
use pco::wrapped::{ChunkDecompressor, FileCompressor, FileDecompressor};
use pco::{ChunkConfig, DecompressorScratch, DeltaSpec, ModeSpec, PagingSpec};

use super::bytes::{Reader, put_bytes, put_varint};
use super::paged::{Followed, page_of};
use super::{CodecError, CodecResult};

/// Rows that pco decodes at once.
pub(super) const BATCH_ROWS: usize = 256;

/// Appends pages of `page_rows` values each, compressed at a level of pco.
pub(super) fn encode(
    values: &[i64],
    page_rows: usize,
    level: usize,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    let pages: Vec<usize> = values.chunks(page_rows).map(<[i64]>::len).collect();
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

/// Pages of pco. The tables to decode them are made for the first page that is read: most columns
/// of a block that is opened are not.
#[derive(Debug)]
pub(super) struct PcoPages<'a> {
    /// Header and metadata.
    head: Followed<'a>,
    chunk: OnceLock<Box<ChunkDecompressor<i64>>>,
    pages: Vec<Followed<'a>>,
}

thread_local! {
    /// What pco decodes a batch into; clearing it for each page would take longer than a batch.
    static SCRATCH: RefCell<DecompressorScratch> = RefCell::default();
}

impl<'a> PcoPages<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, pages: usize) -> CodecResult<Self> {
        let head = reader.count("bytes of metadata", reader.rest().len())?;
        let head = Followed::take(reader, head)?;
        let pages = Followed::take_pages(reader, pages)?;
        Ok(Self { head, chunk: OnceLock::new(), pages })
    }

    /// Makes what decoding needs. Fails if that is damaged.
    pub(super) fn prepare(&self) -> CodecResult<()> {
        self.chunk().map(drop)
    }

    fn chunk(&self) -> CodecResult<&ChunkDecompressor<i64>> {
        if let Some(chunk) = self.chunk.get() {
            return Ok(chunk);
        }
        let (file, rest) = FileDecompressor::new(self.head.bytes)?;
        let (chunk, rest) = file.chunk_decompressor::<i64, _>(rest)?;
        self.head.expect_read(self.head.bytes.len().saturating_sub(rest.len()), false)?;
        Ok(self.chunk.get_or_init(|| Box::new(chunk)))
    }

    /// Returns the approximate bytes in memory besides the encoded column.
    pub(super) fn bytes(&self) -> usize {
        let tables = self.chunk.get().map_or(0, |chunk| table_bytes(chunk.meta()));
        size_of_val(self.pages.as_slice()) + tables
    }

    /// Decodes rows of a page of `rows_of_page` rows until `out` is full.
    pub(super) fn decode(
        &self,
        page: usize,
        rows_of_page: usize,
        out: &mut [i64],
    ) -> CodecResult<()> {
        let source = page_of(&self.pages, page)?;
        let chunk = self.chunk()?;
        SCRATCH.with_borrow_mut(|scratch| {
            let mut decompressor =
                chunk.page_decompressor_with_scratch(source.bytes, rows_of_page, scratch)?;
            let progress = decompressor.read(out)?;
            if progress.n_processed != out.len() {
                return Err(CodecError::new(format!("page {page} has too few rows")));
            }
            let rest = decompressor.into_src().len();
            source.expect_read(source.bytes.len().saturating_sub(rest), !progress.finished)
        })
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
