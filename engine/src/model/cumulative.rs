//! Cumulative samples of counters, and histograms, as agents send them, in the order they were
//! sent.

use super::point::POINT_BYTES;
use super::{Histogram, SeriesId, TimestampMs};

/// The start time of a cumulative stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartTime {
    /// The sender did not report it: the first sample only sets the last cumulative value.
    Unknown,
    /// The reported start time.
    At {
        /// The time at which the counting process started.
        start: TimestampMs,
        /// Whether the first sample of a series without a last cumulative value counts as an
        /// increase from zero.
        counts: bool,
    },
}

/// What the buckets of a histogram count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Temporality {
    /// Values since the previous histogram.
    Delta,
    /// Values since the start of the stream.
    Cumulative(StartTime),
}

/// The cumulative samples and histograms of one write.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CumulativeSamples {
    pub(crate) counters: CumulativeCounters,
    pub(crate) histograms: Vec<CumulativeHistogram>,
}

/// Cumulative samples of counters, one column per field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CumulativeCounters {
    pub(crate) series: Vec<SeriesId>,
    pub(crate) times: Vec<i64>,
    /// The cumulative values; finite.
    pub(crate) totals: Vec<f64>,
    /// Start times, run-length encoded: each with the number of consecutive samples that have it.
    /// Most agents send one start time for all samples.
    pub(crate) starts: Vec<(StartTime, usize)>,
}

/// A histogram of a series at a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CumulativeHistogram {
    pub(crate) series: SeriesId,
    pub(crate) time: TimestampMs,
    pub(crate) temporality: Temporality,
    pub(crate) histogram: Histogram,
}

impl CumulativeSamples {
    /// Iterates over the series of all samples.
    pub(crate) fn series(&self) -> impl Iterator<Item = SeriesId> {
        let of_histograms = self.histograms.iter().map(|histogram| histogram.series);
        self.counters.series.iter().copied().chain(of_histograms)
    }

    pub(crate) fn len(&self) -> usize {
        self.counters.len() + self.histograms.len()
    }

    /// Returns the bytes in memory, approximately.
    pub(crate) fn bytes(&self) -> usize {
        let buckets: usize = self.histograms.iter().map(|h| h.histogram.buckets().bytes()).sum();
        let fixed = self.histograms.len() * size_of::<CumulativeHistogram>();
        let starts = self.counters.starts.len() * size_of::<(StartTime, usize)>();
        self.counters.len() * POINT_BYTES + starts + fixed + buckets
    }
}

impl CumulativeCounters {
    pub(crate) fn len(&self) -> usize {
        self.series.len()
    }

    pub(crate) fn push(
        &mut self,
        series: SeriesId,
        time: TimestampMs,
        value: f64,
        start: StartTime,
    ) {
        self.series.push(series);
        self.times.push(time.0);
        self.totals.push(value);
        match self.starts.last_mut() {
            Some((last, samples)) if *last == start => *samples += 1,
            _ => self.starts.push((start, 1)),
        }
    }

    /// Iterates over the samples.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SeriesId, TimestampMs, f64, StartTime)> {
        let starts = self.starts.iter().flat_map(|(start, n)| std::iter::repeat_n(*start, *n));
        let samples = self.series.iter().zip(&self.times).zip(&self.totals).zip(starts);
        samples.map(|(((series, time), total), start)| (*series, TimestampMs(*time), *total, start))
    }
}
