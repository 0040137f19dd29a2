//! Forward proxies for programs that the server starts: all of their traffic goes through one, so
//! that they reach no special address.
//!
//! Each user of a proxy has one of its own, on a loopback port, as long as it needs it, so that its
//! traffic is counted apart from that of others, has limits and ends with it. The proxy resolves
//! names and opens connections only through [`Dial`], which refuses addresses that must not be
//! reached. Clients ask it for `https` and WebSocket servers with `CONNECT` (`tunnel`), for `http`
//! with requests for absolute URLs (`forward`).

mod dial;
mod forward;
mod limits;
mod metered;
mod outbound_dial;
mod proxy;
mod traffic;
mod tunnel;

pub use dial::{Dial, DialError, DialFuture};
pub(crate) use limits::ProxyLimits;
pub(crate) use proxy::VettingProxy;
pub use traffic::{ProxyCounts, Refusal};
