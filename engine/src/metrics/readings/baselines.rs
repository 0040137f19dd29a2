//! The last readings of all series, and the increases that new ones come to.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::buckets::Counts;
use super::counter::{CounterTotal, increase};
use super::pages::{Page, Pages};
use super::rows::ChangedBaselines;
use super::rule::{Verdict, judge};
use super::values::{Known, distribution};
use crate::metrics::head::NewCell;
use crate::model::{
    Columns, CounterReadings, Histogram, HistogramReading, Readings, SeriesId, Temporality,
    TimestampMs,
};
use crate::sketch::{Distribution, ExactSum};

/// What a last histogram costs besides its counts: itself, and the counters of those who share it.
const HISTOGRAM_BYTES: usize = size_of::<HistogramTotal>() + 2 * size_of::<usize>();

/// What readings are compared with.
#[derive(Debug, Default)]
pub(crate) struct Baselines {
    counters: Pages<CounterTotal>,
    histograms: Pages<Arc<HistogramTotal>>,
    histogram_bytes: usize,
    /// The bounds that were seen last.
    bounds: Arc<[f64]>,
}

/// The last reading of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HistogramTotal {
    pub(super) time: TimestampMs,
    pub(super) sum: Option<f64>,
    pub(super) counts: Counts,
}

/// What readings come to besides points.
#[derive(Debug, Default)]
pub(crate) struct Increases {
    /// Values of histograms.
    pub(crate) cells: Vec<NewCell>,
    /// Readings that were no news.
    pub(crate) late: u64,
}

impl Baselines {
    /// Compares readings with those before them and takes their place. Increases of counters are appended to `points`.
    /// Readings of series that are not `known` are dropped.
    pub(crate) fn compare(
        &mut self,
        readings: Readings,
        known: impl Fn(SeriesId) -> bool,
        points: &mut Columns,
    ) -> Increases {
        let mut increases = Increases::default();
        self.compare_counters(&readings.counters, &known, points, &mut increases);
        for reading in readings.histograms.into_iter().filter(|reading| known(reading.series)) {
            self.compare_histogram(reading, &mut increases);
        }
        increases
    }

    fn compare_counters(
        &mut self,
        readings: &CounterReadings,
        known: impl Fn(SeriesId) -> bool,
        points: &mut Columns,
        increases: &mut Increases,
    ) {
        for (series, time, total, begins) in readings.iter().filter(|(series, ..)| known(*series)) {
            let before = self.counters.get(series).map(|before| (before.time, before.total));
            let added = match judge(before, time, begins) {
                Verdict::Late => {
                    increases.late += 1;
                    continue;
                }
                Verdict::Baseline => None,
                Verdict::Whole => Some(total),
                Verdict::Since(before) => Some(increase(before, total)),
            };
            self.counters.set(series, CounterTotal { time, total });
            if let Some(added) = added {
                points.push(series, time, added.to_bits());
            }
        }
    }

    fn compare_histogram(&mut self, reading: HistogramReading, increases: &mut Increases) {
        let HistogramReading { series, time, temporality, histogram } = reading;
        let (sum, whole) = (histogram.sum(), Known::of(&histogram));
        let verdict = match temporality {
            Temporality::Delta => Verdict::Whole,
            Temporality::Cumulative(begins) => {
                let before = self.histograms.get(series);
                judge(before.map(|before| (before.time, Arc::clone(before))), time, begins)
            }
        };
        let counts = Counts::new(histogram.into_buckets(), &mut self.bounds);
        let cell = match verdict {
            Verdict::Late => {
                increases.late += 1;
                return;
            }
            Verdict::Baseline => Distribution::default(),
            Verdict::Whole => distribution(&counts, &whole),
            Verdict::Since(before) => match counts.since(&before.counts) {
                Some(more) => distribution(&more, &Known::between(before.sum, sum)),
                None => distribution(&counts, &whole),
            },
        };
        if temporality != Temporality::Delta {
            self.set_histogram(series, HistogramTotal { time, sum, counts });
        }
        if cell.count() > 0 {
            increases.cells.push(NewCell { series, time, cell });
        }
    }

    fn set_histogram(&mut self, series: SeriesId, total: HistogramTotal) {
        self.histogram_bytes += total.bytes();
        if let Some(before) = self.histograms.set(series, Arc::new(total)) {
            self.histogram_bytes -= before.bytes();
        }
    }

    /// All series that have a last reading, with its time; some of them twice.
    pub(crate) fn times(&self) -> impl Iterator<Item = (SeriesId, TimestampMs)> {
        let counters = self.counters.iter().map(|(series, last)| (series, last.time));
        counters.chain(self.histograms.iter().map(|(series, last)| (series, last.time)))
    }

    /// The newest of the last readings of some series.
    pub(crate) fn newest_of(&self, series: &RoaringBitmap) -> Option<TimestampMs> {
        let time = |series| {
            let counter = self.counters.get(series).read().map(|last| last.time);
            counter.max(self.histograms.get(series).read().map(|last| last.time))
        };
        series.iter().filter_map(|series| time(SeriesId(series))).max()
    }

    /// Forgets series.
    pub(crate) fn forget(&mut self, series: &RoaringBitmap) {
        self.counters.forget(series, |_| ());
        let bytes = &mut self.histogram_bytes;
        self.histograms.forget(series, |gone| *bytes -= gone.bytes());
    }

    /// Takes what changed since the last call, to be written with what was applied before.
    pub(crate) fn freeze(&mut self) -> ChangedBaselines {
        ChangedBaselines {
            counters: self.counters.take_changed(),
            histograms: self.histograms.take_changed(),
        }
    }

    /// Bytes in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        self.counters.bytes() + self.histograms.bytes() + self.histogram_bytes
    }

    pub(super) fn restore_counters(&mut self, number: u32, page: Page<CounterTotal>) {
        self.counters.restore(number, page);
    }

    pub(super) fn restore_histograms(&mut self, number: u32, page: Page<Arc<HistogramTotal>>) {
        self.histogram_bytes += page.iter(number).map(|(_, total)| total.bytes()).sum::<usize>();
        self.histograms.restore(number, page);
    }

    /// Takes note that a page of last readings is lost, of the series below `end`.
    pub(super) fn lose_counters(&mut self, number: u32, end: SeriesId) {
        self.counters.lose(number, end);
    }

    /// [`Self::lose_counters`], of histograms.
    pub(super) fn lose_histograms(&mut self, number: u32, end: SeriesId) {
        self.histograms.lose(number, end);
    }
}

impl HistogramTotal {
    fn bytes(&self) -> usize {
        HISTOGRAM_BYTES + self.counts.bytes()
    }
}

impl Known {
    fn of(histogram: &Histogram) -> Self {
        let sum = Self::between(Some(0.0), histogram.sum()).sum;
        Self { sum, min: histogram.min(), max: histogram.max() }
    }

    /// What is known of the values between two sums. The extremes are those since the beginning.
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
