//! The HTTP side as a whole, on routes made for the tests and an engine in a temporary directory. No network but the loopback.

mod bench;
mod bodies;
mod connections;
mod half_closed;
mod idempotency;
mod limits;
mod operation;
mod pipeline;
