//! Bulk ingest protocols: NDJSON, InfluxDB line protocol, OTLP/HTTP and Prometheus remote-write.
//!
//! A body may contain any number of samples, and the number of requests is limited only by
//! admission control. Each protocol has its own module, which parses its format; `intake` stores
//! what was parsed, in the same way for all protocols. Valid items of a body are stored; invalid
//! items are counted, and the first ones reported by line or index. The rules for metric names,
//! tags and values belong to the engine and the metrics area.

mod import;
mod influx;
mod intake;
mod otlp;
mod protobuf;
mod remote_write;

#[cfg(test)]
mod tests;

pub use import::{ROUTES as IMPORT_ROUTES, resolve_lines as resolve_import};
pub use influx::{
    LineError, Precision, ROUTES as INFLUX_ROUTES, read_lines as read_influx,
    resolve_lines as resolve_influx,
};
pub use otlp::{Encoding, OtlpError, OtlpSettings, ROUTES as OTLP_ROUTES, resolve_export};
pub use remote_write::{
    Families, ROUTES as REMOTE_WRITE_ROUTES, Version, WriteError, WrittenCounts,
    resolve_write as resolve_remote_write,
};
