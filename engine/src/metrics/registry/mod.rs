//! The registry: which metrics and series there are, and which series carry which tags.
//!
//! Every (metric, tags) has one dense [`SeriesId`](crate::model::SeriesId). Agents repeat themselves, so a
//! series is found by a 128-bit hash of what the agent sent, in the order it sent it ([`aliases`]); only an
//! unseen series-key hash is checked, sorted and looked up in canonical form. Tag queries are set algebra on
//! [`postings`]. All of it lives in memory; what is new goes to the log with the write that needs it and
//! to the registry keyspace with the next seal ([`persist`]).
//!
//! What it takes in memory is counted where it changes, so that the account of memory can ask at any time: maps and vectors know
//! their capacities, and sets of series are [measured](measured_set) when they change.
//!
//! A series that has no data any more retires ([`retirement`]): [`last_days`] says how long each may have some.

mod aliases;
mod index;
mod last_days;
mod lookup;
mod measured_set;
mod persist;
mod postings;
mod retirement;
mod segment;
mod series;
#[cfg(test)]
mod size_tests;
mod strings;
mod table;

pub use aliases::SeriesKeyHash;
pub(crate) use index::{MetricEntry, MetricStats, Selection};
pub(crate) use last_days::day_of;
pub(crate) use lookup::Lookup;
pub(crate) use persist::{Loaded, RegistryRows, StagedRows, check_row, load};
pub(crate) use retirement::Marked;
pub(crate) use series::{CardinalityLimits, Registry, Unsealed};
