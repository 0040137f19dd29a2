//! The parts of the comparison by name, and the steps of each.

mod bulk;
mod cardinality;
mod churn;
mod events;
mod late;
mod measure_set;
mod month;
mod peer_server;
mod table;
mod tsbs;

pub(crate) use peer_server::Context;
pub(crate) use table::{PARTS, Part};
