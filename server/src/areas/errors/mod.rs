//! Errors: occurrences told by SDKs of Sentry and by programs themselves, in groups that people resolve, ignore and assign.
//!
//! An occurrence is an event of the engine, called `telltale.error`, with the id of its group in a tag: it is answered when the
//! event is durable. Groups are a projection of these events and of what people did (`ledger`): what is known of them follows
//! from both, also after a crash, and nothing is counted twice. Occurrences over time and lists of them are questions to the
//! engine.
//!
//! Every way in makes an [`occurrence`](occurrence::Occurrence), borrowed from the body; from there on there is one way: it is
//! scrubbed and cut into the properties of its event (`document`), and its group is found (`grouping`).

mod document;
mod error;
mod free_form;
mod grouping;
mod ledger;
mod model;
mod occurrence;
mod ops;
mod prepare;
mod query;
mod report;
mod routes;
mod scrub;
mod sentry;
mod store;
mod wire;

pub use error::ErrorsError;
pub use ledger::{EVENT_NAME as ERROR_EVENT_NAME, Ledger};
pub use model::GroupHash;
pub use routes::ROUTES;
pub use sentry::{EnvelopeError, ROUTES as SENTRY_ROUTES, examine};

#[cfg(test)]
mod tests;
