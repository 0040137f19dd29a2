//! From a host to the addresses that may be dialled.
//!
//! All addresses of a name are checked, and one forbidden address refuses them all: a name with a
//! public and a private address is an attempt to be lucky. What is returned is dialled without
//! asking the name server again, so that its second answer cannot differ (DNS rebinding).

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::sync::Semaphore;

use super::error::OutboundError;
use super::policy::OutboundPolicy;
use super::target::OutboundOrigin;

/// Maximum number of addresses of a host that are tried.
const ADDRESSES_MAX: usize = 8;

/// Maximum number of names that the system looks up at once. A lookup takes a thread until it ends,
/// which may be long after whoever asked has gone, and the rest of the server needs threads too.
const LOOKUPS_AT_ONCE: usize = 128;
static LOOKUPS: Semaphore = Semaphore::const_new(LOOKUPS_AT_ONCE);

/// Where addresses of names come from.
#[derive(Clone, Debug)]
pub(super) enum Resolver {
    /// The resolver of the system.
    System,
    /// Fixed addresses by name, for tests.
    #[cfg(test)]
    Fixed(std::collections::HashMap<String, Vec<IpAddr>>),
}

impl Resolver {
    /// Returns the addresses of a host, all of them allowed, at least one.
    pub(super) async fn resolve(
        &self,
        origin: &OutboundOrigin,
        policy: &OutboundPolicy,
    ) -> Result<Vec<SocketAddr>, OutboundError> {
        let OutboundOrigin { host, port, .. } = origin;
        let found = match host.parse::<IpAddr>() {
            Ok(literal) => Ok(vec![literal]),
            Err(_) => self.look_up(host, *port).await,
        };
        let failed = |source| OutboundError::Resolve { host: host.clone(), source };
        let mut addresses = found.map_err(failed)?;
        addresses.dedup();
        if addresses.is_empty() {
            return Err(failed(io::Error::other("the name has no address")));
        }
        for address in &addresses {
            policy
                .check(*address)
                .map_err(|special| OutboundError::Special { host: host.clone(), special })?;
        }
        addresses.truncate(ADDRESSES_MAX);
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, *port)).collect())
    }

    async fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<IpAddr>> {
        match self {
            Self::System => system_look_up(host.to_owned(), port).await,
            #[cfg(test)]
            Self::Fixed(known) => Ok(known.get(host).cloned().unwrap_or_default()),
        }
    }
}

/// Asks the system for the addresses of a name.
async fn system_look_up(host: String, port: u16) -> io::Result<Vec<IpAddr>> {
    let permit = LOOKUPS.acquire().await.map_err(io::Error::other)?;
    // A task of its own, which holds the permit as long as the thread is in use.
    let lookup = tokio::spawn(async move {
        let found = tokio::net::lookup_host((host, port)).await;
        drop(permit);
        Ok(found?.map(|address| address.ip()).collect())
    });
    lookup.await.map_err(io::Error::other)?
}
