//! A sample: a timestamp and a value.

use telltale_engine::{StartTime, TimestampMs};

use super::error::WriteError;
use crate::areas::bulk::protobuf::{Fields, Malformed, varint};
use crate::limits::{COUNTER_YOUNG_MS_MAX, FUTURE_MS_MAX};
use crate::platform::time::InvalidTime;

/// The NaN that is Prometheus' staleness marker: the series has ended.
const STALE_BITS: u64 = 0x7ff0_0000_0000_0002;

/// A sample as sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    pub(super) value: f64,
    /// Milliseconds since 1970.
    pub(super) time_ms: i64,
    /// When the counter started, in milliseconds since 1970; 0 if unknown.
    pub(super) start_ms: i64,
}

impl Sample {
    #[inline]
    pub(super) fn read(message: &[u8]) -> Result<Self, Malformed> {
        // Nearly every sample consists of a value and a timestamp in this order.
        if let Some(([0x09, value @ .., 0x10], mut rest)) = message.split_first_chunk::<10>()
            && let Ok(time) = varint(&mut rest)
            && rest.is_empty()
        {
            let value = f64::from_le_bytes(*value);
            return Ok(Self { value, time_ms: time as i64, start_ms: 0 });
        }
        Self::read_any(message)
    }

    fn read_any(message: &[u8]) -> Result<Self, Malformed> {
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

    /// Returns the time and value to store; `None` for a staleness marker, which stores nothing.
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

/// Returns whether a value, or the sum of a histogram, is a staleness marker.
pub(super) fn is_stale(value: f64) -> bool {
    value.to_bits() == STALE_BITS
}

/// Returns the start time of a cumulative stream. If it started shortly before its first sample, it
/// counts from zero, because no earlier sample can have been received; an older one may have been
/// counted before.
pub(super) fn start_time(start_ms: i64, time: TimestampMs) -> StartTime {
    if start_ms <= 0 || start_ms > time.0 {
        return StartTime::Unknown;
    }
    let counts = time.0 - start_ms <= COUNTER_YOUNG_MS_MAX;
    StartTime::At { start: TimestampMs(start_ms), counts }
}

/// Validates timestamps.
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
