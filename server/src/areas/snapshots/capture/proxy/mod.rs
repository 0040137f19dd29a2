//! The forward proxy of a capture: all traffic of its page goes through it.
//!
//! Each capture has a proxy of its own, on a loopback port, as long as it lasts, so that its
//! traffic is counted apart from that of others, has limits and ends with it. The proxy resolves
//! names and opens connections only through [`Dial`], which refuses addresses that must not be
//! reached. Chromium asks it for `https` and WebSocket servers with `CONNECT` (`tunnel`), for
//! `http` pages with requests for absolute URLs (`forward`).

mod capture_proxy;
mod dial;
mod forward;
mod metered;
mod traffic;
mod tunnel;

pub(super) use capture_proxy::CaptureProxy;
pub use dial::{Dial, DialError, DialFuture};
pub use traffic::{ProxyCounts, Refusal};
