//! Plain data of the engine: names, tags, time, points and queries. No I/O, no clock, no storage.
//!
//! Everything that comes from outside becomes one of these types through a constructor that enforces the
//! limits of [`crate::limits`]; below this module no raw `String` stands for a name.

mod ids;
mod metric;
mod point;
mod query;
mod tags;
mod time;

pub use ids::{Lsn, MetricId, SeriesId};
pub use metric::{InvalidName, MetricName, MetricType};
pub use point::{Columns, PointBatch};
pub use query::{
    Aggregation, Group, MetricQuery, QueryResult, QueryStats, TagCondition, TagFilter,
};
pub use tags::{InvalidTags, Tags};
pub use time::{Interval, TimeRange, TimestampMs};
