//! A k-way merge of the points of one metric from several sources, series by series.
//!
//! Sources are runs of the head and blocks, given in write order. Of two gauge points of one series
//! at the same time the one written later is kept; increments of a counter are all kept.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::super::block::{PointBlock, Samples};
use super::super::head::Run;
use super::super::times::Times;
use crate::codec::CodecResult;
use crate::codec::floats::FloatRows;
use crate::codec::paged::PAGES_AT_ONCE;
use crate::model::{MetricType, SeriesId};

/// Up to so many sources several pages of each are decoded at once: 8 MB in all.
const SOURCES_OF_SEVERAL_PAGES: usize = 64;

/// A source of points.
#[derive(Debug)]
pub(crate) enum Source<'a> {
    Run(Arc<Run>),
    Block(Box<PointBlock<'a>>),
    Rows(PointRows),
}

/// Points copied from a block.
#[derive(Debug, Default)]
pub(crate) struct PointRows {
    /// Ascending.
    series: Vec<u32>,
    /// The end of the points of each series in `times` and `values`.
    ends: Vec<usize>,
    times: Vec<i64>,
    values: Vec<f64>,
}

impl PointRows {
    /// Creates an empty list with space for so many points.
    pub(crate) fn with_capacity(points: usize) -> Self {
        let (times, values) = (Vec::with_capacity(points), Vec::with_capacity(points));
        Self { times, values, ..Self::default() }
    }

    /// Adds a series with a higher id than those before it. `append` appends its times and values.
    pub(crate) fn push(
        &mut self,
        series: u32,
        append: impl FnOnce(&mut Vec<i64>, &mut Vec<f64>) -> CodecResult<()>,
    ) -> CodecResult<()> {
        append(&mut self.times, &mut self.values)?;
        self.series.push(series);
        self.ends.push(self.times.len());
        Ok(())
    }

    /// Returns the approximate bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.series.len() * size_of::<(u32, usize)>() + self.times.len() * size_of::<(i64, f64)>()
    }

    fn append(
        &self,
        index: usize,
        (start, end): (i64, i64),
        times: &mut Vec<i64>,
        values: &mut Vec<f64>,
    ) {
        let first = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let all = &self.times[first..self.ends[index]];
        let from = first + all.partition_point(|time| *time < start);
        let to = first + all.partition_point(|time| *time < end);
        times.extend_from_slice(&self.times[from..to]);
        values.extend_from_slice(&self.values[from..to]);
    }
}

/// The first and the last time of the samples that a source has of a series in a range.
enum Extent {
    None,
    /// There is one sample of each time, in ascending order.
    Ascending(i64, i64),
    Unknown,
}

impl Source<'_> {
    /// Declares how many series are read, and how many pages may be decoded at once.
    fn expect(&mut self, wanted: usize, pages_max: usize) {
        if let Self::Block(block) = self {
            block.expect(wanted, pages_max);
        }
    }

    pub(crate) fn series(&self) -> &[u32] {
        match self {
            Self::Run(run) => run.series(),
            Self::Block(block) => block.series(),
            Self::Rows(rows) => &rows.series,
        }
    }

    /// Returns the extent of the samples of a gauge with a time in `range`.
    fn extent(&mut self, index: usize, (start, end): (i64, i64)) -> CodecResult<Extent> {
        let of_times = |times: &[i64]| match times {
            [] => Extent::None,
            [first, .., last] if times.is_sorted_by(|a, b| a < b) => {
                Extent::Ascending(*first, *last)
            }
            [only] => Extent::Ascending(*only, *only),
            _ => Extent::Unknown,
        };
        match self {
            Self::Run(run) => Ok(of_times(run.rows(index).within(start, end).times)),
            // Blocks of gauges have one sample of a time.
            Self::Block(block) => Ok(block
                .extent(index, (start, end))?
                .map_or(Extent::None, |(first, last)| Extent::Ascending(first, last))),
            Self::Rows(_) => Ok(Extent::Unknown),
        }
    }

    /// Passes the samples of a gauge with a time in `range`, if there are any, to `sink`. Those
    /// that are not in a block are copied to `points`.
    fn pass(
        &mut self,
        index: usize,
        range: (i64, i64),
        points: &mut SeriesPoints,
        sink: &mut impl FnMut(Samples<'_>) -> CodecResult<()>,
    ) -> CodecResult<()> {
        if let Self::Block(block) = self {
            return block.read(index, range, sink);
        }
        points.clear();
        self.append(index, range, &mut points.times, &mut points.values)?;
        if points.times.is_empty() { Ok(()) } else { sink(points.samples()) }
    }

    fn append(
        &mut self,
        index: usize,
        (start, end): (i64, i64),
        times: &mut Vec<i64>,
        values: &mut Vec<f64>,
    ) -> CodecResult<()> {
        match self {
            Self::Run(run) => {
                let rows = run.rows(index).within(start, end);
                times.extend_from_slice(rows.times);
                values.extend(rows.values.iter().map(|bits| f64::from_bits(*bits)));
                Ok(())
            }
            Self::Block(block) => block.append(index, (start, end), times, values),
            Self::Rows(rows) => {
                rows.append(index, (start, end), times, values);
                Ok(())
            }
        }
    }
}

