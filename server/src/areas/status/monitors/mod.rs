//! Monitors: whether targets are reachable, and since when.
//!
//! A monitor is a document (`store`), its condition a few records (`records`). All are in memory
//! (`table`), where `schedule` says when each is checked next. A check (`check`) runs as a job
//! (`work`); its result moves the condition (`condition`) and is written as metrics (`metrics`).

mod change;
mod check;
mod condition;
mod entry;
#[cfg(test)]
mod examples;
mod lane;
mod metrics;
mod model;
mod ops;
mod records;
mod response;
mod routes;
mod schedule;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod wire;
mod work;

pub(super) use condition::DayTimes;
pub use metrics::MONITOR_METRICS;
pub(super) use model::MonitorState;
pub(in crate::areas) use ops::has_secrets;
pub(super) use ops::{load, named};
pub use routes::MONITOR_ROUTES;
pub(super) use table::{Maintained, MonitorSummary, MonitorTable};
pub(super) use work::{add_work, enqueue_due, pass_time};
