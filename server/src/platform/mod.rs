//! Parts of the server that the areas share and that are independent of HTTP: configuration, keys,
//! ids, quotas, time, the job queue, JSON, background work, the server's own metrics.

pub(crate) mod allocator;
pub mod bounded;
pub mod calendar;
pub mod control;
pub mod decimal;
pub mod documents;
pub mod fields;
pub mod ids;
pub mod json;
pub mod keys;
pub mod log_settings;
pub mod logging;
pub mod mail;
pub mod nearest;
pub mod outbound;
pub mod panics;
pub mod patterns;
pub mod plural;
pub(crate) mod process;
pub mod quota;
pub(crate) mod random;
pub mod redaction;
pub mod remote;
pub mod sealing;
pub mod self_metrics;
pub mod settings;
pub mod signed_url;
pub(crate) mod socket_path;
pub mod sweeps;
pub mod tables;
pub mod telemetry;
pub mod throttle;
pub mod ticks;
pub mod time;
pub mod tls;
