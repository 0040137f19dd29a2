//! Tests of the whole HTTP server, with test routes, on an engine in a temporary directory. The
//! only network is the loopback interface.

mod bench;
mod bodies;
mod connections;
mod half_closed;
mod idempotency;
mod limits;
mod operation;
mod pipeline;
