//! What is known of all groups: a projection of the events of errors and of what people did to groups, in memory, and on disk
//! as of a moment.
//!
//! An occurrence is counted once it is in the event log, never before and never twice:
//!
//! ```text
//! admit ──▶ the event, with the id of its group, goes to the log ──▶ count, in memory ──▶ store, each second
//!   │                                  │ not durable                                        │
//!   └─ known already ──▶ its answer    └──▶ forget                      counts and numbers counted, in one batch
//! ```
//!
//! What was counted and not yet stored is counted again from the events by the next start: those numbered above the mark that
//! the last batch wrote, but for the few that the mark names. Moves (resolve, ignore, assign, merge, delete) are on disk before
//! they are answered, each with the number that the next event will have, so that it is the same whether an event is met before
//! the crash or after.
//!
//! One lock holds all of it, for microseconds, and never through a look at the disk or a write; another one is held by those who write to disk, one
//! after the other.

mod admit;
mod book;
mod budget;
mod change;
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
pub use book::{EVENT_NAME, Ledger};
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
mod room_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod users_tests;
