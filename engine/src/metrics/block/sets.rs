//! The columns of a block of sets: the length of each cell, then the cells behind each other in their stored form.
//!
//! ```text
//! bytes per cell: integers │ the cells
//! ```

use super::sketches::CellSketch;
use crate::codec::bytes::Reader;
use crate::codec::frame::FrameKind;
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};
use crate::sketch::{Cardinality, Distribution};

/// Bytes that count as one entry: those of a member that is kept.
const BYTES_PER_ENTRY: usize = size_of::<u64>();

impl CellSketch for Cardinality {
    const FRAME: FrameKind = FrameKind::Sets;
    const CELL_ENTRIES_MAX: usize = Cardinality::STORED_BYTES_MAX.div_ceil(BYTES_PER_ENTRY);

    fn add_bits(&mut self, bits: u64) {
        self.insert_hash(bits);
    }

    fn merge(&mut self, other: &Self) {
        Cardinality::merge(self, other);
    }

    fn merge_counted(&mut self, _: &Distribution) -> CodecResult<()> {
        Err(CodecError::new("values of a histogram are no members of a set"))
    }

    fn bytes(&self) -> usize {
        Cardinality::bytes(self)
    }

    fn entries(&self) -> usize {
        self.stored_bytes().div_ceil(BYTES_PER_ENTRY)
    }

    fn is_same(&self, other: &Self) -> bool {
        self == other
    }

    fn encode(cells: &[Self], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        let mut blob = Vec::new();
        let mut lengths = Vec::with_capacity(cells.len());
        for cell in cells {
            let before = blob.len();
            cell.encode(&mut blob);
            lengths.push((blob.len() - before) as i64);
        }
        integers::encode(&lengths, effort, out)?;
        out.extend_from_slice(&blob);
        Ok(())
    }

    fn decode(reader: &mut Reader<'_>, cells: usize) -> CodecResult<Vec<Self>> {
        let mut lengths = Vec::new();
        IntegerColumn::read_exactly(reader, cells)?.all(&mut lengths)?;
        lengths
            .into_iter()
            .map(|length| {
                let bytes = reader.take(usize::try_from(length).unwrap_or(usize::MAX))?;
                Cardinality::decode(bytes).map_err(|e| CodecError::new(e.to_string()))
            })
            .collect()
    }
}
