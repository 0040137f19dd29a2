//! A k-way merge of the points of one metric from several sources, series by series.
//!
//! Sources are runs of the head and blocks, given in write order. Of two gauge points of one series
//! at the same time the one written later is kept; increments of a counter are all kept.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::super::block::PointBlock;
use super::super::head::Run;
use crate::codec::CodecResult;
use crate::model::{MetricType, SeriesId};

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

impl Source<'_> {
    /// Declares that one or two series are read.
    pub(crate) fn expect_few(&mut self) {
        if let Self::Block(block) = self {
            block.expect_few();
        }
    }

    fn series(&self) -> &[u32] {
        match self {
            Self::Run(run) => run.series(),
            Self::Block(block) => block.series(),
            Self::Rows(rows) => &rows.series,
        }
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
    let mut found = Vec::new();
    for (source, from) in sources.iter().enumerate() {
        each_wanted(from.series(), wanted, |index, series| {
            found.push((series, source as u32, index as u32));
        });
    }
    found.sort_unstable();
    let mut points = SeriesPoints::default();
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        points.times.clear();
        points.values.clear();
        for (_, source, index) in same {
            if let Some(source) = sources.get_mut(*source as usize) {
                source.append(*index as usize, range, &mut points.times, &mut points.values)?;
            }
        }
        replaced += points.sort_and_replace(kind);
        if let Some((series, ..)) = same.first()
            && !points.times.is_empty()
        {
            sink(SeriesId(*series), &points.times, &points.values)?;
        }
    }
    Ok(replaced)
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

/// The points of one series, in write order.
#[derive(Debug, Default)]
struct SeriesPoints {
    times: Vec<i64>,
    values: Vec<f64>,
}

impl SeriesPoints {
    /// Sorts the points by time; of gauge points at the same time only the last written is kept.
    /// Returns the number of replaced points.
    fn sort_and_replace(&mut self, kind: MetricType) -> u64 {
        let replaces = kind == MetricType::Gauge;
        let is_sorted =
            if replaces { self.times.is_sorted_by(|a, b| a < b) } else { self.times.is_sorted() };
        if is_sorted {
            return 0;
        }
        let before = self.times.len();
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
        (before - self.times.len()) as u64
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn only_wanted_series_are_read() {
        let all = scan(MetricType::Gauge, Some(&RoaringBitmap::from_iter([2, 3, 90])));
        assert_eq!(all.iter().map(|s| s.0).collect::<Vec<_>>(), [2, 3]);
    }
}
