//! The ledger of error groups: a projection of the error events and of the state changes that
//! people made. It is kept in memory, and on disk as of a recent moment.
//!
//! An occurrence is counted once its event is durable, and exactly once:
//!
//! ```text
//! admit ──▶ event with group id, to the log ──▶ count in memory ──▶ store, each second
//!   │                       │ not durable                             │
//!   └─ event id known       └──▶ discard              counts and mark, in one batch
//! ```
//!
//! What was counted but not stored is counted again from the events at the next start: those
//! numbered above the mark of the last batch, except the few that the mark lists. State changes
//! (resolve, ignore, assign), merges and deletions are durable before they are acknowledged. A
//! state change records an event number taken at that moment, so counting an event has the same
//! result before and after a crash.
//!
//! One lock guards the in-memory state. It is held for microseconds, never during a read or write
//! of the disk. A second lock serialises the writers to disk.

mod admit;
mod book;
mod budget;
mod change;
mod comment;
mod deferred;
mod delete;
mod flush;
mod group;
mod groups;
mod load;
mod make_room;
mod merge;
mod numbers;
mod read_users;
mod seen;
mod users;

pub(super) use admit::{Admission, Ticket};
pub use book::{EVENT_NAME, Ledger, LedgerLimits};
pub(super) use book::{GROUP_TAG, OWN_TAG_PREFIX, events_of};
pub(super) use group::{Group, GroupView, LatestOccurrence};
pub(super) use groups::{GroupFilter, SeenWithin, SortBy};
pub(super) use numbers::Mark;
pub(super) use seen::SeenKey;

#[cfg(test)]
mod deferred_tests;
#[cfg(test)]
mod earlier_rules_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod room_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod users_tests;
