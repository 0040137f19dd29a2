//! The parts of the comparison by name, and the steps of each.

mod bulk;
mod cardinality;
mod events;
mod late;
mod measure_set;
mod peer_server;
mod table;
mod tsbs;

pub(crate) use peer_server::Context;
pub(crate) use table::{PARTS, Part};
