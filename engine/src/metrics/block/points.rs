//! A block of samples of a gauge or counter: rows and a column of values.
//!
//! ```text
//! frame(Points) { info │ rows │ values: floats, a run = the rows of a series within a page }
//! ```

use std::sync::Arc;

use super::super::times::Times;
use super::builder::BlockBuilder;
use super::envelope;
use super::info::{BlockInfo, BlockKey};
use super::opened::Held;
use super::rows::{BlockTimes, Rows, RowsBuilder};
use crate::codec::CodecResult;
use crate::codec::floats::{self, FloatColumn, FloatPage};
use crate::codec::frame::FrameKind;
use crate::codec::integers::{Effort, PAGE_ROWS};
use crate::codec::runs::Runs;
use crate::error::Result;
use crate::metrics::times::{PageNumber, TimePage, TimePageGroup, TimePageWriter, TimeVectorRef};
use crate::model::SeriesId;

/// Collects the samples of a block, series by series.
#[derive(Debug, Default)]
pub(crate) struct PointBlockBuilder {
    rows: RowsBuilder,
    values: Vec<f64>,
}

impl BlockBuilder for PointBlockBuilder {
    type Row = f64;

    fn push(&mut self, series: SeriesId, times: &[i64], values: &[f64]) {
        debug_assert_eq!(times.len(), values.len(), "a value for every time");
        self.rows.push(series, times);
        self.values.extend_from_slice(values);
    }

    fn rows(&self) -> &RowsBuilder {
        &self.rows
    }

    fn bytes(&self) -> usize {
        self.rows.bytes() + size_of_val(self.values.as_slice())
    }

    fn finish(
        &self,
        info: &BlockInfo,
        times: &TimePageWriter<'_>,
        effort: Effort,
    ) -> CodecResult<Vec<u8>> {
        envelope::build(FrameKind::Points, info, (&self.rows, times), effort, |out| {
            let runs = Runs::new(self.rows.counts().iter().map(|n| *n as usize));
            floats::encode(&self.values, &runs, effort, out)
        })
    }

    fn check(&self, info: &BlockInfo, bytes: &[u8], times: &TimePageWriter<'_>) -> CodecResult<()> {
        let (read, rows, column) =
            envelope::open(FrameKind::Points, info.key, bytes, |_, rows, reader| {
                FloatColumn::read_exactly(reader, rows.len())
            })?;
        envelope::check(info, (&self.rows, times), (&read, &rows))?;
        column.check(&self.values, &Runs::new(self.rows.counts().iter().map(|n| *n as usize)))
    }
}

/// An opened block of samples, the same for all who read it.
#[derive(Debug)]
pub(super) struct OpenedPoints<'a> {
    rows: Rows<'a>,
    values: FloatColumn<'a>,
    runs: Runs,
}

impl<'a> OpenedPoints<'a> {
    pub(super) fn open(key: BlockKey, bytes: &'a [u8]) -> CodecResult<(BlockInfo, Self)> {
        let (info, rows, values) =
            envelope::open(FrameKind::Points, key, bytes, |_, rows, reader| {
                FloatColumn::read_exactly(reader, rows.len())
            })?;
        let runs = Runs::new(rows.counts());
        Ok((info, Self { rows, values, runs }))
    }

    /// Returns the approximate bytes in memory besides the block.
    pub(super) fn bytes(&self) -> usize {
        self.rows.bytes() + self.values.bytes() + self.runs.bytes()
    }
}

/// A reader of a block of samples. Pages are decoded on demand; when series are read in order, each
/// page is decoded once.
#[derive(Debug)]
pub(crate) struct PointBlock<'a> {
    opened: Held<'a, OpenedPoints<'a>>,
    times: BlockTimes,
    /// The page that is decoded, and how many of its rows.
    page: Option<(usize, usize)>,
    decoded: FloatPage,
    /// Whether pages are decoded up to the rows that are read, see [`Self::expect_few`].
    reads_few: bool,
}

/// The rows of a series that are in one page.
#[derive(Debug)]
pub(crate) struct Piece<'p> {
    /// The decoded page.
    pub(crate) page: &'p FloatPage,
    /// The rows within the page.
    pub(crate) rows: std::ops::Range<usize>,
    /// The times of all rows of the series.
    pub(crate) times: Times<'p>,
    /// The index in `times` of the first of the rows.
    pub(crate) first: usize,
}

impl<'a> PointBlock<'a> {
    /// Opens a block; `find` returns the time pages that it refers to.
    pub(crate) fn open(
        key: BlockKey,
        bytes: &'a [u8],
        find: impl FnMut(TimePageGroup, PageNumber) -> Result<Arc<TimePage>>,
    ) -> Result<(BlockInfo, Self)> {
        let (info, opened) = OpenedPoints::open(key, bytes)?;
        Ok((info, Self::of(Held::Own(opened), info.page_group(), find)?))
    }

