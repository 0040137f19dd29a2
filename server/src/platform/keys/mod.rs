//! API keys: who may call, for what and how often.
//!
//! Keys are stored as documents of the engine; [`Keys`] is their only writer, and authenticates
//! requests from memory. Only the SHA-256 of a secret is stored. A revoked key stays listed and
//! never works again.

mod authorization;
mod dsn;
mod identity;
mod key;
mod key_string;
mod live_session;
mod service;
mod shared_time;
mod stored;

pub use dsn::{ConflictingKeys, DsnKey};
pub use identity::Identity;
pub use key::{ApiKey, InvalidKey, NewKey, Scope, Scopes};
pub use key_string::{KeyString, MalformedKey};
pub use live_session::LiveSession;
pub use service::{FirstStart, IssuedKey, KeyError, Keys, LiveKey, UnstoredKey};

#[cfg(test)]
mod tests;
