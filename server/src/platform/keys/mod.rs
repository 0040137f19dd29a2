//! API keys: who may call, for what and how often.
//!
//! Keys are stored as documents of the engine; [`Keys`] is their only writer, and authenticates
//! requests from memory. Only the SHA-256 of a secret is stored. A revoked key stays listed and
//! never works again.

mod authorization;
mod dsn;
mod identity;
mod key;
mod service;
mod stored;
mod text;

pub use dsn::{ConflictingKeys, DsnKey};
pub use identity::Identity;
pub use key::{ApiKey, InvalidKey, NewKey, Scope, Scopes};
pub use service::{FirstStart, IssuedKey, KeyError, Keys, LiveKey, UnstoredKey};
pub use text::{KeyString, MalformedKey};

#[cfg(test)]
mod tests;
