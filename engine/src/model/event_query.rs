//! Queries over events and their results: plain data.

use super::{Event, EventId, Interval, TagFilter, TimeRange, TimestampMs};
use crate::memory::ResultMemory;

/// A condition on the names of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NameFilter {
    /// Every name.
    #[default]
    Any,
    /// Exactly this name.
    Exactly(String),
    /// Names with this prefix.
    Prefix(String),
    /// Names with one prefix, except those with another prefix.
    PrefixExcept {
        /// The prefix that names must have.
        prefix: String,
        /// The prefix that names must not have.
        but: String,
    },
}

/// Conditions on events; all of them must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFilter {
    /// The half-open time range.
    pub range: TimeRange,
    /// The condition on the name.
    pub name: NameFilter,
    /// Only events of this user.
    pub user: Option<String>,
    /// Conditions on tags.
    pub tags: Vec<TagFilter>,
}

impl NameFilter {
    /// Returns whether a name matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(wanted) => name == wanted,
            Self::Prefix(prefix) => name.starts_with(prefix.as_str()),
            Self::PrefixExcept { prefix, but } => {
                name.starts_with(prefix.as_str()) && !name.starts_with(but.as_str())
            }
        }
    }
}

impl EventFilter {
    /// Returns whether an event matches. Queries evaluate filters on columns instead.
    pub(crate) fn matches(&self, event: &Event) -> bool {
        let has_tag = |filter: &TagFilter| {
            let found = event.tags.iter().find(|(key, _)| *key == filter.key);
            match found {
                Some((_, value)) => filter.condition.matches(value),
                None => filter.condition.matches_absent(),
            }
        };
        self.range.contains(event.time)
            && self.name.matches(&event.name)
            && self.user.as_ref().is_none_or(|user| event.user.as_ref() == Some(user))
            && self.tags.iter().all(has_tag)
    }
}

/// A query for how many users take several steps one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct EventFunnelQuery {
    /// The events of each step, all with the same range. An event without a user belongs to none.
    pub steps: Vec<EventFilter>,
    /// Milliseconds from the first step within which the others must follow, inclusive.
    pub window_ms: i64,
}

/// The users of a funnel.
#[derive(Clone, Debug, PartialEq)]
pub struct EventFunnelResult {
    /// The steps, in the order of the query.
    pub steps: Vec<EventFunnelStep>,
    /// The median time from the first to the last step, in milliseconds; `None` if no user took all
    /// of them.
    pub median_ms: Option<i64>,
    /// The cost of the query. An event that belongs to several steps is counted for each.
    pub stats: EventQueryStats,
    /// The memory of the result.
    pub memory: ResultMemory,
}

/// One step of a funnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFunnelStep {
    /// The number of users that took this step, after all those before it.
    pub users: u64,
    /// The median time from the step before, in milliseconds (nearest rank); `None` for the first
    /// step, and without users.
    pub median_ms: Option<i64>,
}

/// A query for a page of events, newest first; events of equal time by descending id.
#[derive(Clone, Debug, PartialEq)]
pub struct EventListQuery {
    /// The conditions on the events.
    pub filter: EventFilter,
    /// Returns only events after this one in the order of the list: the last event of the previous
    /// page.
    pub after: Option<(TimestampMs, EventId)>,
    /// Number of events to skip.
    pub offset: u64,
    /// Maximum number of events to return.
    pub limit: usize,
}

/// The result of an [`EventListQuery`].
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    /// Number of events that match the filter, regardless of page.
    pub total: u64,
    /// The events of the page.
    pub events: Vec<Event>,
    /// The cost of the query.
    pub stats: EventQueryStats,
    /// The memory of the result.
    pub memory: ResultMemory,
}

/// The field of an event by whose value results are grouped, or whose distinct values are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventGroupBy {
    /// The name.
    Name,
    /// The user; events without a user are in the group `""`.
    User,
    /// The value of a tag; events without the tag are in the group `""`.
    Tag(String),
}

/// The numeric field that is aggregated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EventField {
    /// The value of the event.
    #[default]
    Value,
    /// The number at this path of keys in the properties; events without a number there are
    /// skipped.
    Property(Vec<String>),
}

/// An aggregation over the events of a group and bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventAggregation {
    /// The number of events.
    Count,
    /// The number of distinct users: exact up to 1 000, above that a HyperLogLog estimate with p =
    /// 14.
    UniqueUsers,
    /// The number of distinct values of [`EventQuery::distinct`]: always exact.
    Distinct,
    /// The number of events that have a number in the field.
    Numbers,
    /// The exact sum of the numbers.
    Sum,
    /// The sum divided by the number of numbers.
    Avg,
    /// The smallest number.
    Min,
    /// The largest number.
    Max,
    /// The 50th percentile, nearest rank; exact while the result covers at most
    /// [`crate::limits::EVENT_VALUES_EXACT_MAX`] numbers, otherwise within 1 %.
    P50,
    /// The 95th percentile, likewise.
    P95,
    /// The 99th percentile, likewise.
    P99,
}

impl EventAggregation {
    /// Returns the quantile of a percentile, between 0 and 1, or `None` for other aggregations.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.50),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            _ => None,
        }
    }
}

/// An aggregation query over events.
#[derive(Clone, Debug, PartialEq)]
pub struct EventQuery {
    /// The conditions on the events.
    pub filter: EventFilter,
    /// The width of the buckets, aligned to the epoch; without it there are no buckets.
    pub interval: Option<Interval>,
    /// The fields to group by, without duplicates, at most [`crate::limits::GROUP_KEYS_MAX`]. Empty
    /// means no groups.
    pub group_by: Vec<EventGroupBy>,
    /// The numeric field to aggregate.
    pub field: EventField,
    /// The field whose distinct values [`EventAggregation::Distinct`] counts; events without it are
    /// skipped.
    pub distinct: Option<EventGroupBy>,
    /// The aggregations to compute; at least one.
    pub aggregations: Vec<EventAggregation>,
}

/// The result of an [`EventQuery`].
#[derive(Clone, Debug, PartialEq)]
pub struct EventQueryResult {
    /// The summary of all matching events.
    pub all: EventSummary,
    /// The groups, sorted by key. A key has one string per field of `group_by`; empty without
    /// `group_by`.
    pub groups: Vec<(Vec<String>, EventSummary)>,
    /// The cost of the query.
    pub stats: EventQueryStats,
    /// The memory of the result.
    pub memory: ResultMemory,
}

/// The aggregated values of one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventSummary {
    /// One value per aggregation over the whole range; `None` if there is nothing to aggregate.
    pub whole: Vec<Option<f64>>,
    /// The start times of non-empty buckets, ascending; empty without `interval`.
    pub starts: Vec<TimestampMs>,
    /// One column per aggregation, each as long as `starts`.
    pub columns: Vec<Vec<Option<f64>>>,
}

/// The cost of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventQueryStats {
    /// Events that matched.
    pub matched: u64,
    /// Blocks and parts of the head that overlap the time range.
    pub sources: u64,
    /// Blocks in the time range that were skipped because they are quarantined.
    pub quarantined: u64,
}
