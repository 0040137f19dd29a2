//! The nine queries, independent of a query language, and the digest of their results.

mod digest;
mod query;

pub(crate) use digest::Digest;
pub(crate) use query::{Aggregate, EventQuery, MetricQuery, Query, QuerySet, Shape, shapes};
