//! A small column of integers that is decoded as a whole, when it is read for the first time.

use std::sync::OnceLock;

use super::CodecResult;
use super::bytes::Reader;
use super::integers::IntegerColumn;

#[derive(Debug)]
pub(super) struct LazyColumn<'a> {
    column: IntegerColumn<'a>,
    decoded: OnceLock<Vec<i64>>,
}

impl<'a> LazyColumn<'a> {
    /// Reads the column at the position of `reader`. Fails when it has more than `rows_max` rows.
    pub(super) fn read(reader: &mut Reader<'a>, rows_max: usize) -> CodecResult<Self> {
        Ok(Self { column: IntegerColumn::read(reader, rows_max)?, decoded: OnceLock::new() })
    }

    /// Returns all values.
    pub(super) fn values(&self) -> CodecResult<&[i64]> {
        if let Some(values) = self.decoded.get() {
            return Ok(values);
        }
        let mut values = Vec::new();
        self.column.all(&mut values)?;
        Ok(self.decoded.get_or_init(|| values))
    }

    /// Returns the approximate bytes in memory besides the encoded column.
    pub(super) fn bytes(&self) -> usize {
        self.column.bytes() + self.decoded.get().map_or(0, |values| size_of_val(values.as_slice()))
    }
}