    /// Returns a reader of an opened block of a page group.
    pub(super) fn of(
        opened: Held<'a, OpenedPoints<'a>>,
        page_group: TimePageGroup,
        mut find: impl FnMut(TimePageGroup, PageNumber) -> Result<Arc<TimePage>>,
    ) -> Result<Self> {
        let times = opened.rows.load_pages(|number| find(page_group, number))?;
        let (page, decoded) = (None, FloatPage::default());
        Ok(Self { opened, times, page, decoded, reads_few: false })
    }

    pub(crate) fn series(&self) -> &[u32] {
        self.opened.rows.series()
    }

    /// Passes the rows of the series at `index` with `start <= time < end` to `sink`, page by page.
    pub(crate) fn read(
        &mut self,
        index: usize,
        start: i64,
        end: i64,
        mut sink: impl FnMut(Piece<'_>),
    ) -> CodecResult<()> {
        let rows = self.opened.rows.rows_of(index);
        let wanted = self.opened.rows.rows_between(index, start, end, &mut self.times)?;
        let (mut row, stop) = (wanted.start, wanted.end);
        while row < stop {
            let page = row / PAGE_ROWS;
            let page_start = page * PAGE_ROWS;
            let piece_end = stop.min(page_start + PAGE_ROWS);
            self.load(page, piece_end - page_start)?;
            sink(Piece {
                page: &self.decoded,
                rows: row - page_start..piece_end - page_start,
                times: self.opened.rows.times(index, &mut self.times)?,
                first: row - rows.start,
            });
            row = piece_end;
        }
        Ok(())
    }

    /// Makes what decoding needs, so that damage to it is found before anything is read.
    pub(crate) fn prepare(&self) -> CodecResult<()> {
        self.opened.values.prepare()
    }

    /// Declares that one or two series are read: pages are then decoded up to their rows only.
    pub(crate) fn expect_few(&mut self) {
        self.reads_few = true;
    }

    /// Decodes a page, at least its first `rows` rows.
    fn load(&mut self, page: usize, rows: usize) -> CodecResult<()> {
        let rows = match self.page.take() {
            Some((decoded, first_rows)) if decoded == page => {
                if first_rows >= rows {
                    self.page = Some((page, first_rows));
                    return Ok(());
                }
                // Further rows of a page: those after them are likely to follow.
                PAGE_ROWS
            }
            _ if self.reads_few => rows,
            _ => PAGE_ROWS,
        };
        self.opened.values.prefix(page, rows, &self.opened.runs, &mut self.decoded)?;
        self.page = Some((page, rows));
        Ok(())
    }

    /// Decodes everything and compares it with the catalog entry of the block.
    pub(crate) fn verify(&mut self, info: &BlockInfo) -> CodecResult<()> {
        self.opened.rows.check_info(info, &mut self.times)?;
        (0..self.opened.rows.len().div_ceil(PAGE_ROWS))
            .try_for_each(|page| self.load(page, PAGE_ROWS))
    }

    /// Appends the samples of the series at `index` with a time in `range`, which excludes its end,
    /// to `times` and `values`.
    pub(crate) fn append(
        &mut self,
        index: usize,
        range: (i64, i64),
        times: &mut Vec<i64>,
        values: &mut Vec<f64>,
    ) -> CodecResult<()> {
        self.read(index, range.0, range.1, |piece| {
            times.extend((0..piece.rows.len()).map(|i| piece.times.at(piece.first + i)));
            values.reserve(piece.rows.len());
            values.extend(piece.rows.clone().filter_map(|row| piece.page.value(row)));
        })
    }
}

/// Returns the locations in time pages that a block refers to.
pub(crate) fn time_page_refs(key: BlockKey, bytes: &[u8]) -> CodecResult<Vec<TimeVectorRef>> {
    let (_, rows, _) = envelope::open(FrameKind::Points, key, bytes, |_, rows, reader| {
        FloatColumn::read_exactly(reader, rows.len())
    })?;
    Ok(rows.places().collect())
}

#[cfg(test)]
mod tests {
    use super::super::info::{Tier, sample_info};
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::metrics::times::find_new;
    use crate::model::MetricType;
    use proptest::prelude::*;

