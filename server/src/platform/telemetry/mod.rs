//! What requests about metrics and events have in common: lists of items, time ranges, bucket
//! widths, durations and search strings.

pub mod batch;
pub mod buckets;
pub mod duration;
pub mod limits;
pub mod query_params;
pub mod text_search;
