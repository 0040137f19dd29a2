//! The client: a keep-alive connection, requests cut from files before the clock starts, and a
//! sender that times them.

mod batches;
mod connection;
mod send;

pub(crate) use batches::{Wrap, frames, lines};
pub(crate) use connection::{Answer, Connection};
pub(crate) use send::{Sent, send};
