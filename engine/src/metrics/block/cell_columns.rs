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
    Sums(Box<SumColumns<'a>>),
    Gauge(Box<GaugeColumns<'a>>),
}

#[derive(Debug)]
pub(super) struct GaugeColumns<'a> {
    pub(super) counts: IntegerColumn<'a>,
    pub(super) numbers: GaugeNumbers<'a>,
    pub(super) last_offset: IntegerColumn<'a>,
}

/// The numbers of gauges.
#[derive(Debug)]
pub(super) enum GaugeNumbers<'a> {
    Alone(Box<AloneColumns<'a>>),
    Predicted(Box<PredictedColumns<'a>>),
}

/// Columns that can each be decoded alone.
#[derive(Debug)]
pub(super) struct AloneColumns<'a> {
    pub(super) sums: SumColumns<'a>,
    pub(super) min: FloatColumn<'a>,
    pub(super) max: FloatColumn<'a>,
    pub(super) last: FloatColumn<'a>,
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
        if info.kind != MetricType::Gauge {
            return Ok(Self::Sums(Box::new(SumColumns::read(form, reader, rows)?)));
        }
        GaugeColumns::read(form, reader, rows).map(|columns| Self::Gauge(Box::new(columns)))
    }

    /// Returns the approximate bytes in memory besides the block.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Sums(sums) => size_of_val(&**sums) + sums.bytes(),
            Self::Gauge(columns) => size_of_val(&**columns) + columns.bytes(),
        }
    }
}

impl<'a> GaugeColumns<'a> {
    fn read(form: u8, reader: &mut Reader<'a>, rows: usize) -> CodecResult<Self> {
        let integers = |reader: &mut Reader<'a>| IntegerColumn::read_exactly(reader, rows);
        let floats = |reader: &mut Reader<'a>| FloatColumn::read_exactly(reader, rows);
        if form == PREDICTED {
            let counts = integers(reader)?;
            let columns = PredictedColumns::read(reader, rows)?;
            let numbers = GaugeNumbers::Predicted(Box::new(columns));
            return Ok(Self { counts, numbers, last_offset: integers(reader)? });
        }
        let sums = SumColumns::read(form, reader, rows)?;
        let counts = integers(reader)?;
        let (min, max, last) = (floats(reader)?, floats(reader)?, floats(reader)?);
        let numbers = GaugeNumbers::Alone(Box::new(AloneColumns { sums, min, max, last }));
        Ok(Self { counts, numbers, last_offset: integers(reader)? })
    }

    fn bytes(&self) -> usize {
        let Self { counts, numbers, last_offset } = self;
        counts.bytes() + numbers.bytes() + last_offset.bytes()
    }
}

impl GaugeNumbers<'_> {
    fn bytes(&self) -> usize {
        match self {
            Self::Alone(columns) => {
                let AloneColumns { sums, min, max, last } = &**columns;
                let floats = [min, max, last].into_iter().map(FloatColumn::bytes).sum::<usize>();
                size_of_val(&**columns) + sums.bytes() + floats
            }
            Self::Predicted(columns) => size_of_val(&**columns) + columns.bytes(),
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
