//! Chat: questions about a repository and their answers, in sessions.
//!
//! Whatever words an answer, its references are lines of the indexed commit. A session keeps its
//! turns, so that a question may refer to those before it; sessions that nobody uses any more are
//! deleted, the oldest ones first when there are too many.

mod asking;
mod model;
mod ops;
mod routes;
mod sessions;
mod store;
mod wire;

pub(super) use ops::delete_unused;
pub use routes::CHAT_ROUTES;
pub(super) use sessions::Sessions;
