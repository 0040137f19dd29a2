//! Sessions of people who use the console in a browser.
//!
//! Whoever has a key with the scope `read` may open one: the session has the permissions and the
//! user of the key, and ends with it. The browser holds a token of 256 random bits in a cookie that
//! scripts cannot read; only its SHA-256 is stored. Sessions are documents, so they survive
//! restarts and crashes; each is checked in memory.
//!
//! A code opens a session once, within minutes, so that a link can replace typing a key. It is
//! deleted in the transaction that stores the session.

mod model;
mod token;

mod cookie;
mod error;
mod store;

mod service;

mod routes;
mod wire;

pub use routes::ROUTES;
pub use service::{Sessions, sweep};

#[cfg(test)]
mod tests;
