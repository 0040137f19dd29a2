//! What areas share and HTTP does not own: keys, ids, quotas, time, settings.

pub(crate) mod allocator;
pub mod batch;
pub mod bounded;
pub mod buckets;
pub mod config;
pub mod control;
pub mod decimal;
pub mod families;
pub mod ids;
pub mod jobs;
pub mod json;
pub mod keys;
pub mod logging;
pub mod nearest;
pub mod panics;
pub(crate) mod process;
pub mod question;
pub mod quota;
mod random;
pub mod self_metrics;
pub(crate) mod socket_path;
pub mod span;
pub mod sweeps;
pub mod throttle;
pub mod ticks;
pub mod time;
pub mod work;
