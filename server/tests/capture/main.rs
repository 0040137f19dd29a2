//! Captures by a real Chromium of pages of a server in the test.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::let_underscore_must_use,
    reason = "a test may panic and print, and its server may be left by the browser"
)]

mod canaries;
mod crashes;
mod hostile;
mod layout;
mod measure;
mod requests;
mod site;
mod stable;
mod support;
mod waiting;
