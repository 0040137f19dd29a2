//! Captures of web pages by headless Chromium.
//!
//! `browser` owns the Chromium process (`process`) and speaks to it over the DevTools protocol
//! (`protocol`); `page` loads, settles and photographs one page in a browser context of its own;
//! a vetting proxy is the only way from a page to the network, and dials what [`Dial`] allows.

mod browser;
mod error;
mod limits;
mod page;
mod process;
mod protocol;
mod request;
mod selectors;
mod settings;
mod sizes;
mod user_header;

pub use crate::platform::vetting_proxy::{Dial, DialError, DialFuture, ProxyCounts, Refusal};
pub use browser::Browser;
pub use error::CaptureError;
pub(super) use limits::SELECTORS_MAX;
pub use page::Capture;
pub use request::{CaptureRequest, CaptureRequestError, PageArea, PageCookie, WaitFor};
pub use selectors::Selectors;
pub use settings::{BrowserSettings, SandboxMode};
pub use sizes::Viewport;
pub use user_header::PageHeader;
