//! A block that stays open: its bytes, and what reading them has shown so far. A dashboard asks
//! for the same blocks at each refresh, and for few series opening one takes longer than reading.

use std::ops::Deref;
use std::sync::Arc;

use self_cell::self_cell;

use super::cells::{CellBlock, OpenedCells};
use super::check::expect_info;
use super::info::{BlockInfo, Tier};
use super::points::{OpenedPoints, PointBlock};
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::metrics::times::{PageNumber, TimePage, TimePageGroup};

/// What a reader of a block reads: a block that it opened itself, or one that stays open.
#[derive(Debug)]
pub(super) enum Held<'a, T> {
    Own(T),
    Kept(&'a T),
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Own(opened) => opened,
            Self::Kept(opened) => opened,
        }
    }
}

/// An opened block of a gauge or counter.
#[derive(Debug)]
enum Opened<'a> {
    Points(Box<OpenedPoints<'a>>),
    Cells(Box<OpenedCells<'a>>),
}

self_cell!(
    struct BytesAndOpened {
        owner: Box<[u8]>,
        #[covariant]
        dependent: Opened,
    }

    impl {Debug}
);

/// A block of a gauge or counter that stays open.
#[derive(Debug)]
pub(crate) struct OpenedBlock {
    page_group: TimePageGroup,
    block: BytesAndOpened,
    /// Whether all rows were decoded, where there are stops with all of them noted.
    is_decoded: bool,
}

/// Where decoding the rows of a series begins in an opened block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecodedFrom {
    /// At the beginning of a page.
    Page,
    /// At a stop, if a read of the same page has noted it.
    KnownStops,
    /// At the last stop before them.
    AnyStop,
}

impl OpenedBlock {
    /// Opens the block that `info` describes. Fails if `bytes` are another one.
    pub(crate) fn open(info: &BlockInfo, bytes: &[u8]) -> CodecResult<Self> {
        let block = BytesAndOpened::try_new(bytes.into(), |bytes| {
            let (found, opened) = match info.key.tier {
                Tier::Raw => {
                    let (found, points) = OpenedPoints::open(info.key, bytes)?;
                    (found, Opened::Points(Box::new(points)))
                }
                _ => {
                    let (found, cells) = OpenedCells::open(info.key, bytes)?;
                    (found, Opened::Cells(Box::new(cells)))
                }
            };
            expect_info(info, found, bytes)?;
            Ok::<_, CodecError>(opened)
        })?;
        Ok(Self { page_group: info.page_group(), block, is_decoded: false })
    }

    /// Opens a block of samples that was just encoded. `check`, which is given the info that is in
    /// the block, decodes all rows, and finds them to be right.
    pub(super) fn open_new_points(
        info: &BlockInfo,
        bytes: &[u8],
        check: impl FnOnce(&BlockInfo, &OpenedPoints<'_>) -> CodecResult<()>,
    ) -> CodecResult<Self> {
        let block = BytesAndOpened::try_new(bytes.into(), |bytes| {
            let (found, points) = OpenedPoints::open(info.key, bytes)?;
            check(&found, &points)?;
            Ok::<_, CodecError>(Opened::Points(Box::new(points)))
        })?;
        Ok(Self { page_group: info.page_group(), block, is_decoded: true })
    }

    /// Returns a reader of a block of samples; `find` returns the time pages that it refers to.
    pub(crate) fn points(
        &self,
        find: impl FnMut(TimePageGroup, PageNumber) -> Result<Arc<TimePage>>,
    ) -> Result<PointBlock<'_>> {
        match self.block.borrow_dependent() {
            Opened::Points(points) => PointBlock::of(Held::Kept(points), self.page_group, find),
            Opened::Cells(_) => Err(CodecError::new("a block of cells has no samples").into()),
        }
    }

