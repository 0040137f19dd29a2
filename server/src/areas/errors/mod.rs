//! Error management: receives occurrences of errors from Sentry SDKs and from programs themselves,
//! and groups them; people resolve, ignore, assign and merge the groups.
//!
//! An occurrence is an engine event named `telltale.error` that has the id of its group in a tag; a
//! request is acknowledged when the event is durable. Groups are a projection of these events and
//! of the state changes that people made (`ledger`), so after a crash they are rebuilt from both,
//! and no event counts twice. Lists of occurrences and occurrences over time are engine queries.
//!
//! Both protocols produce an `Occurrence` that borrows from the body.
//! From there on the path is the same: the occurrence is scrubbed and written as the properties of
//! its event (`document`), and its group is determined (`grouping`).

mod activity;
mod background;
mod by_name;
mod document;
mod error;
mod event_id;
mod free_form;
mod grouping;
mod ledger;
mod limits;
mod model;
mod occurrence;
mod occurrences;
mod ops;
mod own_metrics;
mod prepare;
mod query;
mod report;
mod routes;
mod scrub;
mod sentry;
mod settings;
mod store;
mod wire;

pub use background::{close, sweeps};
pub(super) use by_name::{add_assignees, offer_errors};
pub use error::ErrorsError;
pub use ledger::{EVENT_NAME as ERROR_EVENT_NAME, Ledger, LedgerLimits};
pub use model::GroupHash;
pub use own_metrics::ERROR_METRICS;
pub use routes::ROUTES;
pub use sentry::{EnvelopeError, ROUTES as SENTRY_ROUTES, examine};
pub use settings::ErrorSettings;

#[cfg(test)]
mod tests;
