//! The limits of proxies, with units and reasons.

use std::time::Duration;

/// The limits of one proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProxyLimits {
    /// Bytes that are sent and received together.
    pub(crate) bytes_max: u64,
    /// Connections in all.
    pub(crate) connections_max: usize,
}

/// Connections of a proxy at once: more than Chromium opens to a proxy.
pub(super) const CONNECTIONS_AT_ONCE: usize = 256;
/// Time in which a connection to a server is made.
pub(super) const DIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of the head of a request or response.
pub(super) const HEAD_BYTES_MAX: usize = 256 << 10;
/// Refused and failed connections that are named; further ones are counted.
pub(super) const REFUSALS_NAMED_MAX: usize = 20;
