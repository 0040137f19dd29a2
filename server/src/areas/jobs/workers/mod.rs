//! Workers: registered, heard of, given jobs, told to quiet and to stop; listed, and looked at in the past.

mod routes;
mod wire;

pub use routes::ROUTES;
