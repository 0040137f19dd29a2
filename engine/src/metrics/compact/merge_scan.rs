//! Reading points of one metric from several places as if they were one, series by series.
//!
//! The places are runs of the head and blocks, given in the order in which they were written. Of two gauge points of one
//! series at one time the later written stays; increments of a counter all stay.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::super::block::PointBlock;
use super::super::head::Run;
use crate::codec::CodecResult;
use crate::model::{MetricType, SeriesId};

/// Where points come from.
#[derive(Debug)]
pub(crate) enum Source<'a> {
    Run(Arc<Run>),
    Block(Box<PointBlock<'a>>),
    Rows(PointRows),
}

/// Points that were taken from a block.
#[derive(Debug, Default)]
pub(crate) struct PointRows {
    /// Ascending.
    series: Vec<u32>,
    /// Where the points of each series end.
    ends: Vec<usize>,
    times: Vec<i64>,
    values: Vec<f64>,
}

impl PointRows {
    /// Adds a series, above those before it, whose times and values `append` appends.
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

    /// Bytes in memory, about.
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
        let first = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let last = self.ends.get(index).copied().unwrap_or_default();
        let all = self.times.get(first.unwrap_or_default()..last).unwrap_or_default();
        let from = first.unwrap_or_default() + all.partition_point(|time| *time < start);
        let to = first.unwrap_or_default() + all.partition_point(|time| *time < end);
        times.extend_from_slice(self.times.get(from..to).unwrap_or_default());
        values.extend_from_slice(self.values.get(from..to).unwrap_or_default());
    }
}

impl Source<'_> {
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

/// Hands every series of `sources` that is in `wanted` (all, when there is none) to `sink`: its points with
/// `range.0 <= time < range.1`, in ascending time. `sources` are in the order of writing. Returns how many points others replaced.
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
    let mut points = Points::default();
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        points.times.clear();
        points.values.clear();
        for (_, source, index) in same {
            if let Some(source) = sources.get_mut(*source as usize) {
                source.append(*index as usize, range, &mut points.times, &mut points.values)?;
            }
        }
        replaced += points.settle(kind);
        if let Some((series, ..)) = same.first()
            && !points.times.is_empty()
        {
            sink(SeriesId(*series), &points.times, &points.values)?;
        }
    }
    Ok(replaced)
}

/// Calls `found` with the index and id of every series of an ascending list that is wanted.
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

/// Points of one series, in the order of writing.
#[derive(Debug, Default)]
struct Points {
    times: Vec<i64>,
    values: Vec<f64>,
}

impl Points {
    /// Puts the points in the order of time and lets later gauge points replace earlier ones. Returns how many were replaced.
    fn settle(&mut self, kind: MetricType) -> u64 {
        let replaces = kind == MetricType::Gauge;
        let settled =
            if replaces { self.times.is_sorted_by(|a, b| a < b) } else { self.times.is_sorted() };
        if settled {
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
    fn increments_all_stay() {
        let all = scan(MetricType::Counter, None);
        assert_eq!(all[0], (1, vec![10, 10, 15, 15], vec![1.0, 5.0, 6.0, 8.0]));
    }

    #[test]
    fn only_wanted_series_are_read() {
        let all = scan(MetricType::Gauge, Some(&RoaringBitmap::from_iter([2, 3, 90])));
        assert_eq!(all.iter().map(|s| s.0).collect::<Vec<_>>(), [2, 3]);
    }
}
