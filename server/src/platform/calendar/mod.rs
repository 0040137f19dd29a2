//! Wall-clock time: time zones, and recurrences on the wall clock of a zone.
//!
//! A time that a user states is a time on a wall clock: a window at 02:00 every Sunday, a hand-off
//! at 09:00. This module computes the instants, and is the only one that knows about changes of the
//! offset from UTC: `zone` maps local times to instants and back, `rule` parses recurrence rules,
//! `expansion` computes the local times of a rule, `recurrence` combines the three. Everything is a
//! pure function of its arguments with bounded work.

mod expansion;
mod recurrence;
mod rule;
mod zone;

pub use recurrence::{Occurrence, Recurrence};
pub use rule::InvalidRecurrence;
pub use zone::{FIRST_INSTANT, LAST_INSTANT, UnknownZone, Zone};

#[cfg(test)]
mod recurrence_tests;
