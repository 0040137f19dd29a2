//! A block of samples of a gauge or counter: rows and a column of values.
//!
//! ```text
//! frame(Points) { info │ rows │ values: floats, a run = the rows of a series within a page }
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::super::times::Times;
use super::builder::BlockBuilder;
use super::envelope;
use super::info::{BlockInfo, BlockKey};
use super::opened::{Held, OpenedBlock};
use super::rows::{BlockTimes, FEW_SERIES, Rows, RowsBuilder};
use super::wanted::Wanted;
use crate::codec::floats::{self, FloatColumn, FloatPage, FloatRows};
use crate::codec::frame::FrameKind;
use crate::codec::integers::{Effort, PAGE_ROWS};
use crate::codec::paged::PAGES_AT_ONCE;
use crate::codec::runs::Runs;
use crate::codec::{CodecError, CodecResult};
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
        let (read, opened) = OpenedPoints::open(info.key, bytes)?;
        self.check_opened((info, times), (&read, &opened))
    }

    fn check_and_open(
        &self,
        info: &BlockInfo,
        bytes: &[u8],
        times: &TimePageWriter<'_>,
    ) -> CodecResult<Option<OpenedBlock>> {
        let opened = OpenedBlock::open_new_points(info, bytes, |read, opened| {
            // All rows are decoded now, so that readers need not decode those before theirs.
            opened.values.note_stops();
            self.check_opened((info, times), (read, opened))
        })?;
        Ok(Some(opened))
    }
}

