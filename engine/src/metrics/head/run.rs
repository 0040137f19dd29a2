//! A run: samples of one metric sorted by series, then time, then order of arrival.

use std::ops::RangeInclusive;

use crate::metrics::window::SHORT_WINDOW_MS;
use crate::model::{Columns, SeriesId, TimeRange};

/// Rows are sorted with a counter for each id that a series may have, up to so many ids for each
/// row. Beyond that, most counters would be unused.
const IDS_PER_ROW_COUNTED_MAX: usize = 4;

/// Immutable sorted samples.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// The distinct series, ascending.
    series: Vec<u32>,
    /// The first row of each series, then the number of rows.
    starts: Vec<u32>,
    times: Vec<i64>,
    values: Vec<u64>,
    extent: (i64, i64),
    /// The starts of the short windows that contain samples, ascending.
    windows: Vec<i64>,
}

/// The samples of one series in a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesRows<'a> {
    pub(crate) series: SeriesId,
    /// Ascending. Of equal times, the sample written later comes later.
    pub(crate) times: &'a [i64],
    pub(crate) values: &'a [u64],
}

impl Run {
    /// Sorts columns that are in order of arrival.
    pub(crate) fn sort(columns: &Columns) -> Self {
        let bounds = (u32::MAX, 0);
        let (min, max) = columns
            .series
            .iter()
            .fold(bounds, |(min, max), series| (min.min(series.0), max.max(series.0)));
        let ids = max.saturating_sub(min) as usize;
        let mut run = if ids / IDS_PER_ROW_COUNTED_MAX < columns.len() {
            Self::by_counting(columns, min..=max)
        } else {
            Self::by_order(columns, &sorted_by_series(&columns.series, min, max))
        };
        run.sort_times();
        run.windows = windows_of(&run.times);
        run
    }

    /// Sorts by series, whose ids are in the range: the rows of each are counted, which yields the
    /// row at which it starts.
    fn by_counting(columns: &Columns, ids: RangeInclusive<u32>) -> Self {
        let rows = columns.len();
        let mut run = Self::empty(vec![0; rows], vec![0; rows]);
        let mut places = vec![0u32; (ids.end() - ids.start()) as usize + 1];
        let id = |series: &SeriesId| (series.0 - ids.start()) as usize;
        for series in &columns.series {
            places[id(series)] += 1;
        }
        let mut start = 0;
        for (series, place) in ids.clone().zip(&mut places) {
            let count = std::mem::replace(place, start);
            if count > 0 {
                run.series.push(series);
                run.starts.push(start);
                start += count;
            }
        }
        run.starts.push(start);
        for ((series, time), value) in
            columns.series.iter().zip(&columns.times).zip(&columns.values)
        {
            let place = &mut places[id(series)];
            (run.times[*place as usize], run.values[*place as usize]) = (*time, *value);
            *place += 1;
        }
        run
    }

    /// Moves rows into an order in which series ascend.
    fn by_order(columns: &Columns, order: &[u32]) -> Self {
        let mut run = Self::empty(gather(&columns.times, order), gather(&columns.values, order));
        for (row, from) in order.iter().enumerate() {
            let series = columns.series[*from as usize].0;
            if run.series.last() != Some(&series) {
                run.series.push(series);
                run.starts.push(row as u32);
            }
        }
        run.starts.push(order.len() as u32);
        run
    }

    fn empty(times: Vec<i64>, values: Vec<u64>) -> Self {
        Self { times, values, extent: (i64::MAX, i64::MIN), ..Self::default() }
    }

