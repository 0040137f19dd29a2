//! Rate limits of clients by their address, for those who have not shown a key.
//!
//! All addresses of an IPv6 /64 network count as one address. Memory is bounded: beyond
//! the maximum number of addresses, further ones share one rate.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Bits of an IPv6 address that identify a network; its owner chooses the rest freely.
const NETWORK_BITS: u32 = 64;

/// A rate limit per address: the generic cell rate algorithm (GCRA).
#[derive(Debug)]
pub(crate) struct AddressRates {
    /// The interval between two requests at the limit.
    interval: Duration,
    /// The burst tolerance: the number of requests allowed at once, times the interval.
    burst: Duration,
    /// The theoretical arrival time of the next request, by address.
    due_at: HashMap<IpAddr, Duration>,
    /// The same for all addresses beyond the maximum number of tracked ones.
    others_due_at: Duration,
    swept_at: Duration,
    addresses_max: usize,
}

impl AddressRates {
    /// Returns rates with one request per `interval` and bursts of `burst` requests, of at most
    /// `addresses_max` addresses.
    pub(crate) fn new(interval: Duration, burst: u32, addresses_max: usize) -> Self {
        Self {
            interval,
            burst: interval.saturating_mul(burst),
            due_at: HashMap::new(),
            others_due_at: Duration::ZERO,
            swept_at: Duration::ZERO,
            addresses_max,
        }
    }

    /// Returns the number of addresses that are counted individually.
    #[cfg(test)]
    pub(crate) fn addresses(&self) -> usize {
        self.due_at.len()
    }

    /// Counts a request, or returns how long it has to wait. A refused request is not counted.
    pub(crate) fn count(&mut self, address: IpAddr, now: Duration) -> Result<(), Duration> {
        let is_full = self.due_at.len() >= self.addresses_max;
        if is_full && now.saturating_sub(self.swept_at) >= Duration::from_secs(1) {
            self.swept_at = now;
            self.due_at.retain(|_, due_at| *due_at > now);
        }
        if let Some(wait) = self.wait(address, now) {
            return Err(wait);
        }
        let can_track = self.due_at.len() < self.addresses_max;
        let due_at = match self.due_at.get_mut(&address) {
            Some(due_at) => due_at,
            None if can_track => self.due_at.entry(address).or_insert(now),
            None => &mut self.others_due_at,
        };
        *due_at = (*due_at).max(now) + self.interval;
        Ok(())
    }

    /// Returns how long the next request of an address has to wait, if it has to.
    pub(crate) fn wait(&self, address: IpAddr, now: Duration) -> Option<Duration> {
        let is_full = self.due_at.len() >= self.addresses_max;
        let due_at = match self.due_at.get(&address) {
            Some(due_at) => *due_at,
            None if is_full => self.others_due_at,
            None => now,
        };
        let next = due_at.max(now) + self.interval;
        (next - now).checked_sub(self.burst).filter(|wait| !wait.is_zero())
    }
}

/// Returns the address under which a client is counted: the network of an IPv6 address, an IPv4
/// address itself.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let mask = u128::MAX << (u128::BITS - NETWORK_BITS);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}
