//! The registry: all metrics and series, and the tags of every series.
//!
//! Every (metric, tags) pair has one dense [`SeriesId`](crate::model::SeriesId). Agents send the
//! same series again and again, so a series is looked up by a 128-bit hash of the bytes that the
//! agent sent, in the order it sent them ([`aliases`]); only an unknown series-key hash is
//! validated, sorted and looked up in canonical form. Tag queries are set algebra on [`postings`].
//! The registry is held in memory; new definitions are written to the log with the write that needs
//! them, and to the registry keyspace by the next seal ([`persist`]).
//!
//! Its memory is counted where it changes, so that the memory account can read it at any time: maps
//! and vectors know their capacities, and sets of series are [measured](measured_set) when they
//! change.
//!
//! A series without data retires ([`retirement`]); [`last_days`] records up to which day each
//! series may have data.

mod aliases;
mod counts;
mod deferred;
mod index;
mod last_days;
mod load;
mod lookup;
mod measured_set;
mod persist;
mod postings;
mod restoring;
mod retirement;
mod segment;
mod selection;
mod series;
#[cfg(test)]
mod size_tests;
mod strings;
mod table;

pub use aliases::{KeyPartHash, SeriesKeyHash};
pub(crate) use counts::{KeySeries, TagKeyUse};
pub use counts::{TagValueFilter, TagValuePage};
pub(crate) use index::{MetricEntry, MetricStats};
pub(crate) use last_days::day_of;
pub(crate) use load::{LoadedRegistry, load};
pub(crate) use lookup::Lookup;
pub(crate) use persist::{RegistryRows, StagedRows, check_row};
pub(crate) use retirement::RetirementProgress;
#[cfg(fuzzing)]
pub(crate) use segment::read_segment;
pub(crate) use selection::Selection;
pub(crate) use series::{CardinalityLimits, Registry, Unsealed};
