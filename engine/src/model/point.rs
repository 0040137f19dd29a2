//! A batch of points as columns: what a write carries from the parser to the log and the head.

use super::{MetricType, SeriesId, TimestampMs};

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

/// Resolved points, by metric type, in the order they were sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointBatch {
    columns: [Columns; 4],
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

    /// How many points there are in all.
    pub fn len(&self) -> usize {
        self.columns.iter().map(Columns::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(Columns::is_empty)
    }

    /// Forgets the points and keeps the memory.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Columns::clear);
    }
}
