//! The data types of the engine: names, tags, time, samples, events, queries. No I/O, no clock, no
//! storage.
//!
//! External input is converted to these types by constructors that enforce the limits of
//! [`crate::limits`]; no other module represents a name as a raw `String`.

mod cumulative;
mod event;
mod event_batch;
mod event_query;
mod histogram;
mod hold;
mod ids;
mod interner;
mod metric;
mod point;
mod properties;
mod query;
mod tags;
mod text_search;
mod time;

pub use cumulative::StartTime;
pub(crate) use cumulative::{
    CumulativeCounters, CumulativeHistogram, CumulativeSamples, Temporality,
};
pub(crate) use event::event_day;
pub use event::{Event, EventId, NewEvent};
pub use event_batch::{EventBatch, InvalidEvent};
pub(crate) use event_batch::{EventRow, EventRows};
pub use event_query::{
    EventAggregation, EventField, EventFilter, EventFunnelQuery, EventFunnelResult,
    EventFunnelStep, EventGroupBy, EventListQuery, EventPage, EventQuery, EventQueryResult,
    EventQueryStats, EventSummary, NameFilter,
};
pub use histogram::{Buckets, Histogram, InvalidHistogram, Span};
pub(crate) use hold::SeriesHold;
pub use ids::{Lsn, MetricId, SeriesId};
pub(crate) use interner::{StringId, StringInterner};
pub use metric::{InvalidName, MetricName, MetricType};
pub use point::{Columns, PointBatch};
pub(crate) use properties::format_float;
pub use properties::{InvalidProperties, Properties, PropertiesWriter};
pub use query::{
    Aggregation, CoarseRange, Group, MetricQuery, QueryResult, QueryStats, TagCondition, TagFilter,
    TagValues,
};
pub use tags::{InvalidTags, Tags};
pub(crate) use tags::{is_key, is_value};
pub(crate) use text_search::{RankedPage, SearchRank};
pub use text_search::{TextSearch, fold_case};
pub use time::{Interval, TimeRange, TimestampMs};
