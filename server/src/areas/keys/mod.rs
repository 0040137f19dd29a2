//! API keys over HTTP: made, listed, revoked by keys with the scope `admin`. The keys themselves, their rules
//! and their documents are [`crate::platform::keys`]'s; this area only gives them routes and JSON.
//!
//! A secret leaves the server once, in the answer that makes the key: no other answer has it, and a repeated
//! idempotent request does not get it again.

mod routes;
mod wire;

pub use routes::ROUTES;

#[cfg(test)]
mod tests;
