//! Requests through the module's public functions.

mod messages;
mod points;
mod random;
