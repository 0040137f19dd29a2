//! The peers: HTTP servers, each in a file of its own, and engines embedded in a Python process.

mod embedded;
mod fetch;
mod influxdb;
mod peer;
mod telltale;
mod text;
mod victoria_metrics;

pub(crate) use embedded::Engine;
pub(crate) use fetch::{debian_program, python};
pub(crate) use influxdb::InfluxDb;
pub(crate) use peer::{Feed, Mode, Peer};
pub(crate) use telltale::{Durability, Telltale};
pub(crate) use victoria_metrics::VictoriaMetrics;
