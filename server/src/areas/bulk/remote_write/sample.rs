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

    /// Splits off what looks like a sample in the last field of a series, as agents write it: the
    /// value, unless zero, and the time, which takes six bytes from 1971 to 2109. Whether the bytes
    /// before are labels, and so whether this is a sample, is for the caller to find out.
    #[inline]
    pub(super) fn split_last(series: &[u8]) -> Option<(&[u8], Self)> {
        let (before, time) = series.split_last_chunk::<6>()?;
        let [.., last] = time;
        let (more, low) = (0x0080_8080_8080, u64_of(*time));
        if low & more != more || *last >= 0x80 {
            return None;
        }
        let group = |n: u32| ((low >> (8 * n)) & 0x7f) << (7 * n);
        let time_ms = (group(0) | group(1) | group(2) | group(3) | group(4) | group(5)) as i64;
        if let Some((before, [0x12, 0x10, 0x09, value @ .., 0x10])) =
            before.split_last_chunk::<12>()
        {
            let value = f64::from_le_bytes(*value);
            return Some((before, Self { value, time_ms, start_ms: 0 }));
        }
        let (before, [0x12, 0x07, 0x10]) = before.split_last_chunk()? else { return None };
        Some((before, Self { value: 0.0, time_ms, start_ms: 0 }))
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

/// Returns the number whose low six bytes these are.
#[inline]
fn u64_of([a, b, c, d, e, f]: [u8; 6]) -> u64 {
    u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message;

    use super::*;

    proptest! {
        #[test]
        fn a_sample_at_the_end_is_the_one_that_was_encoded(
            before in prop::collection::vec(any::<u8>(), 0..20),
            value in prop_oneof![any::<f64>(), Just(0.0)],
            time_ms in (1_i64 << 35)..(1 << 42),
        ) {
            let sample = telltale_tests::remote_write::Sample {
                value,
                timestamp: time_ms,
                start_timestamp: 0,
            };
            let message = sample.encode_to_vec();
            let mut series = before.clone();
            series.extend([0x12, message.len() as u8]);
            series.extend(&message);
            let (rest, read) = Sample::split_last(&series).unwrap();
            // A zero is not encoded, whatever its sign, and bytes before it can look like a value.
            if value != 0.0 || rest.len() == before.len() {
                let written = (value + 0.0).to_bits();
                prop_assert_eq!(rest, &before[..]);
                prop_assert_eq!((read.value.to_bits(), read.time_ms), (written, time_ms));
            }
            prop_assert!(Sample::split_last(&message[message.len() - 6..]).is_none());
        }
    }

    #[test]
    fn times_of_other_lengths_are_left_to_the_parser() {
        for timestamp in [1, (1 << 35) - 1, 1 << 42, -1] {
            let sample =
                telltale_tests::remote_write::Sample { value: 1.5, timestamp, start_timestamp: 0 };
            let message = sample.encode_to_vec();
            let series = [&[0x12, message.len() as u8][..], &message].concat();
            assert!(Sample::split_last(&series).is_none(), "{timestamp}");
        }
    }
}
