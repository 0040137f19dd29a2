//! The figures of the decision.

mod costs;
mod file_log;
mod latency;
mod load;
mod memory;
mod packs;
mod takeover;

pub(crate) use costs::costs;
pub(crate) use latency::latency;
pub(crate) use packs::packs;
pub(crate) use takeover::takeover;
