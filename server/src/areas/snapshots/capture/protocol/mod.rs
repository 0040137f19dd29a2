//! The DevTools protocol of Chromium, as much of it as captures need.
//!
//! It is spoken over two pipes (`--remote-debugging-pipe`) as JSON messages, each ended by a NUL
//! byte. No port is opened that a page or another user of the machine could connect to, and
//! Chromium ends by itself when the server does and the pipes close. A library with types for the
//! whole protocol (chromiumoxide: 124 crates) was not used: captures need some thirty of its
//! thousand commands, and libraries speak it over a WebSocket on a port.

mod connection;
mod event;
mod frames;
mod queue_bytes;
mod wire;

pub(super) use connection::{CommandSender, Connection, ContextRoute, ProtocolError};
pub(super) use event::BrowserEvent;