    /// Returns a reader of a block of cells.
    pub(crate) fn cells(&self) -> CodecResult<CellBlock<'_>> {
        match self.block.borrow_dependent() {
            Opened::Cells(cells) => Ok(CellBlock::of(Held::Kept(cells))),
            Opened::Points(_) => Err(CodecError::new("a block of samples has no cells")),
        }
    }

    /// Returns the time pages that the block refers to.
    pub(crate) fn time_pages(&self) -> &[PageNumber] {
        match self.block.borrow_dependent() {
            Opened::Points(points) => points.time_pages(),
            Opened::Cells(_) => &[],
        }
    }

    /// Returns where decoding the samples of a series begins.
    pub(crate) fn decoded_from(&self) -> DecodedFrom {
        match self.block.borrow_dependent() {
            Opened::Points(points) if points.has_noted_stops() => {
                if self.is_decoded {
                    DecodedFrom::AnyStop
                } else {
                    DecodedFrom::KnownStops
                }
            }
            Opened::Points(_) | Opened::Cells(_) => DecodedFrom::Page,
        }
    }

    /// Returns whether times of samples are decoded for each reader.
    pub(crate) fn decodes_times(&self) -> bool {
        match self.block.borrow_dependent() {
            Opened::Points(points) => points.decodes_times(),
            Opened::Cells(_) => false,
        }
    }

    /// Returns whether these are the bytes of the block.
    #[cfg(test)]
    pub(crate) fn has_bytes(&self, bytes: &[u8]) -> bool {
        **self.block.borrow_owner() == *bytes
    }

    /// Returns the approximate bytes in memory. They grow when columns are read for the first time.
    pub(crate) fn bytes(&self) -> usize {
        let opened = match self.block.borrow_dependent() {
            Opened::Points(points) => size_of::<OpenedPoints<'_>>() + points.bytes(),
            Opened::Cells(cells) => size_of::<OpenedCells<'_>>() + cells.bytes(),
        };
        size_of::<Self>() + size_of::<Opened<'_>>() + self.block.borrow_owner().len() + opened
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::super::builder::BlockBuilder;
    use super::super::info::sample_info;
    use super::super::{CellBlockBuilder, CellColumn, PointBlockBuilder};
    use super::*;
    use crate::codec::integers::Effort;
    use crate::metrics::cell::NumberCell;
    use crate::metrics::times::{TimePageWriter, find_new};
    use crate::model::{MetricType, SeriesId};

    const SERIES: u32 = 300;
    const ROWS: i64 = 100;

    fn value(series: u32, row: i64) -> f64 {
        ((i64::from(series) * 7919 + row * row * 31) % 1000) as f64 / 10.0
    }

    #[test]
    fn a_block_of_samples_that_stays_open_has_the_same_samples() {
        let mut builder = PointBlockBuilder::default();
        for series in 0..SERIES {
            let times: Vec<i64> = (0..ROWS).map(|i| i * 10_000 + i * i % 7).collect();
            let values: Vec<f64> = (0..ROWS).map(|row| value(series, row)).collect();
            builder.push(SeriesId(series), &times, &values);
        }
        let mut info = sample_info(MetricType::Gauge, Tier::Raw);
        let sequence = AtomicU64::new(3);
        let times = TimePageWriter::new(&sequence);
        let bytes = builder.finish(&info, &times, Effort::Merge).unwrap();
        info.bytes = bytes.len() as u32;
        let pages = times.pages(Effort::Merge).unwrap();
        let find = |page_group, number| find_new(&pages, page_group, number);
        let block = OpenedBlock::open(&info, &bytes).unwrap();
        let before = block.bytes();
        for series in [0, 7, 7, SERIES - 1] {
            let mut points = block.points(find).unwrap();
            points.expect(1, 1);
            let (mut times, mut values) = (Vec::new(), Vec::new());
            points.append(series as usize, (10_000, 500_000), &mut times, &mut values).unwrap();
            let rows = times.iter().map(|time| time / 10_000);
            assert!(rows.clone().eq(1..50), "{times:?}");
            assert!(values.into_iter().eq(rows.map(|row| value(series, row))));
        }
        assert!(block.bytes() > before + bytes.len() / 10, "tables of the columns are counted");
        assert!(block.cells().is_err());
        assert!(block.points(|_, _| Err(CodecError::new("gone").into())).is_err());
        assert!(OpenedBlock::open(&BlockInfo { rows: info.rows + 1, ..info }, &bytes).is_err());
        let mut damaged = bytes;
        damaged[20] ^= 1;
        assert!(OpenedBlock::open(&info, &damaged).is_err());
    }

    #[test]
    fn a_block_of_cells_that_stays_open_has_the_same_cells() {
        let mut builder = CellBlockBuilder::default();
        let cell = |series: u32, row: i64| {
            let mut cell = NumberCell::EMPTY;
            (0..=row % 3).for_each(|i| cell.add(series, row * 60_000 + i, value(series, row + i)));
            cell
        };
        for series in 0..SERIES {
            let starts: Vec<i64> = (0..ROWS).map(|i| i * 60_000).collect();
            let cells: Vec<NumberCell> = (0..ROWS).map(|row| cell(series, row)).collect();
            builder.push(SeriesId(series), &starts, &cells);
        }
        let mut info = sample_info(MetricType::Gauge, Tier::Minute);
        let sequence = AtomicU64::new(3);
        let bytes = builder.finish(&info, &TimePageWriter::new(&sequence), Effort::Merge).unwrap();
        info.bytes = bytes.len() as u32;
        let block = OpenedBlock::open(&info, &bytes).unwrap();
        let one = CellColumn { max: true, ..CellColumn::default() };
        for (series, wanted) in [(0, one), (SERIES - 1, CellColumn::ALL), (5, one)] {
            let before = block.bytes();
            let mut cells = block.cells().unwrap();
            cells.expect_few();
            let mut row = 20;
            cells
                .read(series as usize, 20 * 60_000, 30 * 60_000, wanted, |start, read| {
                    let written = cell(series, row);
                    assert_eq!((start, read.max), (row * 60_000, written.max));
                    if wanted == CellColumn::ALL {
                        assert_eq!(*read, written);
                    } else {
                        assert_eq!((read.count, read.sum), (1, NumberCell::EMPTY.sum));
                    }
                    row += 1;
                })
                .unwrap();
            assert_eq!(row, 30);
            assert_eq!(block.bytes() > before, series != 5, "columns are opened once");
        }
        assert!(block.points(|_, _| unreachable!("no pages are needed")).is_err());
    }
}
