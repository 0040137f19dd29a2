//! Query evaluation over events, from blocks and chunks of the head alike.
//!
//! ```text
//!                        ┌─ [list]: matches per source ─▶ [page]: position of the page ─▶ its rows
//! sources ─▶ [select] ───┤
//!                        └─ [read]: columns of one source ─▶ [gather]: per worker ─▶ [answer]
//! ```
//!
//! [`mod@select`] turns a filter into a set of rows of one source. Counts are computed from the
//! sets, never by reading rows. A cell accumulates one group and bucket ([`cell`]). Merging cells
//! is order-independent, so answers depend neither on the number of threads nor on the distribution
//! of events over sources. A corrupt source is left out as a whole, reported and counted.

mod accumulator;
mod aggregate;
mod answer;
mod cell;
mod find;
mod funnel;
mod group_keys;
mod list;
mod number_set;
mod page;
mod query_context;
mod select;
mod since;
mod source_columns;
mod tally;
#[cfg(test)]
mod tests;

pub(crate) use aggregate::aggregate;
pub(crate) use find::find;
pub(crate) use funnel::funnel;
pub(crate) use list::list;
pub(crate) use query_context::{QueryContext, QueryLimits};
pub(crate) use select::select;
pub(crate) use since::since;
