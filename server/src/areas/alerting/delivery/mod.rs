//! The delivery of messages about alerts, through the job queue: in order for each receiver, and
//! without waiting for other receivers.
//!
//! A message waits in the ledger until it is delivered or given up. Whenever a receiver's next
//! message is due, a job is enqueued that sends all that is due (`queue`, `work`). Receivers that
//! failed or were slow have a queue of their own, so that they do not take the places of others.

mod attempt;
mod queue;
mod slow;
#[cfg(test)]
mod tests;
mod work;

pub(super) use queue::{add_work, send_due};
pub(super) use slow::SlowReceivers;
