//! The console: the pages of this server for people, and the sessions of those who use them.
//!
//! The pages are static files in the binary (`assets`), served under a path with the id of the
//! build, so that a browser keeps them for ever. They read data through the same API as everybody
//! else, as a caller with a session (`session`).

mod assets;
mod limits;
mod page;
mod server_info;
pub mod session;
mod settings;

pub use page::ROUTES as PAGE_ROUTES;
pub use server_info::ROUTES as SERVER_ROUTES;
pub use settings::ConsoleSettings;
