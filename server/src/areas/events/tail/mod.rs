//! New events as they are written: a request waits for them, and the next one continues where its
//! response ended.
//!
//! Requests that wait are limited in number, in total (`events.tail_waiters_max`) and per key
//! (`events.key_tail_waiters_max`); they hold no permit of admission and no memory. The position of
//! a client is valid until the server restarts.

mod followers;
mod model;
mod ops;
mod query;
mod routes;
mod wire;

pub use followers::EventFollowers;
pub use routes::ROUTES;
