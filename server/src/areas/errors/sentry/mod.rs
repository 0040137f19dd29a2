//! What SDKs of Sentry send: envelopes and events, read from bytes, and the routes by which they come.

mod envelope;
mod event;
mod intake;
mod repair;
mod routes;
mod skim;
mod untaken;

pub use envelope::EnvelopeError;
pub(super) use event::parse_event_id;
pub use intake::examine;
#[cfg(test)]
pub(super) use repair::with_event;
pub use routes::ROUTES;

#[cfg(test)]
mod tests;
