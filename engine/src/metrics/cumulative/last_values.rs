//! The last cumulative value of every series, and the increases computed from new samples.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::buckets::Counts;
use super::counter::{LastCounter, increase};
use super::pages::{Page, Pages};
use super::rows::ChangedLastValues;
use super::rule::{SampleKind, classify};
use super::values::{HistogramStats, distribution};
use crate::metrics::head::NewCell;
use crate::model::{
    Columns, CumulativeCounters, CumulativeHistogram, CumulativeSamples, Histogram, SeriesId,
    Temporality, TimestampMs,
};
use crate::sketch::{Distribution, ExactSum};

/// Bytes of a last histogram besides its counts: the value and the reference counts of its `Arc`.
const HISTOGRAM_BYTES: usize = size_of::<LastHistogram>() + 2 * size_of::<usize>();

/// The last cumulative value of every series, which new samples are compared with.
#[derive(Debug, Default)]
pub(crate) struct LastValues {
    counters: Pages<LastCounter>,
    histograms: Pages<Arc<LastHistogram>>,
    histogram_bytes: usize,
    /// The bounds of the most recent histogram with explicit bounds, shared between histograms.
    bounds: Arc<[f64]>,
}

/// The last cumulative value of a histogram and its time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LastHistogram {
    pub(super) time: TimestampMs,
    pub(super) sum: Option<f64>,
    pub(super) counts: Counts,
}

/// The result of applying cumulative samples, apart from counter points.
#[derive(Debug, Default)]
pub(crate) struct Increases {
    /// The increases of histograms, as cells.
    pub(crate) cells: Vec<NewCell>,
    /// The number of samples dropped because they were not newer than the last one.
    pub(crate) late: u64,
}

impl LastValues {
    /// Computes the increases of cumulative samples and records each sample as the last value of
    /// its series. Increases of counters are appended to `points`. Samples of series that are not
    /// `known` are dropped.
    pub(crate) fn compare(
        &mut self,
        cumulative: CumulativeSamples,
        mut known: impl FnMut(SeriesId) -> bool,
        points: &mut Columns,
    ) -> Increases {
        let mut increases = Increases::default();
        self.compare_counters(&cumulative.counters, &mut known, points, &mut increases);
        for reading in cumulative.histograms.into_iter().filter(|reading| known(reading.series)) {
            self.compare_histogram(reading, &mut increases);
        }
        increases
    }

    fn compare_counters(
        &mut self,
        cumulative: &CumulativeCounters,
        mut known: impl FnMut(SeriesId) -> bool,
        points: &mut Columns,
        increases: &mut Increases,
    ) {
        for (series, time, value, start_time) in
            cumulative.iter().filter(|(series, ..)| known(*series))
        {
            let previous = self.counters.get(series).map(|last| (last.time, last.value));
            let added = match classify(previous, time, start_time) {
                SampleKind::Late => {
                    increases.late += 1;
                    continue;
                }
                SampleKind::Reference => None,
                SampleKind::FromZero => Some(value),
                SampleKind::Since(previous) => Some(increase(previous, value)),
            };
            self.counters.set(series, LastCounter { time, value });
            if let Some(added) = added {
                points.push(series, time, added.to_bits());
            }
        }
    }

    fn compare_histogram(&mut self, reading: CumulativeHistogram, increases: &mut Increases) {
        let CumulativeHistogram { series, time, temporality, histogram } = reading;
        let (sum, stats) = (histogram.sum(), HistogramStats::of(&histogram));
        let kind = match temporality {
            Temporality::Delta => SampleKind::FromZero,
            Temporality::Cumulative(start_time) => {
                let previous = self.histograms.get(series);
                classify(previous.map(|last| (last.time, Arc::clone(last))), time, start_time)
            }
        };
        let counts = Counts::new(histogram.into_buckets(), &mut self.bounds);
        let cell = match kind {
            SampleKind::Late => {
                increases.late += 1;
                return;
            }
            SampleKind::Reference => Distribution::default(),
            SampleKind::FromZero => distribution(&counts, &stats),
            SampleKind::Since(previous) => match counts.since(&previous.counts) {
                Some(delta) => distribution(&delta, &HistogramStats::between(previous.sum, sum)),
                None => distribution(&counts, &stats),
            },
        };
        if temporality != Temporality::Delta {
            self.set_histogram(series, LastHistogram { time, sum, counts });
        }
        if cell.count() > 0 {
            increases.cells.push(NewCell { series, time, cell });
        }
    }

