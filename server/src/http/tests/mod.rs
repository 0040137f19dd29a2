//! The HTTP side as a whole, on routes made for the tests and an engine in a temporary directory. No network.

mod bench;
mod bodies;
mod connections;
mod idempotency;
mod limits;
mod operation;
mod pipeline;