/// Merges `sources`, given in write order. For each series that is in `wanted` (all series if
/// `None`), calls `sink` with its points with `range.0 <= time < range.1`, in ascending time.
/// Returns the number of replaced points.
pub(crate) fn merge_scan(
    sources: &mut [Source<'_>],
    kind: MetricType,
    wanted: Option<&RoaringBitmap>,
    range: (i64, i64),
    mut sink: impl FnMut(SeriesId, &[i64], &[f64]) -> CodecResult<()>,
) -> CodecResult<u64> {
    let mut replaced = 0;
    let mut points = SeriesPoints::default();
    for of_series in by_series(sources, wanted).chunk_by(|a, b| a.series == b.series) {
        replaced += points.read(sources, of_series, range, kind)?;
        if let Some(SeriesInSource { series, .. }) = of_series.first()
            && !points.times.is_empty()
        {
            sink(SeriesId(*series), &points.times, &points.values)?;
        }
    }
    Ok(replaced)
}

/// Reads gauges like [`merge_scan`], for callers that take the samples of a series in several calls
/// and in any order: where no source has samples between those of another, each is passed alone.
pub(crate) fn scan_gauges(
    sources: &mut [Source<'_>],
    wanted: &RoaringBitmap,
    range: (i64, i64),
    mut sink: impl FnMut(SeriesId, Samples<'_>) -> CodecResult<()>,
) -> CodecResult<()> {
    let found = by_series(sources, Some(wanted));
    let mut counts = vec![0; sources.len()];
    for SeriesInSource { source, .. } in &found {
        if let Some(count) = counts.get_mut(*source as usize) {
            *count += 1;
        }
    }
    // All sources keep their decoded pages until the end.
    let pages_max = if sources.len() <= SOURCES_OF_SEVERAL_PAGES { PAGES_AT_ONCE } else { 1 };
    sources.iter_mut().zip(counts).for_each(|(source, count)| source.expect(count, pages_max));
    let (mut points, mut extents) = (SeriesPoints::default(), Vec::new());
    for of_series in found.chunk_by(|a, b| a.series == b.series) {
        let Some(SeriesInSource { series, .. }) = of_series.first() else { continue };
        let mut sink = |samples: Samples<'_>| sink(SeriesId(*series), samples);
        if are_disjoint(sources, of_series, range, &mut extents)? {
            for SeriesInSource { source, index, .. } in of_series {
                if let Some(source) = sources.get_mut(*source as usize) {
                    source.pass(*index as usize, range, &mut points, &mut sink)?;
                }
            }
        } else {
            points.read(sources, of_series, range, MetricType::Gauge)?;
            sink(points.samples())?;
        }
    }
    Ok(())
}

/// A series of a source.
#[derive(Clone, Copy)]
struct SeriesInSource {
    series: u32,
    source: u32,
    /// Among the series of the source.
    index: u32,
}

/// Returns all wanted series of all sources, those of one series in the order of sources.
fn by_series(sources: &[Source<'_>], wanted: Option<&RoaringBitmap>) -> Vec<SeriesInSource> {
    let mut found = Vec::new();
    if wanted.is_none() {
        found.reserve(sources.iter().map(|source| source.series().len()).sum());
    }
    for (source, from) in (0..).zip(sources) {
        each_wanted(from.series(), wanted, |index, series| {
            found.push(SeriesInSource { series, source, index: index as u32 });
        });
    }
    // Stable: it keeps the order of sources, and merges their ascending lists.
    found.sort_by_key(|found| found.series);
    found
}

/// Returns whether no sample in `range` has the time of another or is between those of another
/// source.
fn are_disjoint(
    sources: &mut [Source<'_>],
    of_series: &[SeriesInSource],
    range: (i64, i64),
    extents: &mut Vec<(i64, i64)>,
) -> CodecResult<bool> {
    extents.clear();
    for SeriesInSource { source, index, .. } in of_series {
        let Some(source) = sources.get_mut(*source as usize) else { continue };
        match source.extent(*index as usize, range)? {
            Extent::None => {}
            Extent::Ascending(first, last) => extents.push((first, last)),
            Extent::Unknown => return Ok(false),
        }
    }
    extents.sort_unstable();
    Ok(extents.is_sorted_by(|(_, last), (first, _)| last < first))
}

/// Calls `found` with the index and id of every wanted series of an ascending list.
pub(crate) fn each_wanted(
    series: &[u32],
    wanted: Option<&RoaringBitmap>,
    mut found: impl FnMut(usize, u32),
) {
    let Some(wanted) = wanted else {
        series.iter().enumerate().for_each(|(index, id)| found(index, *id));
        return;
    };
    let (Some(first), Some(last)) = (series.first(), series.last()) else { return };
    let in_range = wanted.range_cardinality(*first..=*last);
    if in_range.saturating_mul(8) < series.len() as u64 {
        for id in wanted.range(*first..=*last) {
            if let Ok(index) = series.binary_search(&id) {
                found(index, id);
            }
        }
    } else {
        let all = in_range == (*last - *first) as u64 + 1;
        for (index, id) in series.iter().enumerate() {
            if all || wanted.contains(*id) {
                found(index, *id);
            }
        }
    }
}

/// The points of one series.
#[derive(Debug, Default)]
struct SeriesPoints {
    times: Vec<i64>,
    values: Vec<f64>,
}

/// How often the points of a series are moved on average, at most, while sources are merged one by
/// one. Mostly those of one end where those of the next begin, but for points that were sent at the
/// same time; where many sources overlap, it is faster to sort all points once.
const MOVES_PER_POINT_MAX: usize = 2;

impl SeriesPoints {
    /// Reads the points of a series from all sources in place of those that are here, and sorts
    /// them by time; of gauge points at the same time only the last written is kept. Returns the
    /// number of replaced points.
    fn read(
        &mut self,
        sources: &mut [Source<'_>],
        of_series: &[SeriesInSource],
        range: (i64, i64),
        kind: MetricType,
    ) -> CodecResult<u64> {
        self.clear();
        let replaces = kind == MetricType::Gauge;
        let (mut read, mut moved, mut is_sorted) = (0, 0, true);
        for SeriesInSource { source, index, .. } in of_series {
            let Some(source) = sources.get_mut(*source as usize) else { continue };
            let start = self.times.len();
            source.append(*index as usize, range, &mut self.times, &mut self.values)?;
            read += self.times.len() - start;
            if is_sorted {
                match self.overlap(start, replaces) {
                    Some(overlap) if moved + overlap.len() <= read * MOVES_PER_POINT_MAX => {
                        moved += overlap.len();
                        self.merge(overlap, start, replaces);
                    }
                    _ => is_sorted = false,
                }
            }
        }
        if !is_sorted {
            self.sort(replaces);
        }
        Ok((read - self.times.len()) as u64)
    }

    fn clear(&mut self) {
        self.times.clear();
        self.values.clear();
    }

    fn samples(&self) -> Samples<'_> {
        let (values, times) = (FloatRows::Floats(&self.values), Times::List(&self.times));
        Samples { values, times, first: 0 }
    }

    /// Returns the points, around `start`, at which those before it and those from it on are not in
    /// order, or `None` if those from it on are not in order themselves.
    fn overlap(&self, start: usize, replaces: bool) -> Option<Range<usize>> {
        let (before, new) = self.times.split_at(start);
        let is_sorted = if replaces { new.is_sorted_by(|a, b| a < b) } else { new.is_sorted() };
        if !is_sorted {
            return None;
        }
        let (Some(last), Some(first)) = (before.last(), new.first()) else {
            return Some(start..start);
        };
        let from = before.partition_point(|time| time < first || (!replaces && time == first));
        let to = new.partition_point(|time| time < last || (replaces && time == last));
        Some(from..start + to)
    }

    /// Puts the points of a range in order, whose parts before and from `start` on are.
    fn merge(&mut self, range: Range<usize>, start: usize, replaces: bool) {
        if range.is_empty() {
            return;
        }
        let mut merged: Vec<(i64, f64)> = Vec::with_capacity(range.len());
        let (mut old, mut new) = (range.start, start);
        loop {
            let next = match (self.times[old..start].first(), self.times[new..range.end].first()) {
                (None, None) => break,
                (Some(old_time), Some(new_time)) if old_time == new_time && replaces => {
                    old += 1;
                    continue;
                }
                (None, Some(_)) => &mut new,
                (Some(old_time), Some(new_time)) if new_time < old_time => &mut new,
                (Some(_), _) => &mut old,
            };
            merged.push((self.times[*next], self.values[*next]));
            *next += 1;
        }
        self.times.splice(range.clone(), merged.iter().map(|(time, _)| *time));
        self.values.splice(range, merged.iter().map(|(_, value)| *value));
    }

    /// Sorts points that are in write order where their times are equal.
    fn sort(&mut self, replaces: bool) {
        let mut points: Vec<(i64, f64)> = self.times.drain(..).zip(self.values.drain(..)).collect();
        points.sort_by_key(|(time, _)| *time);
        for (time, value) in points {
            if replaces && self.times.last() == Some(&time) {
                self.values.pop();
            } else {
                self.times.push(time);
            }
            self.values.push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Columns, TimestampMs};

    fn run(points: &[(u32, i64, f64)]) -> Source<'static> {
        let mut columns = Columns::default();
        for (series, time, value) in points {
            columns.push(SeriesId(*series), TimestampMs(*time), value.to_bits());
        }
        Source::Run(Arc::new(Run::sort(&columns)))
    }

    fn scan(kind: MetricType, wanted: Option<&RoaringBitmap>) -> Vec<(u32, Vec<i64>, Vec<f64>)> {
        let mut sources = [
            run(&[(1, 10, 1.0), (1, 20, 2.0), (3, 10, 9.0)]),
            run(&[(1, 10, 5.0), (2, 10, 7.0), (1, 15, 6.0), (1, 15, 8.0)]),
        ];
        let mut out = Vec::new();
        merge_scan(&mut sources, kind, wanted, (10, 20), |series, times, values| {
            out.push((series.0, times.to_vec(), values.to_vec()));
            Ok(())
        })
        .unwrap();
        out
    }

    #[test]
    fn later_gauge_points_replace_earlier_ones() {
        let all = scan(MetricType::Gauge, None);
        assert_eq!(all[0], (1, vec![10, 15], vec![5.0, 8.0]));
        assert_eq!(all[1], (2, vec![10], vec![7.0]));
        assert_eq!(all[2], (3, vec![10], vec![9.0]));
    }

    #[test]
    fn all_counter_increments_are_kept() {
        let all = scan(MetricType::Counter, None);
        assert_eq!(all[0], (1, vec![10, 10, 15, 15], vec![1.0, 5.0, 6.0, 8.0]));
    }

    /// Returns what [`scan_gauges`] passes, and the number of samples of each call.
    fn scanned(sources: &mut [Source<'_>]) -> (Vec<(u32, i64, f64)>, Vec<usize>) {
        let (mut out, mut calls) = (Vec::new(), Vec::new());
        let wanted = RoaringBitmap::from_iter([1, 3]);
        scan_gauges(sources, &wanted, (10, 20), |series, samples| {
            let mut values = Vec::new();
            samples.values.extend(&mut values);
            calls.push(values.len());
            let times = (samples.first..).map(|at| samples.times.at(at));
            out.extend(times.zip(values).map(|(time, value)| (series.0, time, value)));
            Ok(())
        })
        .unwrap();
        out.sort_by(|a, b| a.partial_cmp(b).unwrap());
        (out, calls)
    }

    #[test]
    fn sources_with_samples_of_different_times_are_passed_one_after_the_other() {
        let later = run(&[(1, 14, 2.0), (1, 15, 3.0), (1, 20, 9.0), (2, 14, 9.0), (3, 10, 5.0)]);
        let earlier = run(&[(1, 9, 9.0), (1, 10, 0.0), (1, 13, 1.0)]);
        let (found, calls) = scanned(&mut [later, earlier]);
        let expected = [(1, 10, 0.0), (1, 13, 1.0), (1, 14, 2.0), (1, 15, 3.0), (3, 10, 5.0)];
        assert_eq!(found, expected);
        assert_eq!(calls, [2, 2, 1]);
    }

    #[test]
    fn samples_that_replace_others_are_merged() {
        for (second, expected) in [
            (&[(1, 12, 2.0)][..], vec![(1, 10, 0.0), (1, 12, 2.0)]),
            (&[(1, 11, 2.0)][..], vec![(1, 10, 0.0), (1, 11, 2.0), (1, 12, 1.0)]),
            (&[(1, 9, 2.0), (1, 20, 2.0)][..], vec![(1, 10, 0.0), (1, 12, 1.0)]),
            (&[(1, 13, 2.0), (1, 13, 3.0)][..], vec![(1, 10, 0.0), (1, 12, 1.0), (1, 13, 3.0)]),
        ] {
            let first = run(&[(1, 10, 0.0), (1, 12, 1.0)]);
            let (found, calls) = scanned(&mut [first, run(second)]);
            assert_eq!(found, expected);
            assert_eq!(calls, [expected.len()]);
        }
    }

    /// Returns points of runs that overlap throughout, at their ends, or not at all.
    fn runs() -> impl Strategy<Value = Vec<Vec<(u32, i64)>>> {
        let run = (0i64..60, 1i64..30).prop_flat_map(|(from, length)| {
            proptest::collection::vec((1u32..3, from..from + length), 0..40)
        });
        proptest::collection::vec(run, 1..8)
    }

    proptest! {
        #[test]
        fn any_sources_are_merged_as_if_all_points_were_sorted(runs in runs(), is_gauge: bool) {
            let kind = if is_gauge { MetricType::Gauge } else { MetricType::Counter };
            let numbered = runs.concat().into_iter().zip(0i32..);
            let written: Vec<(u32, i64, f64)> = numbered
                .map(|((series, time), number)| (series, time, f64::from(number)))
                .collect();
            let mut rest = written.as_slice();
            let mut sources = Vec::new();
            for points in &runs {
                let (of_run, others) = rest.split_at(points.len());
                sources.push(run(of_run));
                rest = others;
            }
            let mut expected = written.clone();
            expected.retain(|(_, time, _)| (10..50).contains(time));
            let in_range = expected.len();
            expected.sort_by_key(|(series, time, _)| (*series, *time));
            if is_gauge {
                expected.reverse();
                expected.dedup_by_key(|(series, time, _)| (*series, *time));
                expected.reverse();
            }
            let mut found = Vec::new();
            let take = |series: SeriesId, times: &[i64], values: &[f64]| {
                found.extend(times.iter().zip(values).map(|(t, value)| (series.0, *t, *value)));
                Ok(())
            };
            let replaced = merge_scan(&mut sources, kind, None, (10, 50), take);
            prop_assert_eq!(replaced, Ok((in_range - expected.len()) as u64));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn only_wanted_series_are_read() {
        let all = scan(MetricType::Gauge, Some(&RoaringBitmap::from_iter([2, 3, 90])));
        assert_eq!(all.iter().map(|s| s.0).collect::<Vec<_>>(), [2, 3]);
    }
}
