//! What is measured: the parts by name, and what each does with a server.

mod bulk;
mod cardinality;
mod events;
mod house;
mod kept;
mod late;
mod table;
mod tsbs;

pub(crate) use house::Context;
pub(crate) use table::{PARTS, Part};
