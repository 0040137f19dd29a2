//! A columnar batch of samples: passed from the parser to the write-ahead log and the head.

use super::{
    CumulativeHistogram, CumulativeSamples, Histogram, MetricType, SeriesHold, SeriesId, StartTime,
    Temporality, TimestampMs,
};

/// Bytes of a sample, or of a cumulative sample of a counter, in its columns.
pub(super) const POINT_BYTES: usize = size_of::<SeriesId>() + size_of::<i64>() + size_of::<u64>();

/// Samples of one metric type, one column per field. All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The series of each sample.
    pub series: Vec<SeriesId>,
    /// The time of each sample, in milliseconds since the epoch.
    pub times: Vec<i64>,
    /// The bits of each `f64` value, or the 64-bit hash of a set member.
    pub values: Vec<u64>,
}

impl Columns {
    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.series.len()
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Appends one sample given as bits.
    #[inline]
    pub fn push(&mut self, series: SeriesId, time: TimestampMs, bits: u64) {
        self.series.push(series);
        self.times.push(time.0);
        self.values.push(bits);
    }

    /// Removes all samples and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.series.clear();
        self.times.clear();
        self.values.clear();
    }
}

/// Samples with resolved series, by metric type, in the order they were sent; and cumulative
/// samples and histograms, which are converted to deltas when the batch is applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointBatch {
    columns: [Columns; 4],
    /// `None` in most batches.
    cumulative: Option<Box<CumulativeSamples>>,
    /// Keeps the series in the registry.
    hold: SeriesHold,
}

impl PointBatch {
    /// Returns the samples of one type.
    pub fn of(&self, kind: MetricType) -> &Columns {
        match kind {
            MetricType::Gauge => &self.columns[0],
            MetricType::Counter => &self.columns[1],
            MetricType::Distribution => &self.columns[2],
            MetricType::Set => &self.columns[3],
        }
    }

    /// Returns the samples of one type for appending.
    pub fn of_mut(&mut self, kind: MetricType) -> &mut Columns {
        match kind {
            MetricType::Gauge => &mut self.columns[0],
            MetricType::Counter => &mut self.columns[1],
            MetricType::Distribution => &mut self.columns[2],
            MetricType::Set => &mut self.columns[3],
        }
    }

    /// Appends a number to a series of a gauge, counter or distribution.
    #[inline]
    pub fn push_number(
        &mut self,
        kind: MetricType,
        series: SeriesId,
        time: TimestampMs,
        value: f64,
    ) {
        debug_assert!(kind != MetricType::Set, "set members are pushed as hashes");
        debug_assert!(value.is_finite(), "values are finite");
        self.of_mut(kind).push(series, time, value.to_bits());
    }

    /// Appends a member, given by its hash, to a series of a set.
    #[inline]
    pub fn push_member(&mut self, series: SeriesId, time: TimestampMs, hash: u64) {
        self.of_mut(MetricType::Set).push(series, time, hash);
    }

    /// Appends a cumulative sample of a counter; `value` must be finite. See
    /// [`crate::BatchBuilder::reading`].
    pub fn push_cumulative(
        &mut self,
        series: SeriesId,
        time: TimestampMs,
        value: f64,
        start: StartTime,
    ) {
        debug_assert!(value.is_finite(), "values are finite");
        self.cumulative_mut().counters.push(series, time, value, start);
    }

    /// Appends a histogram of the values since the previous histogram of the series. See
    /// [`crate::BatchBuilder::histogram`].
    pub fn push_histogram(&mut self, series: SeriesId, time: TimestampMs, histogram: Histogram) {
        let temporality = Temporality::Delta;
        let reading = CumulativeHistogram { series, time, temporality, histogram };
        self.cumulative_mut().histograms.push(reading);
    }

    /// Appends a cumulative histogram. See [`crate::BatchBuilder::cumulative_histogram`].
    pub fn push_cumulative_histogram(
        &mut self,
        series: SeriesId,
        time: TimestampMs,
        histogram: Histogram,
        start: StartTime,
    ) {
        let temporality = Temporality::Cumulative(start);
        let reading = CumulativeHistogram { series, time, temporality, histogram };
        self.cumulative_mut().histograms.push(reading);
    }

    /// Iterates over the series of all samples, with repetitions.
    pub(crate) fn series(&self) -> impl Iterator<Item = SeriesId> {
        let of_points = self.columns.iter().flat_map(|columns| &columns.series);
        let of_readings = self.cumulative().into_iter().flat_map(CumulativeSamples::series);
        of_points.copied().chain(of_readings)
    }

    /// Returns the number of samples, cumulative samples and histograms.
    pub fn len(&self) -> usize {
        let cumulative = self.cumulative.as_ref().map_or(0, |cumulative| cumulative.len());
        self.columns.iter().map(Columns::len).sum::<usize>() + cumulative
    }

    /// Returns whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(Columns::is_empty) && self.cumulative.is_none()
    }

    /// Returns the bytes in memory, approximately.
    pub fn bytes(&self) -> usize {
        let points: usize = self.columns.iter().map(Columns::len).sum();
        points * POINT_BYTES + self.cumulative().map_or(0, CumulativeSamples::bytes)
    }

    /// Removes all samples and keeps the allocated memory of the columns.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Columns::clear);
        self.cumulative = None;
    }

    /// Keeps the series of the batch in the registry until it is written or dropped.
    pub(crate) fn hold_series(&mut self, hold: SeriesHold) {
        self.hold = hold;
    }

    pub(crate) fn cumulative(&self) -> Option<&CumulativeSamples> {
        self.cumulative.as_deref()
    }

    pub(crate) fn cumulative_mut(&mut self) -> &mut CumulativeSamples {
        self.cumulative.get_or_insert_default()
    }

    /// Removes and returns the cumulative samples and histograms.
    pub(crate) fn take_cumulative(&mut self) -> Option<CumulativeSamples> {
        self.cumulative.take().map(|cumulative| *cumulative)
    }
}
