//! API keys: who may call, what for and how often.
//!
//! The engine's documents hold the keys; [`Keys`] is the only writer, and answers every request from memory.
//! Of a secret only its SHA-256 is kept. A revoked key stays listed and never works again.

mod authorization;
mod dsn;
mod identity;
mod key;
mod service;
mod stored;
mod text;

pub use dsn::{Disagreement, DsnKey};
pub use identity::Identity;
pub use key::{ApiKey, InvalidKey, NewKey, Scope, Scopes};
pub use service::{FirstStart, IssuedKey, KeyError, Keys, LiveKey, UnstoredKey};
pub use text::{KeyText, MalformedKey};

#[cfg(test)]
mod tests;