    /// Sorts the rows of each series by time. They mostly arrive in time order.
    fn sort_times(&mut self) {
        for pair in self.starts.windows(2) {
            let [start, end] = *pair else { continue };
            let rows = start as usize..end as usize;
            let (Some(times), Some(values)) =
                (self.times.get_mut(rows.clone()), self.values.get_mut(rows))
            else {
                continue;
            };
            if !times.is_sorted() {
                let mut points: Vec<(i64, u64)> =
                    times.iter().copied().zip(values.iter().copied()).collect();
                points.sort_by_key(|(time, _)| *time);
                for ((time, value), point) in times.iter_mut().zip(values).zip(points) {
                    (*time, *value) = point;
                }
            }
            let (Some(first), Some(last)) = (times.first(), times.last()) else { continue };
            self.extent = (self.extent.0.min(*first), self.extent.1.max(*last));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns the smallest time range that contains all samples.
    pub(crate) fn extent(&self) -> TimeRange {
        TimeRange::new(self.extent.0, self.extent.1.saturating_add(1))
    }

    /// Returns whether the run may contain samples in the range, with the resolution of a short
    /// window.
    pub(crate) fn touches(&self, range: TimeRange) -> bool {
        let meets = |start: &i64| {
            !TimeRange::new(*start, start + SHORT_WINDOW_MS).intersect(range).is_empty()
        };
        !self.extent().intersect(range).is_empty() && self.windows.iter().any(meets)
    }

    /// Returns the distinct series, ascending.
    pub(crate) fn series(&self) -> &[u32] {
        &self.series
    }

    /// Returns the samples of the series at `index` of [`Self::series`].
    pub(crate) fn rows(&self, index: usize) -> SeriesRows<'_> {
        let rows = self.starts[index] as usize..self.starts[index + 1] as usize;
        SeriesRows {
            series: SeriesId(self.series[index]),
            times: &self.times[rows.clone()],
            values: &self.values[rows],
        }
    }
}

impl<'a> SeriesRows<'a> {
    /// Returns the samples with `start <= time < end`.
    pub(crate) fn within(self, start: i64, end: i64) -> Self {
        let from = self.times.partition_point(|t| *t < start);
        let to = self.times.partition_point(|t| *t < end).max(from);
        Self { series: self.series, times: &self.times[from..to], values: &self.values[from..to] }
    }
}

fn windows_of(times: &[i64]) -> Vec<i64> {
    let mut windows: Vec<i64> = Vec::new();
    let mut last = 0..0;
    for time in times {
        if !last.contains(time) {
            let window = time - time.rem_euclid(SHORT_WINDOW_MS);
            last = window..window.saturating_add(SHORT_WINDOW_MS);
            if let Err(at) = windows.binary_search(&window) {
                windows.insert(at, window);
            }
        }
    }
    windows
}

fn gather<T: Copy>(column: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|row| column[*row as usize]).collect()
}

/// Returns the rows ordered by series, whose ids are from `min` to `max`, and within a series by
/// arrival: a radix sort with eleven bits per pass over the bits in which the ids differ.
fn sorted_by_series(series: &[SeriesId], min: u32, max: u32) -> Vec<u32> {
    const BITS: u32 = 11;
    let mut order: Vec<u32> = (0..series.len() as u32).collect();
    if series.is_sorted() {
        return order;
    }
    let mut moved = vec![0u32; series.len()];
    let mut shift = 0;
    while shift < 32 && (max - min) >> shift > 0 {
        let digit = |row: u32| {
            let id = series[row as usize].0 - min;
            (id >> shift) as usize & ((1 << BITS) - 1)
        };
        let mut places = [0u32; 1 << BITS];
        for row in &order {
            if let Some(count) = places.get_mut(digit(*row)) {
                *count += 1;
            }
        }
        let mut at = 0;
        for place in &mut places {
            at += std::mem::replace(place, at);
        }
        for row in &order {
            if let Some(place) = places.get_mut(digit(*row)) {
                if let Some(slot) = moved.get_mut(*place as usize) {
                    *slot = *row;
                }
                *place += 1;
            }
        }
        std::mem::swap(&mut order, &mut moved);
        shift += BITS;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimestampMs;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_run_is_stably_sorted_by_series_and_time(
            points in proptest::collection::vec((any::<u32>(), 0i64..20), 0..400),
            ids in prop_oneof![1u32..9, 1_590u32..1_610, Just(u32::MAX)],
            from_last in any::<bool>(),
        ) {
            let mut columns = Columns::default();
            let mut expected = Vec::new();
            for (i, (series, time)) in points.into_iter().enumerate() {
                let series = if from_last { u32::MAX - series % ids } else { series % ids };
                columns.push(SeriesId(series), TimestampMs(time), i as u64);
                expected.push((series, time, i as u64));
            }
            expected.sort_by_key(|(series, time, _)| (*series, *time));
            let run = Run::sort(&columns);
            let mut got = Vec::new();
            for index in 0..run.series().len() {
                let rows = run.rows(index);
                got.extend(rows.times.iter().zip(rows.values).map(|(t, v)| (rows.series.0, *t, *v)));
            }
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn rows_are_limited_to_a_time_range() {
        let mut columns = Columns::default();
        [1, 3, 3, 5].iter().for_each(|t| columns.push(SeriesId(1), TimestampMs(*t), *t as u64));
        let run = Run::sort(&columns);
        assert_eq!(run.rows(0).within(2, 5).times, [3, 3]);
        assert_eq!(run.rows(0).within(6, 9).times, [0i64; 0]);
        assert_eq!(run.extent(), TimeRange::new(1, 6));
    }
}
