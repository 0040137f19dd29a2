//! Opens connections: resolve, check, dial what was checked.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::OutboundError;
use super::policy::OutboundPolicy;
use super::resolve::Resolver;
use super::target::{OutboundHost, OutboundOrigin};

/// Timeout of connecting to one address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens connections to addresses that users chose. Does not limit how many.
#[derive(Clone, Debug)]
pub struct OutboundDialler {
    policy: OutboundPolicy,
    resolver: Resolver,
}

impl OutboundDialler {
    /// Returns what connects to the addresses that a policy allows.
    pub fn new(policy: OutboundPolicy) -> Self {
        Self { policy, resolver: Resolver::System }
    }

    /// Returns which addresses may be reached.
    pub fn policy(&self) -> &OutboundPolicy {
        &self.policy
    }

    /// Connects to a host, if all of its addresses are allowed.
    pub async fn connect(
        &self,
        host: &OutboundHost,
        port: u16,
    ) -> Result<TcpStream, OutboundError> {
        self.dial(&host.origin(port)).await
    }

    /// Connects to the host of an origin, if all of its addresses are allowed.
    pub(super) async fn dial(&self, origin: &OutboundOrigin) -> Result<TcpStream, OutboundError> {
        first_accepting(&self.resolver.resolve(origin, &self.policy).await?).await
    }
}

/// Connects to the first address that accepts.
async fn first_accepting(addresses: &[SocketAddr]) -> Result<TcpStream, OutboundError> {
    let mut last = None;
    for address in addresses {
        let connected = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
        let late = || io::Error::new(io::ErrorKind::TimedOut, "the connection timed out");
        match connected.unwrap_or_else(|_| Err(late())) {
            Ok(stream) => return Ok(stream),
            Err(source) => last = Some(OutboundError::Connect { address: *address, source }),
        }
    }
    match last {
        Some(error) => Err(error),
        None => panic!("a resolved host has an address"),
    }
}

#[cfg(test)]
impl OutboundDialler {
    /// Returns the same with another source of addresses.
    pub(super) fn resolving(self, resolver: Resolver) -> Self {
        Self { resolver, ..self }
    }

    /// Returns the same with one name and its addresses as all that is known.
    pub(crate) fn knowing(self, name: &str, addresses: &[std::net::IpAddr]) -> Self {
        self.resolving(Resolver::Fixed([(name.to_owned(), addresses.to_vec())].into()))
    }
}
