//! Metric storage. A point passes through the registry, the write-ahead log, the head, a seal, a
//! block, compaction and expiry; queries read heads and blocks.

pub(crate) mod block;
mod cardinality;
mod catalog;
mod cell;
mod compact;
mod cumulative;
mod definitions;
mod head;
mod ingest;
pub(crate) mod load;
mod metric_store;
mod opened_blocks;
mod query;
mod reader_mark;
pub(crate) mod registry;
mod resolution;
mod series_map;
mod staging;
pub(crate) mod times;
mod upkeep;
mod view;
pub(crate) mod window;
mod writer;

pub use cardinality::{CardinalityBy, CardinalityPage, CardinalityQuery, CardinalityRow};
#[cfg(fuzzing)]
pub(crate) use cumulative::{compare as compare_cumulative, read_page as read_last_values};
pub use definitions::{DefinitionFilter, DefinitionPage, MetricDefinition};
pub use ingest::BatchBuilder;
pub(crate) use ingest::BatchNames;
pub(crate) use load::OpenedMetrics;
pub(crate) use metric_store::Metrics;
pub(crate) use opened_blocks::{database_cache_bytes, opened_blocks_bytes};
pub(crate) use query::{query, query_all};
#[cfg(fuzzing)]
pub(crate) use registry::read_segment as read_registry_segment;
pub use registry::{KeyPartHash, SeriesKeyHash, TagValueFilter, TagValuePage};
pub(crate) use upkeep::{FrozenMetrics, verify_rows};
