//! Saved queries: queries of a metric or of events as documents contain them, in dashboards and in
//! alert rules. This area has no routes.
//!
//! A [`SavedQuery`] is the JSON, a [`QueryPlan`] the parsed form, which is made anew for each
//! execution because the metric may be created, or recreated with another type, at any time.

mod error;
mod plan;
mod query;
mod read;
mod run;

pub use error::{InvalidQuery, SavedQueryError};
pub use plan::{Measure, QueryPlan, QuerySource};
pub use query::SavedQuery;
pub use read::read_query;
pub use run::{Buckets, QueryGroup, QueryGroups, run_query};
