//! The client: keep-alive connections, requests prepared from files, and a sender that measures
//! them.

mod batches;
mod connection;
mod send;

pub(crate) use batches::{Wrap, frames, lines};
pub(crate) use connection::{Connection, Response};
pub(crate) use send::{Sent, send};
