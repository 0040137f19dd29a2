//! API keys over HTTP: creation, listing and revocation, for keys with the scope `admin`. The keys,
//! their rules and their documents belong to [`crate::platform::keys`]; this area only adds routes
//! and JSON.
//!
//! A secret is sent once, in the response that creates the key. No other response contains it,
//! including that of a repeated idempotent request.

mod background;
mod by_name;
mod error;
mod routes;
mod wire;

pub use background::sweeps;
pub(super) use by_name::{add_owners, offer_keys};
pub use routes::ROUTES;

#[cfg(test)]
mod tests;
