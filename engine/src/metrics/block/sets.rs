//! The columns of a block of sets: the length of each cell, then the cells in their stored form.
//!
//! ```text
//! bytes per cell: integers │ the cells
//! ```

use std::ops::Range;

use super::sketches::{CellCursor, CellSketch};
use crate::cast::length;
use crate::codec::bytes::Reader;
use crate::codec::frame::FrameKind;
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};
use crate::sketch::{Cardinality, Distribution};

/// The number of bytes that count as one entry: the size of an exactly stored member.
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
        Err(CodecError::new("a set has no values of a histogram"))
    }

    fn entries(&self) -> usize {
        self.stored_bytes().div_ceil(BYTES_PER_ENTRY)
    }

    fn bytes(&self) -> usize {
        Cardinality::bytes(self)
    }

    type Columns = SetColumns;

    fn push(&self, columns: &mut SetColumns) {
        let before = columns.cells.len();
        self.encode(&mut columns.cells);
        columns.lengths.push(length(columns.cells.len() - before));
    }

    fn are_same(a: &SetColumns, b: &SetColumns) -> bool {
        a == b
    }

    fn columns_bytes(columns: &SetColumns) -> usize {
        size_of_val(columns.lengths.as_slice()) + columns.cells.len()
    }

    fn encode(columns: &SetColumns, effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        integers::encode(&columns.lengths, effort, out)?;
        out.extend_from_slice(&columns.cells);
        Ok(())
    }

    fn decode(reader: &mut Reader<'_>, cells: usize) -> CodecResult<SetColumns> {
        let mut columns = SetColumns::default();
        IntegerColumn::read_exactly(reader, cells)?.all(&mut columns.lengths)?;
        for length in &columns.lengths {
            let cell = reader.take(usize::try_from(*length).unwrap_or(usize::MAX))?;
            columns.cells.extend_from_slice(cell);
        }
        Ok(columns)
    }

    fn each(
        columns: &SetColumns,
        rows: Range<usize>,
        mut sink: impl FnMut(Self) -> bool,
    ) -> CodecResult<()> {
        let mut cells = Reader::new(&columns.cells);
        for (row, length) in columns.lengths.iter().enumerate().take(rows.end) {
            let cell = cells.take(usize::try_from(*length).unwrap_or(usize::MAX))?;
            if row < rows.start {
                continue;
            }
            let cell = Cardinality::decode(cell).map_err(|e| CodecError::new(e.to_string()))?;
            if !sink(cell) {
                break;
            }
        }
        Ok(())
    }

    type Cursor<'c> = SetCursor<'c>;

    fn cursor(columns: &SetColumns) -> SetCursor<'_> {
        SetCursor { lengths: columns.lengths.iter(), cells: Reader::new(&columns.cells) }
    }
}

/// Reads the cells of a block in order.
#[derive(Debug)]
pub(crate) struct SetCursor<'c> {
    lengths: std::slice::Iter<'c, i64>,
    cells: Reader<'c>,
}

impl<'c> SetCursor<'c> {
    fn next(&mut self) -> CodecResult<&'c [u8]> {
        let length = self.lengths.next();
        let length = length.ok_or_else(|| CodecError::new("the block has more rows than cells"))?;
        self.cells.take(usize::try_from(*length).unwrap_or(usize::MAX))
    }
}

impl CellCursor<Cardinality> for SetCursor<'_> {
    fn skip(&mut self) -> CodecResult<()> {
        self.next().map(drop)
    }

    fn check(&mut self) -> CodecResult<()> {
        Cardinality::decode(self.next()?).map(drop).map_err(|e| CodecError::new(e.to_string()))
    }

    fn merge_checked(&mut self, sketch: &mut Cardinality) -> CodecResult<()> {
        let cell = Cardinality::decode(self.next()?);
        sketch.merge(&cell.map_err(|e| CodecError::new(e.to_string()))?);
        Ok(())
    }
}

/// The lengths of the cells, and the concatenated cells.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SetColumns {
    lengths: Vec<i64>,
    cells: Vec<u8>,
}
