//! Clustered order: rows sorted by name, then by row. Sections in this order are addressed by
//! position.

use super::codes::ColumnCodes;
use crate::cast::to_u32;
use crate::limits::EVENT_BLOCK_ROWS_MAX;

/// The position of every row in clustered order.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    positions: Vec<u16>,
}

impl Clusters {
    /// Returns the order of `rows` rows whose names have `names` distinct strings.
    pub(super) fn new(codes: &ColumnCodes, names: usize, rows: usize) -> Self {
        // Rows without a name, which only a corrupt block has, come first.
        let mut next = vec![0u32; names + 2];
        for row in 0..rows {
            next[codes.code(row) as usize + 1] += 1;
        }
        let mut before = 0;
        for start in &mut next {
            before += *start;
            *start = before;
        }
        let positions = (0..rows).map(|row| {
            let start = &mut next[codes.code(row) as usize];
            let position = *start;
            *start += 1;
            u16::try_from(position).unwrap_or_else(|_| {
                panic!("position {position}: a block has at most {EVENT_BLOCK_ROWS_MAX} rows")
            })
        });
        Self { positions: positions.collect() }
    }

    /// Returns the position of a row of the block.
    #[inline]
    pub(super) fn position(&self, row: usize) -> usize {
        usize::from(self.positions[row])
    }

    /// Returns the rows in clustered order.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut order = vec![0; self.positions.len()];
        for (row, position) in self.positions.iter().enumerate() {
            order[usize::from(*position)] = to_u32(row);
        }
        order
    }

    /// Returns the bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.positions.len() * 2
    }
}
