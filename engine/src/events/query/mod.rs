//! Answering questions about events, from blocks and chunks of the head alike.
//!
//! ```text
//!                        ┌─ [list]: how many match in each ─▶ [page]: where the page lies ─▶ its rows alone
//! sources ─▶ [select] ───┤
//!                        └─ [read]: columns of one source ─▶ [gather]: one accumulator a worker ─▶ [answer]
//! ```
//!
//! [`select`] turns a filter into a set of rows of one source. Counts come from the sets, never from rows. A cell is what is
//! known of one group and bucket ([`cell`]); cells add up in any order to the same, so answers depend neither on the number of
//! threads nor on how events lie in sources. A damaged source is left out as a whole, told of and counted.

mod aggregate;
mod answer;
mod ask;
mod cell;
mod distinct;
mod gather;
mod list;
mod page;
mod read;
mod select;
mod several;
mod since;
mod tally;
#[cfg(test)]
mod tests;

pub(crate) use aggregate::aggregate;
pub(crate) use ask::{QueryContext, QueryLimits};
pub(crate) use list::list;
pub(crate) use select::select;
pub(crate) use since::since;
