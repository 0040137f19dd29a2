//! Search by name over all areas, for the palette of the console. Every area offers its things
//! (`areas/table`); this area puts the matches together and keeps to what the caller may read.

mod limits;
mod model;
mod ops;
mod routes;
mod wire;

pub(in crate::areas) use model::Finder;
pub use routes::ROUTES;
