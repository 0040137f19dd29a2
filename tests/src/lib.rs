//! The harness of the black-box tests: starts the real program on a port and a data directory of
//! its own, sends requests over HTTP and raw sockets, kills it, and restarts it.
//!
//! It uses the HTTP contract and the command line only: neither the engine nor the server is linked
//! here.

mod binary;
mod browser;
mod client;
mod coverage;
mod curl;
mod disk;
mod folder;
pub mod http2;
mod listening;
mod node;
mod prometheus;
mod python;
mod raw;
pub mod remote_write;
mod response;
mod server;
mod time;

pub use binary::{target_dir, telltale};
pub use browser::{browser_problems, console_problems, playwright_problems};
pub use client::{Client, Outgoing};
pub use coverage::{Case, Covered, declarations};
pub use curl::h2_status;
pub use disk::SmallDisk;
pub use folder::folder;
pub use listening::{Relay, ScrapedPage, WebSite};
pub use node::node;
pub use prometheus::{Prometheus, amtool};
pub use python::{Conversation, converse, python};
pub use raw::Wire;
pub use response::{Response, masked, same};
pub use server::{ADMIN_KEY, LogReader, Server, Setup};
pub use time::{DAY_MS, HOUR_MS, MINUTE_MS, Stopwatch, eventually, iso, now_ms, parse_iso};
