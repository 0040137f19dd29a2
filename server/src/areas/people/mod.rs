//! People: those that the server knows, and what each of them prefers. A person is the user of a
//! key; there are no accounts. Other areas add the people that their things name (`areas/table`).
//!
//! Preferences are one small document for each user, which the console reads and writes; the server
//! does not use them.

mod error;
mod limits;
mod model;
mod ops;
mod routes;
mod store;
mod wire;

pub use error::PeopleError;
pub use routes::ROUTES;
