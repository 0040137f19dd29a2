//! Clustered order: rows sorted by name, then by row. Sections in this order are addressed by
//! position.

use super::codes::ColumnCodes;

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
            if let Some(count) = next.get_mut(codes.code(row) as usize + 1) {
                *count += 1;
            }
        }
        let mut before = 0;
        for start in &mut next {
            before += *start;
            *start = before;
        }
        let positions = (0..rows).map(|row| {
            let Some(start) = next.get_mut(codes.code(row) as usize) else { return 0 };
            let position = *start;
            *start += 1;
            position as u16
        });
        Self { positions: positions.collect() }
    }

    /// Returns the position of a row, or `usize::MAX` if there is no such row.
    #[inline]
    pub(super) fn position(&self, row: usize) -> usize {
        self.positions.get(row).copied().map_or(usize::MAX, usize::from)
    }

    /// Returns the rows in clustered order.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut order = vec![0; self.positions.len()];
        for (row, position) in self.positions.iter().enumerate() {
            if let Some(slot) = order.get_mut(usize::from(*position)) {
                *slot = row as u32;
            }
        }
        order
    }

    /// Returns the bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.positions.len() * 2
    }
}
