//! One page: opened in a browser context of its own, loaded, settled, photographed, closed.

mod evaluate;
mod events;
mod failure;
mod open;
mod page_capture;
mod session_setup;
mod settle;
mod shots;
mod state;
mod wait;
mod wire;

pub(super) use page_capture::PageCapture;
pub use shots::Capture;
