//! Timestamps: integers in the unit that the request names.

use telltale_engine::TimestampMs;

use crate::limits;
use crate::platform::time::InvalidTime;

/// The unit of timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Nanoseconds, the default if a request names no unit.
    #[default]
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
}

impl Precision {
    /// Parses the unit's name in version 1 of the protocol.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "n" => Some(Self::Nanoseconds),
            "u" => Some(Self::Microseconds),
            "m" => Some(Self::Minutes),
            "h" => Some(Self::Hours),
            _ => Self::parse_v2(text),
        }
    }

    /// Parses the unit's name in version 2 of the protocol.
    pub fn parse_v2(text: &str) -> Option<Self> {
        match text {
            "ns" => Some(Self::Nanoseconds),
            "us" => Some(Self::Microseconds),
            "ms" => Some(Self::Milliseconds),
            "s" => Some(Self::Seconds),
            _ => None,
        }
    }

    #[inline]
    fn milliseconds(self, number: u64) -> Option<u64> {
        match self {
            Self::Nanoseconds => Some(number / 1_000_000),
            Self::Microseconds => Some(number / 1_000),
            Self::Milliseconds => Some(number),
            Self::Seconds => number.checked_mul(1_000),
            Self::Minutes => number.checked_mul(60_000),
            Self::Hours => number.checked_mul(3_600_000),
        }
    }
}

/// A timestamp as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timestamp {
    /// The line has no timestamp.
    Absent,
    /// The number of units since 1970.
    Units(u64),
    /// A time before 1970, or a number out of range.
    Beyond,
}

/// Converts and validates timestamps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    precision: Precision,
    now: TimestampMs,
    latest_ms: u64,
}

impl Times {
    pub(super) fn new(precision: Precision, now: TimestampMs) -> Self {
        let latest = now.0.saturating_add(limits::FUTURE_MS_MAX);
        // With a clock before 1970, only the epoch itself is not in the future.
        Self { precision, now, latest_ms: u64::try_from(latest).unwrap_or(0) }
    }

    pub(super) fn precision(&self) -> Precision {
        self.precision
    }

    /// Returns the time of lines without a timestamp.
    pub(super) fn now(&self) -> TimestampMs {
        self.now
    }

    #[inline]
    pub(super) fn read(&self, timestamp: Timestamp) -> Result<TimestampMs, InvalidTime> {
        let ms = match timestamp {
            Timestamp::Absent => return Ok(self.now),
            Timestamp::Units(number) => self.precision.milliseconds(number),
            Timestamp::Beyond => None,
        };
        match ms {
            // A time no later than `latest_ms`, which is an i64, fits an i64.
            Some(ms) if ms <= self.latest_ms => Ok(TimestampMs(ms as i64)),
            _ => Err(InvalidTime::OutOfRange),
        }
    }
}
