//! A batch of points as columns: what a write carries from the parser to the log and the head.

use super::{
    Histogram, HistogramReading, MetricType, Readings, SeriesHold, SeriesId, StartTime,
    Temporality, TimestampMs,
};

/// Bytes of a point or the reading of a counter in its columns.
pub(super) const POINT_BYTES: usize = size_of::<SeriesId>() + size_of::<i64>() + size_of::<u64>();

/// Points of one metric type, one column per field. All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The series of each point.
    pub series: Vec<SeriesId>,
    /// The time of each point, milliseconds since the epoch.
    pub times: Vec<i64>,
    /// The bits of the `f64` value, or the 64-bit hash of a set member.
    pub values: Vec<u64>,
}

impl Columns {
    /// How many points there are.
    pub fn len(&self) -> usize {
        self.series.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Appends one point given as bits.
    #[inline]
    pub fn push(&mut self, series: SeriesId, time: TimestampMs, bits: u64) {
        self.series.push(series);
        self.times.push(time.0);
        self.values.push(bits);
    }

    fn clear(&mut self) {
        self.series.clear();
        self.times.clear();
        self.values.clear();
    }
}

/// Resolved points, by metric type, in the order they were sent, and readings, which become points where they are applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointBatch {
    columns: [Columns; 4],
    /// Most batches have none.
    readings: Option<Box<Readings>>,
    /// Keeps the series from leaving the registry.
    hold: SeriesHold,
}

impl PointBatch {
    /// The points of one type.
    pub fn of(&self, kind: MetricType) -> &Columns {
        match kind {
            MetricType::Gauge => &self.columns[0],
            MetricType::Counter => &self.columns[1],
            MetricType::Distribution => &self.columns[2],
            MetricType::Set => &self.columns[3],
        }
    }

    /// The points of one type, to append to.
    pub fn of_mut(&mut self, kind: MetricType) -> &mut Columns {
        match kind {
            MetricType::Gauge => &mut self.columns[0],
            MetricType::Counter => &mut self.columns[1],
            MetricType::Distribution => &mut self.columns[2],
            MetricType::Set => &mut self.columns[3],
        }
    }

    /// Appends a number to a gauge, counter or distribution whose series is known.
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

    /// Appends a member, given by its hash, to a set whose series is known.
    #[inline]
    pub fn push_member(&mut self, series: SeriesId, time: TimestampMs, hash: u64) {
        self.of_mut(MetricType::Set).push(series, time, hash);
    }

    /// Appends a reading of a counter that only grows; `total` is finite. See [`crate::BatchBuilder::reading`].
    pub fn push_reading(
        &mut self,
        series: SeriesId,
        time: TimestampMs,
        total: f64,
        begins: StartTime,
    ) {
        debug_assert!(total.is_finite(), "totals are finite");
        self.readings_mut().counters.push(series, time, total, begins);
    }

    /// Appends values that were counted since the histogram before. See [`crate::BatchBuilder::histogram`].
    pub fn push_histogram(&mut self, series: SeriesId, time: TimestampMs, histogram: Histogram) {
        let temporality = Temporality::Delta;
        let reading = HistogramReading { series, time, temporality, histogram };
        self.readings_mut().histograms.push(reading);
    }

    /// Appends a histogram that only grows. See [`crate::BatchBuilder::histogram_reading`].
    pub fn push_histogram_reading(
        &mut self,
        series: SeriesId,
        time: TimestampMs,
        histogram: Histogram,
        begins: StartTime,
    ) {
        let temporality = Temporality::Cumulative(begins);
        let reading = HistogramReading { series, time, temporality, histogram };
        self.readings_mut().histograms.push(reading);
    }

    /// The series of all points and readings, some of them many times.
    pub(crate) fn series(&self) -> impl Iterator<Item = SeriesId> {
        let of_points = self.columns.iter().flat_map(|columns| &columns.series);
        let of_readings = self.readings().into_iter().flat_map(Readings::series);
        of_points.copied().chain(of_readings)
    }

    /// How many points and readings there are in all.
    pub fn len(&self) -> usize {
        let readings = self.readings.as_ref().map_or(0, |readings| readings.len());
        self.columns.iter().map(Columns::len).sum::<usize>() + readings
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(Columns::is_empty) && self.readings.is_none()
    }

    /// Bytes in memory, about.
    pub fn bytes(&self) -> usize {
        let points: usize = self.columns.iter().map(Columns::len).sum();
        points * POINT_BYTES + self.readings().map_or(0, Readings::bytes)
    }

    /// Forgets the points and keeps their memory.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Columns::clear);
        self.readings = None;
    }

    /// Keeps the series of the batch in the registry until it is written or dropped.
    pub(crate) fn hold_series(&mut self, hold: SeriesHold) {
        self.hold = hold;
    }

    pub(crate) fn readings(&self) -> Option<&Readings> {
        self.readings.as_deref()
    }

    pub(crate) fn readings_mut(&mut self) -> &mut Readings {
        self.readings.get_or_insert_default()
    }

    /// Takes the readings out and leaves the points.
    pub(crate) fn take_readings(&mut self) -> Option<Readings> {
        self.readings.take().map(|readings| *readings)
    }
}
