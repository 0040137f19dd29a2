//! The data sets: generated from seeds, identical on every machine, written once in the formats
//! that agents send.

mod cpu;
mod events;
mod format;
mod latencies;
mod mix;
mod point;
mod random;
mod remote_write;
mod set;
mod write;

pub(crate) use events::{
    JSON as EVENTS_JSON, LINES as EVENTS_LINES, USERS_JSON, USERS_METRIC as USERS,
};
pub(crate) use format::Format;
pub(crate) use latencies::METRIC as LATENCY;
pub(crate) use point::{HOUR_MS, T0_MS, iso};
pub(crate) use set::Set;
pub(crate) use write::MEASUREMENT;
