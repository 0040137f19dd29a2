//! What a reading is to the one before it. The same for counters and histograms.
//!
//! | the one before        | the reading                      | what it adds                |
//! |-----------------------|----------------------------------|-----------------------------|
//! | there was never one   | its first counts                 | all of it                   |
//! | there was never one   | else                             | nothing: later ones compare |
//! | its total is lost     | any                              | nothing: later ones compare |
//! | at a time             | not later: a retry, out of order | nothing, and changes nothing|
//! | at a time             | began after it: a reset          | all of it                   |
//! | at a time             | a total below it: a reset        | all of it                   |
//! | at a time             | else                             | what it has more            |
//!
//! A series that has retired was never read, when it comes back: it was silent for as long as its metric is kept. Its first reading
//! counts only if the stream began after the last one that was forgotten (`BatchBuilder::reading`), so nothing is counted twice.

use crate::model::{StartTime, TimestampMs};

/// What is known of the reading before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before<T> {
    /// The series was never read.
    Never,
    /// It was, but a damaged page has lost it.
    Lost,
    /// It was this.
    Read(T),
}

impl<T> Before<T> {
    /// The reading, if it is known.
    pub(super) fn read(self) -> Option<T> {
        match self {
            Self::Read(before) => Some(before),
            Self::Never | Self::Lost => None,
        }
    }

    pub(super) fn map<U>(self, of: impl FnOnce(T) -> U) -> Before<U> {
        match self {
            Self::Never => Before::Never,
            Self::Lost => Before::Lost,
            Self::Read(before) => Before::Read(of(before)),
        }
    }
}

/// What a reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict<T> {
    /// No news.
    Late,
    /// What later ones are compared with.
    Baseline,
    /// An increase from zero.
    Whole,
    /// An increase since the reading before, unless its total is less.
    Since(T),
}

/// Judges a reading by everything but its total.
pub(super) fn judge<T>(
    before: Before<(TimestampMs, T)>,
    time: TimestampMs,
    begins: StartTime,
) -> Verdict<T> {
    match (before, begins) {
        (Before::Never, StartTime::At { counts: true, .. }) => Verdict::Whole,
        (Before::Never | Before::Lost, _) => Verdict::Baseline,
        (Before::Read((last, _)), _) if time <= last => Verdict::Late,
        (Before::Read((last, _)), StartTime::At { start, .. }) if start > last => Verdict::Whole,
        (Before::Read((_, total)), _) => Verdict::Since(total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_judged_by_time_and_beginning() {
        let at = |start, counts| StartTime::At { start: TimestampMs(start), counts };
        let read = |time| Before::Read((TimestampMs(time), "total"));
        for (before, begins, verdict) in [
            (Before::Never, StartTime::Unknown, Verdict::Baseline),
            (Before::Never, at(1, false), Verdict::Baseline),
            (Before::Never, at(1, true), Verdict::Whole),
            (Before::Lost, at(1, true), Verdict::Baseline),
            (read(10), at(11, true), Verdict::Late),
            (read(11), StartTime::Unknown, Verdict::Late),
            (read(9), StartTime::Unknown, Verdict::Since("total")),
            (read(9), at(9, true), Verdict::Since("total")),
            (read(9), at(10, false), Verdict::Whole),
        ] {
            let judged = judge(before, TimestampMs(10), begins);
            assert_eq!(judged, verdict, "{before:?}, {begins:?}");
        }
    }
}
