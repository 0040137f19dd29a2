//! The protocol of Sentry SDKs: envelopes and events, parsed from bytes, and the routes that
//! receive them.

mod envelope;
mod event;
mod intake;
mod repair;
mod routes;
mod skim;
mod untaken;

pub use envelope::EnvelopeError;
pub use intake::examine;
#[cfg(test)]
pub(super) use repair::with_event;
pub use routes::ROUTES;

#[cfg(test)]
mod tests;
