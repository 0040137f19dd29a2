//! The columns of a block of cells, opened but not decoded.

use super::info::BlockInfo;
use super::predicted::PredictedColumns;
use super::rows::Rows;
use crate::codec::bytes::Reader;
use crate::codec::floats::FloatColumn;
use crate::codec::integers::IntegerColumn;
use crate::codec::{CodecError, CodecResult};
use crate::model::MetricType;

pub(super) const SUMS_AS_FLOATS: u8 = 0;
pub(super) const SUMS_AS_UNITS: u8 = 1;
pub(super) const WITH_HUGE_SUMS: u8 = 2;
pub(super) const PREDICTED: u8 = 4;

/// The columns of a block.
#[derive(Debug)]
pub(super) enum CellColumns<'a> {
    /// Of counters.
    Sums(SumColumns<'a>),
    Gauge {
        counts: IntegerColumn<'a>,
        numbers: GaugeNumbers<'a>,
        last_offset: IntegerColumn<'a>,
    },
}

/// The numbers of gauges.
#[derive(Debug)]
pub(super) enum GaugeNumbers<'a> {
    /// Each column can be decoded alone.
    Alone {
        sums: SumColumns<'a>,
        min: FloatColumn<'a>,
        max: FloatColumn<'a>,
        last: FloatColumn<'a>,
    },
    Predicted(PredictedColumns<'a>),
}

#[derive(Debug)]
pub(super) struct SumColumns<'a> {
    pub(super) decimals: DecimalSums<'a>,
    pub(super) high: FloatColumn<'a>,
    pub(super) low: FloatColumn<'a>,
    pub(super) huge: Option<(FloatColumn<'a>, FloatColumn<'a>)>,
}

#[derive(Debug)]
pub(super) enum DecimalSums<'a> {
    Floats(FloatColumn<'a>),
    Units { low: IntegerColumn<'a>, high: IntegerColumn<'a> },
}

impl<'a> CellColumns<'a> {
    /// Reads the columns at the position of `reader`.
    pub(super) fn read(
        info: &BlockInfo,
        rows: &Rows<'_>,
        reader: &mut Reader<'a>,
    ) -> CodecResult<Self> {
        let rows = rows.len();
        let form = reader.u8()?;
        let is_gauge = info.kind == MetricType::Gauge;
        if form == PREDICTED && is_gauge {
            let counts = IntegerColumn::read_exactly(reader, rows)?;
            let numbers = GaugeNumbers::Predicted(PredictedColumns::read(reader, rows)?);
            let last_offset = IntegerColumn::read_exactly(reader, rows)?;
            return Ok(Self::Gauge { counts, numbers, last_offset });
        }
        let sums = SumColumns::read(form, reader, rows)?;
        if !is_gauge {
            return Ok(Self::Sums(sums));
        }
        let counts = IntegerColumn::read_exactly(reader, rows)?;
        let numbers = GaugeNumbers::Alone {
            sums,
            min: FloatColumn::read_exactly(reader, rows)?,
            max: FloatColumn::read_exactly(reader, rows)?,
            last: FloatColumn::read_exactly(reader, rows)?,
        };
        let last_offset = IntegerColumn::read_exactly(reader, rows)?;
        Ok(Self::Gauge { counts, numbers, last_offset })
    }

    /// Returns the approximate bytes in memory besides the block.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Sums(sums) => sums.bytes(),
            Self::Gauge { counts, numbers, last_offset } => {
                counts.bytes() + numbers.bytes() + last_offset.bytes()
            }
        }
    }
}

impl GaugeNumbers<'_> {
    fn bytes(&self) -> usize {
        match self {
            Self::Alone { sums, min, max, last } => {
                sums.bytes() + min.bytes() + max.bytes() + last.bytes()
            }
            Self::Predicted(columns) => columns.bytes(),
        }
    }
}

impl<'a> SumColumns<'a> {
    fn bytes(&self) -> usize {
        let decimals = match &self.decimals {
            DecimalSums::Floats(column) => column.bytes(),
            DecimalSums::Units { low, high } => low.bytes() + high.bytes(),
        };
        let huge = self.huge.as_ref().map_or(0, |(high, low)| high.bytes() + low.bytes());
        decimals + self.high.bytes() + self.low.bytes() + huge
    }

    fn read(form: u8, reader: &mut Reader<'a>, rows: usize) -> CodecResult<Self> {
        let decimals = match form & !WITH_HUGE_SUMS {
            SUMS_AS_FLOATS => DecimalSums::Floats(FloatColumn::read_exactly(reader, rows)?),
            SUMS_AS_UNITS => DecimalSums::Units {
                low: IntegerColumn::read_exactly(reader, rows)?,
                high: IntegerColumn::read_exactly(reader, rows)?,
            },
            _ => return Err(CodecError::new(format!("unknown encoding {form} of sums"))),
        };
        let high = FloatColumn::read_exactly(reader, rows)?;
        let low = FloatColumn::read_exactly(reader, rows)?;
        let huge = match form & WITH_HUGE_SUMS {
            0 => None,
            _ => Some((
                FloatColumn::read_exactly(reader, rows)?,
                FloatColumn::read_exactly(reader, rows)?,
            )),
        };
        Ok(Self { decimals, high, low, huge })
    }
}