impl PointBlockBuilder {
    /// Compares what was read with what was added.
    fn check_opened(
        &self,
        (info, times): (&BlockInfo, &TimePageWriter<'_>),
        (read, opened): (&BlockInfo, &OpenedPoints<'_>),
    ) -> CodecResult<()> {
        envelope::check(info, (&self.rows, times), (read, &opened.rows))?;
        opened.values.check(&self.values, &opened.runs)
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

    /// Returns whether times that are stored in the block are decoded for each reader.
    pub(super) fn decodes_times(&self) -> bool {
        !self.rows.has_times_at_hand()
    }

    /// Returns the time pages that the block refers to.
    pub(super) fn time_pages(&self) -> &[PageNumber] {
        self.rows.pages()
    }

    /// Returns the approximate bytes in memory besides the block.
    pub(super) fn bytes(&self) -> usize {
        self.rows.bytes() + self.values.bytes() + self.runs.bytes()
    }

    /// Returns whether the rows of a series are decoded without those before them.
    pub(super) fn has_noted_stops(&self) -> bool {
        self.values.has_noted_stops()
    }
}

/// A reader of a block of samples. Pages are decoded on demand; when series are read in order, each
/// page is decoded once.
#[derive(Debug)]
pub(crate) struct PointBlock<'a> {
    opened: Held<'a, OpenedPoints<'a>>,
    times: BlockTimes,
    /// The rows that are decoded, from the beginning of a page on, and their values.
    rows: Range<usize>,
    decoded: FloatPage,
    expected: Expected,
}

/// Rows of a series that are not wanted from which on decoding begins at a stop: before, too few
/// rows would be left out.
const SKIPPED_ROWS_MIN: usize = 512;

/// What will be read of a block, series by series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// One or two series: little more is decoded than their rows.
    Few,
    Some,
    All,
}

/// Samples of a series, in the order of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Samples<'s> {
    pub(crate) values: FloatRows<'s>,
    /// Times of samples of the series, among them those of the values.
    pub(crate) times: Times<'s>,
    /// The index in `times` of the first value.
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
        let decoded = FloatPage::default();
        Ok(Self { opened, times, rows: 0..0, decoded, expected: Expected::Some })
    }

    pub(crate) fn series(&self) -> &[u32] {
        self.opened.rows.series()
    }

    /// Passes the rows with `start <= time < end` of some series to `sink`. `wanted` has the index
    /// of each, in ascending order, and a tag that is passed with its rows. Other rows are decoded
    /// only between wanted ones, and few if [few series are read](Self::expect) or much of each
    /// series is skipped.
    pub(crate) fn read_each<T: Copy>(
        &mut self,
        wanted: impl IntoIterator<Item = (usize, T)>,
        (start, end): (i64, i64),
        mut sink: impl FnMut(T, Samples<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut wanted = Wanted::new(wanted.into_iter(), (start, end));
        let has_stops = self.opened.values.has_noted_stops();
        while let Some((index, tag, rows)) = wanted.next(self)? {
            let skips = self.skipped_rows(index, &rows) >= SKIPPED_ROWS_MIN;
            if skips && !has_stops {
                self.opened.values.note_stops();
            }
            let mut row = rows.start;
            while row < rows.end {
                if !self.rows.contains(&row) {
                    let pages_end = (row / PAGE_ROWS + PAGES_AT_ONCE) * PAGE_ROWS;
                    if self.reads_from_stops() || (skips && has_stops) {
                        self.load_some(row..rows.end.min(pages_end))?;
                    } else {
                        let end = wanted.end_before(self, pages_end, rows.end)?;
                        self.load(row, end.min(pages_end))?;
                    }
                }
                row = self.pass(index, row..rows.end, |samples| sink(tag, samples))?;
            }
        }
        Ok(())
    }

    /// Returns how many rows of a series need not be decoded where only `rows` are read: those
    /// after them, and those in earlier pages. Those before them in their page are added up.
    fn skipped_rows(&self, index: usize, rows: &Range<usize>) -> usize {
        let all = self.opened.rows.rows_of(index);
        let page_start = rows.start - rows.start % PAGE_ROWS;
        all.end.saturating_sub(rows.end) + page_start.saturating_sub(all.start)
    }

    /// Passes the rows of the series at `index` with `start <= time < end` to `sink`.
    pub(crate) fn read(
        &mut self,
        index: usize,
        (start, end): (i64, i64),
        mut sink: impl FnMut(Samples<'_>) -> CodecResult<()>,
    ) -> CodecResult<()> {
        let wanted = self.rows_between(index, start, end)?;
        let mut row = wanted.start;
        while row < wanted.end {
            if !self.rows.contains(&row) {
                self.load_for_one(row..wanted.end)?;
            }
            row = self.pass(index, row..wanted.end, &mut sink)?;
        }
        Ok(())
    }

    /// Passes those of `rows` that are decoded, from the first one on. Returns the row after them.
    fn pass<E: From<CodecError>>(
        &mut self,
        index: usize,
        rows: Range<usize>,
        sink: impl FnOnce(Samples<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<usize, E> {
        let first_row = self.opened.rows.rows_of(index).start;
        let end = rows.end.min(self.rows.end);
        if end <= rows.start {
            return Err(CodecError::new("the column has too few rows").into());
        }
        sink(Samples {
            values: self.decoded.rows().within(rows.start - self.rows.start..end - self.rows.start),
            times: self.opened.rows.times(index, &mut self.times)?,
            first: rows.start - first_row,
        })?;
        Ok(end)
    }

    /// Makes what decoding needs, so that damage to it is found before anything is read.
    pub(crate) fn prepare(&self) -> CodecResult<()> {
        self.opened.values.prepare()
    }

    /// Declares how many of the series are read, in their order, and how many pages may be decoded
    /// at once: of few series, pages are decoded up to their rows only, and from the last stop
    /// before them where there are stops. If most are read and short, there are rows of them in all
    /// pages.
    pub(crate) fn expect(&mut self, wanted: usize, pages_max: usize) {
        let rows = &self.opened.rows;
        let series = rows.series().len();
        self.expected = if wanted <= FEW_SERIES {
            Expected::Few
        } else if pages_max >= PAGES_AT_ONCE
            && wanted >= series / 2
            && rows.len() <= series * PAGE_ROWS / 2
        {
            Expected::All
        } else {
            Expected::Some
        };
    }

    /// Declares that one or two series are read.
    pub(crate) fn expect_few(&mut self) {
        self.expected = Expected::Few;
    }

    /// Declares that all rows are read, in their order.
    pub(crate) fn expect_all(&mut self) {
        self.expected = Expected::All;
    }

    /// Returns the rows of the series at `index` with `start <= time < end`.
    pub(super) fn rows_between(
        &mut self,
        index: usize,
        start: i64,
        end: i64,
    ) -> CodecResult<Range<usize>> {
        self.opened.rows.rows_between(index, start, end, &mut self.times)
    }

    /// Returns the rows of the series at `index` like [`Self::rows_between`], or all of its rows
    /// if its times would have to be decoded.
    pub(super) fn rows_at_hand(
        &mut self,
        index: usize,
        start: i64,
        end: i64,
    ) -> CodecResult<Range<usize>> {
        if self.opened.rows.has_times_at_hand() {
            self.rows_between(index, start, end)
        } else {
            Ok(self.opened.rows.rows_of(index))
        }
    }

    /// Decodes some rows of a series, and what is expected to be read after them.
    fn load_for_one(&mut self, rows: Range<usize>) -> CodecResult<()> {
        let first = rows.start - rows.start % PAGE_ROWS;
        let pages_end = first + PAGES_AT_ONCE * PAGE_ROWS;
        if self.reads_from_stops() {
            return self.load_some(rows.start..rows.end.min(pages_end));
        }
        let is_read_again = self.rows.start == first && !self.rows.is_empty();
        let end = match self.expected {
            // Further rows of a page: those after them are likely to follow.
            Expected::Few if !is_read_again => rows.end.min(pages_end),
            Expected::Few | Expected::Some => first + PAGE_ROWS,
            Expected::All => pages_end,
        };
        self.load(rows.start, end)
    }

    /// Returns whether the rows of a series are decoded without those before them.
    fn reads_from_stops(&self) -> bool {
        self.expected == Expected::Few && self.opened.values.may_have_stops()
    }

    /// Decodes some rows of one page, or of two.
    fn load_some(&mut self, rows: Range<usize>) -> CodecResult<()> {
        self.rows = 0..0;
        let OpenedPoints { values, runs, .. } = &*self.opened;
        let first = values.some(rows, runs, &mut self.decoded)?;
        self.rows = first..first + self.decoded.integers.len();
        Ok(())
    }

    /// Decodes the rows before `end` of the page of `row` and of those after it.
    fn load(&mut self, row: usize, end: usize) -> CodecResult<()> {
        self.rows = 0..0;
        let page = row / PAGE_ROWS;
        let first = page * PAGE_ROWS;
        self.opened.values.prefix(page, end - first, &self.opened.runs, &mut self.decoded)?;
        self.rows = first..first + self.decoded.integers.len();
        Ok(())
    }

    /// Decodes everything and compares it with the catalog entry of the block.
    pub(crate) fn verify(&mut self, info: &BlockInfo) -> CodecResult<()> {
        self.opened.rows.check_info(info, &mut self.times)?;
        (0..self.opened.rows.len())
            .step_by(PAGES_AT_ONCE * PAGE_ROWS)
            .try_for_each(|row| self.load(row, row + PAGES_AT_ONCE * PAGE_ROWS))
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
        self.read(index, range, |samples| {
            let Samples { values: rows, times: all, first } = samples;
            times.extend((0..rows.len()).map(|i| all.at(first + i)));
            rows.extend(values);
            Ok(())
        })
    }

    /// Returns the times of the first and the last sample of the series at `index` with a time in
    /// `range`, which excludes its end.
    pub(crate) fn extent(
        &mut self,
        index: usize,
        (start, end): (i64, i64),
    ) -> CodecResult<Option<(i64, i64)>> {
        let times = self.opened.rows.times(index, &mut self.times)?;
        let (from, to) = (times.lower_bound(start), times.lower_bound(end));
        Ok((from < to).then(|| (times.at(from), times.at(to - 1))))
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

    /// Reads some of the series of a block, in some ranges, and compares them with all rows.
    fn check_read_each(rows_of: impl Fn(i64) -> i64, time: impl Fn(i64, i64) -> i64, series: i64) {
        let value = |series: i64, row: i64| ((series + row * row) % 7) as f64;
        let mut builder = PointBlockBuilder::default();
        for series in 0..series {
            let rows = 0..rows_of(series);
            let times: Vec<i64> = rows.clone().map(|row| time(series, row)).collect();
            let values: Vec<f64> = rows.map(|row| value(series, row)).collect();
            builder.push(SeriesId(series as u32), &times, &values);
        }
        let info = sample_info(MetricType::Gauge, Tier::Raw);
        let sequence = AtomicU64::new(3);
        let times = TimePageWriter::new(&sequence);
        let bytes = builder.finish(&info, &times, Effort::Merge).unwrap();
        let pages = times.pages(Effort::Merge).unwrap();
        let find = |page_group, number| find_new(&pages, page_group, number);
        for every in [1, 2, 3, 7, 39, 40] {
            for (start, end) in [(0, i64::MAX), (0, 4000), (3000, 9000), (60_000, 60_010), (5, 5)] {
                let (_, mut block) = PointBlock::open(info.key, &bytes, find).unwrap();
                let wanted = (0..series).step_by(every).map(|s| (s as usize, s));
                let mut read = Vec::new();
                let sink = |series: i64, samples: Samples<'_>| {
                    let mut values = Vec::new();
                    samples.values.extend(&mut values);
                    for (value, at) in values.into_iter().zip(samples.first..) {
                        read.push((series, samples.times.at(at), value));
                    }
                    Ok(())
                };
                block.read_each(wanted, (start, end), sink).unwrap();
                let (rows_of, time) = (&rows_of, &time);
                let of = |s: i64| (0..rows_of(s)).map(move |row| (s, time(s, row), value(s, row)));
                let all = (0..series).step_by(every).flat_map(of);
                let expected: Vec<_> = all.filter(|row| start <= row.1 && row.1 < end).collect();
                assert_eq!(read, expected, "every {every} from {start} to {end}");
            }
        }
    }

    #[test]
    fn no_more_pages_are_decoded_at_once_than_allowed() {
        let mut builder = PointBlockBuilder::default();
        for series in 0..10 {
            let times: Vec<i64> = (0..1000).map(|row| row * 10).collect();
            let values: Vec<f64> = (0..1000).map(|row| f64::from(row % 7)).collect();
            builder.push(SeriesId(series), &times, &values);
        }
        let info = sample_info(MetricType::Gauge, Tier::Raw);
        let sequence = AtomicU64::new(3);
        let times = TimePageWriter::new(&sequence);
        let bytes = builder.finish(&info, &times, Effort::Merge).unwrap();
        for (wanted, pages_max, rows_max) in
            [(10, 2, 2 * PAGE_ROWS), (10, 1, PAGE_ROWS), (4, 2, PAGE_ROWS), (1, 2, 1000)]
        {
            let find = |page_group, number| find_new(&[], page_group, number);
            let (_, mut block) = PointBlock::open(info.key, &bytes, find).unwrap();
            block.expect(wanted, pages_max);
            block.read(0, (0, i64::MAX), |_| Ok(())).unwrap();
            assert_eq!(block.rows, 0..rows_max, "{wanted} series, {pages_max} pages");
        }
    }

    #[test]
    fn wanted_series_are_read_wherever_their_rows_are_in_pages() {
        let long = |series: i64| 1 + series * series * 37 % 1700 + 5000 * i64::from(series == 21);
        check_read_each(long, |_, row| row * 10, 40);
        check_read_each(long, |_, row| row * 10 + row * row % 7, 40);
        // Times of few rows stay in the block.
        check_read_each(|_| 20, |series, row| row * 400 + row * row * series % 7, 500);
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
