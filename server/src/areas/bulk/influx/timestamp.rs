//! Timestamps: whole numbers in the unit that the request names.

use telltale_engine::TimestampMs;

use crate::limits;
use crate::platform::time::InvalidTime;

/// The unit of timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Nanoseconds, which is what a request that names no unit sends.
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
    /// The unit as version 1 of the protocol names it.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "n" => Some(Self::Nanoseconds),
            "u" => Some(Self::Microseconds),
            "m" => Some(Self::Minutes),
            "h" => Some(Self::Hours),
            _ => Self::parse_v2(text),
        }
    }

    /// The unit as version 2 of the protocol names it.
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

/// A timestamp as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timestamp {
    /// There is none.
    Absent,
    /// So many units from 1970 on.
    Units(u64),
    /// Before 1970, or further on than any number reaches.
    Beyond,
}

/// The times that are taken, and what a line without one gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    precision: Precision,
    now: TimestampMs,
    latest_ms: u64,
}

impl Times {
    pub(super) fn new(precision: Precision, now: TimestampMs) -> Self {
        let latest = now.0.saturating_add(limits::FUTURE_MS_MAX);
        Self { precision, now, latest_ms: u64::try_from(latest).unwrap_or(0) }
    }

    pub(super) fn precision(&self) -> Precision {
        self.precision
    }

    /// The time of lines that have none.
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
            // What is not later than the latest fits, because that does.
            Some(ms) if ms <= self.latest_ms => Ok(TimestampMs(ms as i64)),
            _ => Err(InvalidTime::OutOfRange),
        }
    }
}
