//! What SDKs of Sentry send: envelopes and events, read from bytes. Nothing here stores anything or knows HTTP.

mod envelope;
mod event;
mod repair;

pub use envelope::{Envelope, EnvelopeError, Item};
pub(super) use event::read_event;
pub(super) use repair::with_event;

#[cfg(test)]
mod tests;
