//! The protocols that agents speak: any number of points in a body, and as many bodies as admission control lets in.
//!
//! Each protocol is a room of its own that knows how its bytes are read; the way from there into the engine is
//! the same for all of them, and stands in `intake`. The good part of a body is stored and its bad part told,
//! first of all with where it stands. What a point may be is known to the engine and the metrics area.

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
pub use otlp::{Encoding, OtlpError, ROUTES as OTLP_ROUTES, resolve_export};
pub use remote_write::{
    Families, ROUTES as REMOTE_WRITE_ROUTES, Version, WriteError, Written,
    resolve_write as resolve_remote_write,
};