    fn set_histogram(&mut self, series: SeriesId, last: LastHistogram) {
        self.histogram_bytes += last.bytes();
        if let Some(previous) = self.histograms.set(series, Arc::new(last)) {
            self.histogram_bytes -= previous.bytes();
        }
    }

    /// Iterates over all series that have a last value, with its time. A series may occur twice.
    pub(crate) fn times(&self) -> impl Iterator<Item = (SeriesId, TimestampMs)> {
        let counters = self.counters.iter().map(|(series, last)| (series, last.time));
        counters.chain(self.histograms.iter().map(|(series, last)| (series, last.time)))
    }

    /// Returns the time of the newest last value of `series`, `None` if there is none.
    pub(crate) fn newest_of(&self, series: &RoaringBitmap) -> Option<TimestampMs> {
        let time = |series| {
            let counter = self.counters.get(series).known().map(|last| last.time);
            counter.max(self.histograms.get(series).known().map(|last| last.time))
        };
        series.iter().filter_map(|series| time(SeriesId(series))).max()
    }

    /// Removes the last values of series.
    pub(crate) fn forget(&mut self, series: &RoaringBitmap) {
        self.counters.forget(series, |_| ());
        let bytes = &mut self.histogram_bytes;
        self.histograms.forget(series, |removed| *bytes -= removed.bytes());
    }

    /// Returns what changed since the previous call, to be written together with the records
    /// applied before.
    pub(crate) fn freeze(&mut self) -> ChangedLastValues {
        ChangedLastValues {
            counters: self.counters.take_changed(),
            histograms: self.histograms.take_changed(),
        }
    }

    /// Returns the approximate bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.counters.bytes() + self.histograms.bytes() + self.histogram_bytes
    }

    pub(super) fn restore_counters(&mut self, number: u32, page: Page<LastCounter>) {
        self.counters.restore(number, page);
    }

    pub(super) fn restore_histograms(&mut self, number: u32, page: Page<Arc<LastHistogram>>) {
        self.histogram_bytes += page.iter(number).map(|(_, last)| last.bytes()).sum::<usize>();
        self.histograms.restore(number, page);
    }

    /// Records that a page was lost to damage: the series of the page below `end` have lost their
    /// last value.
    pub(super) fn lose_counters(&mut self, number: u32, end: SeriesId) {
        self.counters.lose(number, end);
    }

    /// Does what [`Self::lose_counters`] does, for histograms.
    pub(super) fn lose_histograms(&mut self, number: u32, end: SeriesId) {
        self.histograms.lose(number, end);
    }
}

impl LastHistogram {
    fn bytes(&self) -> usize {
        HISTOGRAM_BYTES + self.counts.bytes()
    }
}

impl HistogramStats {
    fn of(histogram: &Histogram) -> Self {
        let sum = Self::between(Some(0.0), histogram.sum()).sum;
        Self { sum, min: histogram.min(), max: histogram.max() }
    }

    /// Returns the statistics of the values between two cumulative sums. Extremes are unknown: a
    /// cumulative histogram reports them since its start.
    fn between(before: Option<f64>, now: Option<f64>) -> Self {
        let sum = before.zip(now).map(|(before, now)| {
            let mut sum = ExactSum::default();
            sum.add(now);
            sum.add(-before);
            sum
        });
        Self { sum, min: None, max: None }
    }
}
