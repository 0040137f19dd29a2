//! Classifies a cumulative sample relative to the previous one of its series. The same for counters
//! and histograms.
//!
//! | previous sample | new sample                                 | increase                    |
//! |-----------------|--------------------------------------------|-----------------------------|
//! | none            | start time known, first sample counts      | its whole value             |
//! | none            | otherwise                                  | none: reference for later   |
//! | lost to damage  | any                                        | none: reference for later   |
//! | at time t       | not newer than t: a retry or out of order  | none: the sample is dropped |
//! | at time t       | start time after t: a counter reset        | its whole value             |
//! | at time t       | lower value: a counter reset               | its whole value             |
//! | at time t       | otherwise                                  | the difference              |
//!
//! A retired series that returns is a new series without a previous sample: it was silent for as
//! long as its metric is retained. Its first sample counts only if the stream started after the
//! newest forgotten sample (`BatchBuilder::reading`), so nothing is counted twice.

use crate::model::{StartTime, TimestampMs};

/// The previous cumulative sample of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Previous<T> {
    /// The series has had no sample.
    Absent,
    /// There was a sample, but it was on a page that is corrupt.
    Lost,
    /// The previous sample.
    Known(T),
}

impl<T> Previous<T> {
    /// Returns the previous sample, if it is known.
    pub(super) fn known(self) -> Option<T> {
        match self {
            Self::Known(previous) => Some(previous),
            Self::Absent | Self::Lost => None,
        }
    }

    pub(super) fn map<U>(self, of: impl FnOnce(T) -> U) -> Previous<U> {
        match self {
            Self::Absent => Previous::Absent,
            Self::Lost => Previous::Lost,
            Self::Known(previous) => Previous::Known(of(previous)),
        }
    }
}

/// The role of a cumulative sample, which determines its increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleKind<T> {
    /// Not newer than the previous sample: dropped.
    Late,
    /// No increase; later samples are compared with it.
    Reference,
    /// The whole value is the increase.
    FromZero,
    /// The increase is the difference to this previous value, or the whole value if it is lower.
    Since(T),
}

/// Classifies a sample by time and start time; the caller compares the values.
pub(super) fn classify<T>(
    previous: Previous<(TimestampMs, T)>,
    time: TimestampMs,
    start_time: StartTime,
) -> SampleKind<T> {
    match (previous, start_time) {
        (Previous::Absent, StartTime::At { counts: true, .. }) => SampleKind::FromZero,
        (Previous::Absent | Previous::Lost, _) => SampleKind::Reference,
        (Previous::Known((last, _)), _) if time <= last => SampleKind::Late,
        (Previous::Known((last, _)), StartTime::At { start, .. }) if start > last => {
            SampleKind::FromZero
        }
        (Previous::Known((_, value)), _) => SampleKind::Since(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_classified_by_time_and_start_time() {
        let at = |start, counts| StartTime::At { start: TimestampMs(start), counts };
        let known = |time| Previous::Known((TimestampMs(time), "value"));
        for (previous, start_time, expected) in [
            (Previous::Absent, StartTime::Unknown, SampleKind::Reference),
            (Previous::Absent, at(1, false), SampleKind::Reference),
            (Previous::Absent, at(1, true), SampleKind::FromZero),
            (Previous::Lost, at(1, true), SampleKind::Reference),
            (known(10), at(11, true), SampleKind::Late),
            (known(11), StartTime::Unknown, SampleKind::Late),
            (known(9), StartTime::Unknown, SampleKind::Since("value")),
            (known(9), at(9, true), SampleKind::Since("value")),
            (known(9), at(10, false), SampleKind::FromZero),
        ] {
            let actual = classify(previous, TimestampMs(10), start_time);
            assert_eq!(actual, expected, "{previous:?}, {start_time:?}");
        }
    }
}
