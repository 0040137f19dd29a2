//! A sample: a number at a time.

use telltale_engine::{StartTime, TimestampMs};

use super::error::WriteError;
use crate::areas::bulk::protobuf::{Damaged, Fields, varint};
use crate::limits::{COUNTER_YOUNG_MS_MAX, FUTURE_MS_MAX};
use crate::platform::time::InvalidTime;

/// The one number that is none by which Prometheus says that a series has ended.
const STALE_BITS: u64 = 0x7ff0_0000_0000_0002;

/// A sample as it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    pub(super) value: f64,
    /// Milliseconds since 1970.
    pub(super) time_ms: i64,
    /// When the counter began, in milliseconds since 1970; 0 when that is not said.
    pub(super) start_ms: i64,
}

impl Sample {
    #[inline]
    pub(super) fn read(message: &[u8]) -> Result<Self, Damaged> {
        // Nearly every sample is a value and a time in this order.
        if let Some(([0x09, value @ .., 0x10], mut rest)) = message.split_first_chunk::<10>()
            && let Ok(time) = varint(&mut rest)
            && rest.is_empty()
        {
            let value = f64::from_le_bytes(*value);
            return Ok(Self { value, time_ms: time as i64, start_ms: 0 });
        }
        Self::read_any(message)
    }

    fn read_any(message: &[u8]) -> Result<Self, Damaged> {
        let mut sample = Self::default();
        for field in Fields::of(message) {
            match field? {
                (1, value) => sample.value = value.double()?,
                (2, time) => sample.time_ms = time.varint()? as i64,
                (3, start) => sample.start_ms = start.varint()? as i64,
                _ => {}
            }
        }
        Ok(sample)
    }

    /// The sample's time and value, if it has one to store: a marker says that the series has ended, which needs no point.
    #[inline]
    pub(super) fn check(self, times: Times) -> Result<Option<(TimestampMs, f64)>, WriteError> {
        if self.value.is_finite() {
            Ok(Some((times.check(self.time_ms)?, self.value)))
        } else if is_stale(self.value) {
            Ok(None)
        } else {
            Err(WriteError::Value)
        }
    }
}

/// Whether a value, or the sum of a histogram, says that the series has ended.
pub(super) fn is_stale(value: f64) -> bool {
    value.to_bits() == STALE_BITS
}

/// Where a cumulative stream began. One that began just before it was first seen counts from zero: nothing of it was
/// seen by anybody. One that is older has counted for others before.
pub(super) fn begins(start_ms: i64, time: TimestampMs) -> StartTime {
    if start_ms <= 0 || start_ms > time.0 {
        return StartTime::Unknown;
    }
    let counts = time.0 - start_ms <= COUNTER_YOUNG_MS_MAX;
    StartTime::At { start: TimestampMs(start_ms), counts }
}

/// The times that are taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    latest_ms: i64,
}

impl Times {
    pub(super) fn new(now: TimestampMs) -> Self {
        Self { latest_ms: now.0.saturating_add(FUTURE_MS_MAX) }
    }

    #[inline]
    pub(super) fn check(self, time_ms: i64) -> Result<TimestampMs, InvalidTime> {
        if (0..=self.latest_ms).contains(&time_ms) {
            Ok(TimestampMs(time_ms))
        } else {
            Err(InvalidTime::OutOfRange)
        }
    }
}
