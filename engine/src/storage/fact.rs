//! The facts in the keyspace `meta`: one key for each.

use std::borrow::Cow;

use super::keyspace::Keyspace;

/// A fact about the whole database. Its name is its key, and is part of the disk format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// The format version: u32.
    Format,
    /// The number of the last log record whose data is in blocks: u64.
    Sealed,
    /// The trusted time: a frame.
    Clock,
    /// The next sequence number of blocks of metrics: u64.
    Sequence,
    /// The next sequence number of blocks of events: u64.
    EventSequence,
    /// The number of the next event: u64.
    EventNumber,
    /// The next id of a metric, as of the last seal that wrote a new one: u64. It ensures that ids
    /// are never reused, whatever else is lost.
    NextMetric,
    /// The same for series.
    NextSeries,
    /// Time in milliseconds of the newest cumulative sample that was forgotten because its series
    /// retired: u64.
    NewestForgotten,
    /// The end of the leased revisions of documents: u64.
    DocumentRevision,
    /// Entries of this keyspace were lost, and what they referred to has not been searched for yet:
    /// u64.
    Lost(Keyspace),
}

impl Fact {
    /// Returns the key.
    pub(super) fn name(self) -> Cow<'static, [u8]> {
        let name = match self {
            Self::Format => "format",
            Self::Sealed => "sealed",
            Self::Clock => "clock",
            Self::Sequence => "sequence",
            Self::EventSequence => "event_sequence",
            Self::EventNumber => "event_number",
            Self::NextMetric => "next_metric",
            Self::NextSeries => "next_series",
            Self::NewestForgotten => "readings_forgotten",
            Self::DocumentRevision => "documents.revision",
            Self::Lost(keyspace) => {
                return Cow::Owned([b"lost.", keyspace.name().as_bytes()].concat());
            }
        };
        Cow::Borrowed(name.as_bytes())
    }

    /// Returns whether `key` is that of this fact.
    pub(crate) fn is_stored_under(self, key: &[u8]) -> bool {
        *self.name() == *key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_have_golden_keys() {
        let facts = [
            (Fact::Format, "format"),
            (Fact::Sealed, "sealed"),
            (Fact::Clock, "clock"),
            (Fact::Sequence, "sequence"),
            (Fact::EventSequence, "event_sequence"),
            (Fact::EventNumber, "event_number"),
            (Fact::NextMetric, "next_metric"),
            (Fact::NextSeries, "next_series"),
            (Fact::NewestForgotten, "readings_forgotten"),
            (Fact::DocumentRevision, "documents.revision"),
            (Fact::Lost(Keyspace::LastValues), "lost.baselines"),
        ];
        for (fact, key) in facts {
            assert_eq!(&*fact.name(), key.as_bytes());
            assert!(fact.is_stored_under(key.as_bytes()) && !fact.is_stored_under(b"other"));
        }
    }
}
