//! Readings: what agents tell of counts that only grow, and of histograms, in the order they were sent.

use super::point::POINT_BYTES;
use super::{Histogram, SeriesId, TimestampMs};

/// Where a cumulative stream began counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartTime {
    /// Nobody told: the first reading is only what later ones are compared with.
    Unknown,
    /// At this time.
    At {
        /// When the process that counts began.
        start: TimestampMs,
        /// Whether the first reading of a series that was never seen counts as an increase from zero.
        counts: bool,
    },
}

/// What the buckets of a histogram count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Temporality {
    /// Values since the histogram before.
    Delta,
    /// Values since the stream began.
    Cumulative(StartTime),
}

/// Readings of one write.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Readings {
    pub(crate) counters: CounterReadings,
    pub(crate) histograms: Vec<HistogramReading>,
}

/// Readings of counters, one column per field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CounterReadings {
    pub(crate) series: Vec<SeriesId>,
    pub(crate) times: Vec<i64>,
    /// Finite.
    pub(crate) totals: Vec<f64>,
    /// Where they begin, each with the number of readings in a row that begin so: agents mostly tell one for all.
    pub(crate) begins: Vec<(StartTime, usize)>,
}

/// A histogram of a series at a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HistogramReading {
    pub(crate) series: SeriesId,
    pub(crate) time: TimestampMs,
    pub(crate) temporality: Temporality,
    pub(crate) histogram: Histogram,
}

impl Readings {
    /// The series of each.
    pub(crate) fn series(&self) -> impl Iterator<Item = SeriesId> {
        let of_histograms = self.histograms.iter().map(|histogram| histogram.series);
        self.counters.series.iter().copied().chain(of_histograms)
    }

    pub(crate) fn len(&self) -> usize {
        self.counters.len() + self.histograms.len()
    }

    /// Bytes in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let buckets: usize = self.histograms.iter().map(|h| h.histogram.buckets().bytes()).sum();
        let fixed = self.histograms.len() * size_of::<HistogramReading>();
        let begins = self.counters.begins.len() * size_of::<(StartTime, usize)>();
        self.counters.len() * POINT_BYTES + begins + fixed + buckets
    }
}

impl CounterReadings {
    pub(crate) fn len(&self) -> usize {
        self.series.len()
    }

    pub(crate) fn push(
        &mut self,
        series: SeriesId,
        time: TimestampMs,
        total: f64,
        begins: StartTime,
    ) {
        self.series.push(series);
        self.times.push(time.0);
        self.totals.push(total);
        match self.begins.last_mut() {
            Some((last, readings)) if *last == begins => *readings += 1,
            _ => self.begins.push((begins, 1)),
        }
    }

    /// The readings, one by one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SeriesId, TimestampMs, f64, StartTime)> {
        let begins = self.begins.iter().flat_map(|(begins, n)| std::iter::repeat_n(*begins, *n));
        let readings = self.series.iter().zip(&self.times).zip(&self.totals).zip(begins);
        readings
            .map(|(((series, time), total), begins)| (*series, TimestampMs(*time), *total, begins))
    }
}