    fn check(series: &[(u32, Vec<(i64, f64)>)]) {
        let mut builder = PointBlockBuilder::default();
        for (id, points) in series {
            let (times, values): (Vec<_>, Vec<_>) = points.iter().copied().unzip();
            builder.push(SeriesId(*id), &times, &values);
        }
        let info = sample_info(MetricType::Gauge, Tier::Raw);
        let sequence = AtomicU64::new(3);
        let times = TimePageWriter::new(&sequence);
        let plain = builder.finish(&info, &times, Effort::Plain).unwrap();
        builder.check(&info, &plain, &times).unwrap();
        let bytes = builder.finish(&info, &times, Effort::Seal).unwrap();
        builder.check(&info, &bytes, &times).unwrap();
        let pages = times.pages(Effort::Seal).unwrap();
        let find = |page_group, number| find_new(&pages, page_group, number);
        let (read, mut block) = PointBlock::open(info.key, &bytes, find).unwrap();
        assert_eq!(read, info);
        for (i, (_, points)) in series.iter().enumerate() {
            for (start, end) in [(i64::MIN, i64::MAX), (200, 900), (500, 500)] {
                let (mut times, mut values) = (Vec::new(), Vec::new());
                block.append(i, (start, end), &mut times, &mut values).unwrap();
                let got: Vec<_> = times.into_iter().zip(values).collect();
                let inside = |p: &&(i64, f64)| start <= p.0 && p.0 < end;
                assert_eq!(got, points.iter().filter(inside).copied().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn times_shared_by_metrics_are_stored_once_in_a_time_page() {
        let mut builder = PointBlockBuilder::default();
        for series in 0..20 {
            let times: Vec<i64> =
                (0..500).map(|i| i * 10_000 + i * i * (series + 7) % 911).collect();
            builder.push(SeriesId(series as u32), &times, &vec![1.0; times.len()]);
        }
        let info = sample_info(MetricType::Gauge, Tier::Raw);
        let sequence = AtomicU64::new(3);
        let times = TimePageWriter::new(&sequence);
        let blocks = [(); 2].map(|()| builder.finish(&info, &times, Effort::Merge).unwrap());
        assert!(blocks.iter().all(|bytes| bytes.len() < 200), "{}", blocks[0].len());
        let pages = times.pages(Effort::Merge).unwrap();
        assert_eq!(pages.len(), 1);
        let lost = PointBlock::open(info.key, &blocks[1], |at, page| find_new(&[], at, page));
        assert!(matches!(lost, Err(crate::error::Error::Corrupt(_))));
    }

    #[test]
    fn any_difference_between_a_block_and_its_samples_is_detected() {
        let jitter: Vec<i64> = (0..100).map(|i| i * 10 + i * i % 7).collect();
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let built = |series: u32, times: &[i64], values: &[f64]| {
            let mut builder = PointBlockBuilder::default();
            builder.push(SeriesId(series), times, values);
            builder
        };
        let info = sample_info(MetricType::Gauge, Tier::Raw);
        let sequence = AtomicU64::new(3);
        let times = TimePageWriter::new(&sequence);
        let builder = built(1, &jitter, &values);
        for effort in [Effort::Seal, Effort::Plain] {
            let bytes = builder.finish(&info, &times, effort).unwrap();
            assert!(builder.check(&info, &bytes, &times).is_ok());
            let (mut other_times, mut other_values) = (jitter.clone(), values.clone());
            other_times[50] += 1;
            other_values[99] = -0.0;
            for other in [
                built(2, &jitter, &values),
                built(1, &other_times, &values),
                built(1, &jitter, &other_values),
                built(1, &jitter[1..], &values[1..]),
            ] {
                assert!(other.check(&info, &bytes, &times).is_err());
            }
            let rows = BlockInfo { rows: 7, ..info };
            assert!(builder.check(&rows, &bytes, &times).is_err());
        }
    }

    #[test]
    fn a_time_page_with_other_times_is_detected() {
        let times: Vec<i64> = (0..100).map(|i| i * 10 + i * i % 7).collect();
        let mut builder = PointBlockBuilder::default();
        builder.push(SeriesId(1), &times, &vec![1.0; times.len()]);
        let info = sample_info(MetricType::Gauge, Tier::Raw);
        let sequence = AtomicU64::new(3);
        let writer = TimePageWriter::new(&sequence);
        let bytes = builder.finish(&info, &writer, Effort::Merge).unwrap();
        let other = TimePageWriter::new(&sequence);
        assert!(builder.check(&info, &bytes, &other).is_err());
        other.place(info.page_group(), &times[1..]);
        assert!(builder.check(&info, &bytes, &other).is_err());
    }

    #[test]
    fn series_longer_than_a_page_round_trip() {
        let long: Vec<_> = (0..10_000).map(|i| (i * 10, i as f64 / 10.0)).collect();
        check(&[(1, vec![(5, 1.5)]), (2, long.clone()), (9, long)]);
    }

    proptest! {
        #[test]
        fn any_samples_round_trip(
            series in proptest::collection::btree_map(
                any::<u32>(),
                proptest::collection::btree_map(0i64..1000, -1e9..1e9, 1..90),
                1..30,
            )
        ) {
            let series: Vec<_> =
                series.into_iter().map(|(s, p)| (s, p.into_iter().collect())).collect();
            check(&series);
        }

        #[test]
        fn a_flipped_byte_is_an_error(at in any::<proptest::sample::Index>(), bit in 0u8..8) {
            let mut builder = PointBlockBuilder::default();
            builder.push(SeriesId(1), &[1, 2, 3], &[0.5, 1.5, 2.5]);
            let info = sample_info(MetricType::Gauge, Tier::Raw);
            let times = AtomicU64::new(3);
            let times = TimePageWriter::new(&times);
            let mut bytes = builder.finish(&info, &times, Effort::Seal).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let find = |page_group, number| find_new(&[], page_group, number);
            prop_assert!(PointBlock::open(info.key, &bytes, find).is_err());
        }
    }
}
