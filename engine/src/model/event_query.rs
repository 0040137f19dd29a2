//! Questions about events and their answers: plain data.

use super::{Event, EventId, Interval, TagFilter, TimeRange, TimestampMs};
use crate::memory::AnswerMemory;

/// Which names of events count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NameFilter {
    /// All of them.
    #[default]
    Any,
    /// This one.
    Exactly(String),
    /// Those that begin with this text.
    Prefix(String),
    /// Those that begin with the one text and not with the other.
    PrefixBut {
        /// How they begin.
        prefix: String,
        /// How they do not begin.
        but: String,
    },
}

/// Which events count: all conditions must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFilter {
    /// The half-open range of time.
    pub range: TimeRange,
    /// Names.
    pub name: NameFilter,
    /// Events of this user only.
    pub user: Option<String>,
    /// Tags.
    pub tags: Vec<TagFilter>,
}

/// A page of events, newest first; among equal times the larger id first.
#[derive(Clone, Debug, PartialEq)]
pub struct EventListQuery {
    /// Which events.
    pub filter: EventFilter,
    /// Only events that come after this one in the order of the list: where the page before ended.
    pub after: Option<(TimestampMs, EventId)>,
    /// Events to pass over.
    pub offset: u64,
    /// The most events to answer.
    pub limit: usize,
}

/// The answer to an [`EventListQuery`].
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    /// How many events match the filter, wherever the page lies.
    pub total: u64,
    /// The events of the page.
    pub events: Vec<Event>,
    /// What the answer cost.
    pub stats: EventQueryStats,
    /// What it takes.
    pub memory: AnswerMemory,
}

/// The text of an event that makes the groups of an answer, or is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventGroupBy {
    /// The name.
    Name,
    /// The user; events without one are in the group `""`.
    User,
    /// The value of a tag; events without it are in the group `""`.
    Tag(String),
}

/// The number of an event that is aggregated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EventField {
    /// Its value.
    #[default]
    Value,
    /// The number at this path of keys in its properties; events without a number there are passed over.
    Property(Vec<String>),
}

/// What is computed of the events of a group and bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventAggregation {
    /// How many events.
    Count,
    /// How many distinct users: exact to 1 000, then within the error of HyperLogLog, p = 14.
    UniqueUsers,
    /// How many different texts of [`EventQuery::distinct`] there are: exact, whatever their number.
    Distinct,
    /// How many of them have a number in the field.
    Numbers,
    /// The exact sum of the numbers.
    Sum,
    /// The sum divided by their count.
    Avg,
    /// The smallest number.
    Min,
    /// The largest number.
    Max,
    /// The 50th percentile, nearest rank; exact while at most [`crate::limits::EVENT_VALUES_EXACT_MAX`] numbers are in the
    /// answer, else within 1 %.
    P50,
    /// The 95th percentile, likewise.
    P95,
    /// The 99th percentile, likewise.
    P99,
}

impl EventAggregation {
    /// The quantile of a percentile, between 0 and 1.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.50),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            _ => None,
        }
    }
}

/// A question about many events at once.
#[derive(Clone, Debug, PartialEq)]
pub struct EventQuery {
    /// Which events.
    pub filter: EventFilter,
    /// The width of the buckets, aligned to the epoch; no buckets without.
    pub interval: Option<Interval>,
    /// What makes the groups: these together, each once, [`crate::limits::GROUP_KEYS_MAX`] at most. No groups without.
    pub group_by: Vec<EventGroupBy>,
    /// The number that is aggregated.
    pub field: EventField,
    /// The texts of which [`EventAggregation::Distinct`] counts each once; events without one are passed over.
    pub distinct: Option<EventGroupBy>,
    /// What to compute; at least one.
    pub aggregations: Vec<EventAggregation>,
}

/// The answer to an [`EventQuery`].
#[derive(Clone, Debug, PartialEq)]
pub struct EventAnswer {
    /// Everything that matched.
    pub all: EventSummary,
    /// The groups, sorted by key, which has one text for each of `group_by`; empty without.
    pub groups: Vec<(Vec<String>, EventSummary)>,
    /// What the answer cost.
    pub stats: EventQueryStats,
    /// What it takes.
    pub memory: AnswerMemory,
}

/// One group of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventSummary {
    /// One number per aggregation over the whole range; none where there is nothing to compute it of.
    pub whole: Vec<Option<f64>>,
    /// The starts of the buckets that hold any event, ascending; empty without `interval`.
    pub starts: Vec<TimestampMs>,
    /// One column per aggregation, each as long as `starts`.
    pub columns: Vec<Vec<Option<f64>>>,
}

/// What a question touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventQueryStats {
    /// Events that matched.
    pub matched: u64,
    /// Blocks and parts of the head that the range touches.
    pub sources: u64,
    /// Blocks in the range that could not be read because they are quarantined.
    pub quarantined: u64,
}
