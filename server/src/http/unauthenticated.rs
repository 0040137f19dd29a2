//! Admission and rate limits of unauthenticated clients, separate from those of all other clients.
//!
//! A body that contains the key has to be read before its sender is known. Unauthenticated clients
//! that send slowly, or many of them, must not keep out authenticated ones: they share a small pool
//! of permits with short timeouts, and each address is limited to a part of it. All addresses of an
//! IPv6 /64 network count as one address.
//!
//! Requests without a valid key, including refused ones, also count against a rate per address;
//! over the rate, they are refused before their body is read. CORS preflight requests are not
//! counted: they are as cheap as a refusal, and a refusal would keep a page from sending anything.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use parking_lot::Mutex;

use super::admission::{AddressBytes, Admission, Purpose, Reservation, overloaded};
use super::error::{ApiError, ApiResult, ErrorCode};
use super::settings::Settings;
use crate::limits;
use crate::platform::address_rates::{AddressRates, network_of};

/// The limits of unauthenticated clients.
#[derive(Debug)]
pub(super) struct UnauthenticatedClients {
    without_key: AddressLimitedPool,
    /// The permits of clients with a public key, which anyone may have seen in a web page: larger
    /// than those of clients without a key, but still separate from those of authenticated clients.
    with_public_key: AddressLimitedPool,
    /// `None` if the rate is unlimited.
    rates: Option<Mutex<AddressRates>>,
}

/// A pool of permits of which each address gets at most a part.
#[derive(Debug)]
struct AddressLimitedPool {
    admission: Admission,
    by_address: Arc<Mutex<HashMap<IpAddr, AddressUsage>>>,
    per_address_max: usize,
    bytes_per_address_max: usize,
    /// The error message if an address has reached its part.
    refusal: &'static str,
}

/// The requests in progress of one address.
#[derive(Debug, Default)]
struct AddressUsage {
    requests: usize,
    body_bytes: Arc<AtomicUsize>,
}

/// A permit of an unauthenticated client, released on drop.
#[derive(Debug)]
pub(super) struct AddressPermit {
    pub(super) reservation: Reservation,
    by_address: Arc<Mutex<HashMap<IpAddr, AddressUsage>>>,
    address: IpAddr,
}

impl UnauthenticatedClients {
    pub(super) fn new(settings: &Settings) -> Self {
        let requests = settings.http.strangers_in_flight;
        let bytes = settings.bodies.json.bytes_usize().saturating_mul(requests);
        let bytes = bytes.min(settings.bodies.in_flight_bytes_max());
        let without_key = AddressLimitedPool {
            admission: Admission::of(requests, bytes, &settings.memory),
            by_address: Arc::default(),
            per_address_max: settings.http.strangers_per_address,
            bytes_per_address_max: bytes,
            refusal: "too many requests without a key from this address",
        };
        let requests = (settings.http.requests_in_flight / limits::PUBLIC_KEYS_SHARE).max(1);
        let bytes = settings.bodies.in_flight_bytes_max() / limits::PUBLIC_KEYS_BYTES_SHARE;
        let with_public_key = AddressLimitedPool {
            admission: Admission::of(requests, bytes, &settings.memory),
            by_address: Arc::default(),
            per_address_max: (requests / limits::PUBLIC_KEYS_ADDRESS_SHARE).max(1),
            bytes_per_address_max: bytes / limits::PUBLIC_KEYS_ADDRESS_BYTES_SHARE,
            refusal: "too many requests with a public key from this address",
        };
        let rates = address_rates(settings).map(Mutex::new);
        Self { without_key, with_public_key, rates }
    }

    /// Counts a request without a key, or refuses it if its address is over the rate.
    pub(super) fn count(&self, address: IpAddr, now: Duration) -> ApiResult<()> {
        let Some(rates) = &self.rates else { return Ok(()) };
        rates.lock().count(network_of(address), now).map_err(rate_limited)
    }

    /// Refuses a request before its body is read if its address is over the rate. Counts nothing.
    pub(super) fn check(&self, address: IpAddr, now: Duration) -> ApiResult<()> {
        let Some(rates) = &self.rates else { return Ok(()) };
        rates.lock().wait(network_of(address), now).map_or(Ok(()), |wait| Err(rate_limited(wait)))
    }

    /// Admits a client that has sent no key in the request's head, or sheds the request.
    pub(super) fn enter(&self, address: IpAddr) -> ApiResult<AddressPermit> {
        self.without_key.enter(address)
    }

    /// Admits a client with a public key, or sheds the request.
    pub(super) fn enter_with_public_key(&self, address: IpAddr) -> ApiResult<AddressPermit> {
        self.with_public_key.enter(address)
    }

    /// Admits a client whose body was read and contains a public key, or sheds the request.
    pub(super) fn enter_with_body(&self) -> ApiResult<Reservation> {
        self.with_public_key.admission.enter()
    }
}

/// Returns the rates of addresses; `None` if they are unlimited.
fn address_rates(settings: &Settings) -> Option<AddressRates> {
    let per_second = settings.http.stranger_requests_per_second.0;
    let per_second = u32::try_from(per_second).unwrap_or(u32::MAX);
    let interval = Duration::from_secs(1).checked_div(per_second)?;
    let burst = per_second.saturating_mul(limits::UNAUTHENTICATED_REQUESTS_BURST_SECONDS);
    Some(AddressRates::new(interval, burst, limits::UNAUTHENTICATED_ADDRESSES_MAX))
}

/// Returns the refusal of an address that has to wait this long.
fn rate_limited(wait: Duration) -> ApiError {
    let message = "too many requests without a key from this address";
    let seconds = wait.as_millis().div_ceil(1_000).max(1);
    ApiError::new(ErrorCode::RateLimited, message)
        .retry_after(u32::try_from(seconds).unwrap_or(u32::MAX))
}

impl AddressLimitedPool {
    fn enter(&self, address: IpAddr) -> ApiResult<AddressPermit> {
        let address = network_of(address);
        let mut all = self.by_address.lock();
        let held = all.get(&address).map_or(0, |by_address| by_address.requests);
        if held >= self.per_address_max {
            return Err(overloaded(self.refusal));
        }
        let bytes = all.get(&address).map(|held| Arc::clone(&held.body_bytes)).unwrap_or_default();
        let bytes_max = self.bytes_per_address_max;
        let part = AddressBytes { bytes: Arc::clone(&bytes), bytes_max };
        let reservation = self.admission.enter_from(Purpose::Any, Some(part))?;
        all.insert(address, AddressUsage { requests: held + 1, body_bytes: bytes });
        drop(all);
        Ok(AddressPermit { reservation, by_address: Arc::clone(&self.by_address), address })
    }
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        let mut by_address = self.by_address.lock();
        if let Some(held) = by_address.get_mut(&self.address) {
            held.requests -= 1;
            if held.requests == 0 {
                by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::settings::{Auto, ByteSize, FromZero};

    fn clients(in_flight: usize, per_address: usize) -> UnauthenticatedClients {
        UnauthenticatedClients::new(&Settings::changed(|s| {
            s.http.strangers_in_flight = in_flight;
            s.http.strangers_per_address = per_address;
        }))
    }

    #[test]
    fn requests_are_limited_per_address_and_in_total() {
        let clients = clients(3, 2);
        let [a, b]: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let _first = clients.enter(a).unwrap();
        let second = clients.enter(a).unwrap();
        clients.enter(a).unwrap_err();
        // A refused request holds nothing.
        let _third = clients.enter(b).unwrap();
        clients.enter(b).unwrap_err();
        drop(second);
        let _fourth = clients.enter(b).unwrap();
    }

    #[test]
    fn an_address_with_a_public_key_gets_at_most_half_of_the_bytes() {
        let settings =
            Settings::changed(|s| s.bodies.in_flight = Auto::Set(ByteSize::at_least_one(4_000)));
        let clients = UnauthenticatedClients::new(&settings);
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(ip);
        let alone = clients.enter_with_public_key(a).unwrap();
        assert_eq!(alone.reservation.available(), 1_000);
        assert_eq!(alone.reservation.add(1_001).unwrap_err().code(), ErrorCode::PayloadTooLarge);
        alone.reservation.add(600).unwrap();
        let second = clients.enter_with_public_key(a).unwrap();
        assert_eq!(second.reservation.add(401).unwrap_err().code(), ErrorCode::Overloaded);
        drop(second);
        let second = clients.enter_with_public_key(a).unwrap();
        second.reservation.add(400).unwrap();
        let other = clients.enter_with_public_key(b).unwrap();
        other.reservation.add(1_000).unwrap();
        alone.reservation.release_bytes(100);
        second.reservation.add(100).unwrap();
        drop((alone, second, other));
        assert_eq!(clients.with_public_key.admission.body_bytes(), 0);
        assert!(clients.with_public_key.by_address.lock().is_empty());
        clients.enter_with_public_key(a).unwrap().reservation.add(1_000).unwrap();
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Returns how many of 1000 requests of an address are admitted at this time.
    fn counted(clients: &UnauthenticatedClients, address: &str, now_ms: u64) -> usize {
        let now = Duration::from_millis(now_ms);
        (0..1_000).take_while(|_| clients.count(ip(address), now).is_ok()).count()
    }

    fn with_rate(per_second: u64) -> UnauthenticatedClients {
        let settings =
            Settings::changed(|s| s.http.stranger_requests_per_second = FromZero(per_second));
        UnauthenticatedClients::new(&settings)
    }

    #[test]
    fn requests_without_a_key_are_rate_limited_per_address() {
        let clients = with_rate(100);
        assert_eq!(counted(&clients, "10.0.0.1", 0), 200);
        assert_eq!(counted(&clients, "10.0.0.2", 0), 200);
        assert_eq!(counted(&clients, "10.0.0.1", 9), 0);
        assert_eq!(counted(&clients, "10.0.0.1", 10), 1);
        assert_eq!(counted(&clients, "10.0.0.1", 1_010), 100);
        let refused = clients.count(ip("10.0.0.1"), Duration::from_millis(1_010)).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RateLimited);
        assert_eq!(refused.retry_after_seconds(), Some(1));
        assert_eq!(counted(&with_rate(0), "10.0.0.1", 0), 1_000, "there is no limit");
    }

    #[test]
    fn memory_is_bounded_regardless_of_the_number_of_addresses() {
        let clients = with_rate(1);
        let address = |n: usize| IpAddr::V4(std::net::Ipv4Addr::from_bits(n as u32));
        for n in 0..limits::UNAUTHENTICATED_ADDRESSES_MAX {
            clients.count(address(n), Duration::ZERO).unwrap();
        }
        // All other addresses share one rate.
        assert_eq!(counted(&clients, "200.0.0.1", 0), 2);
        assert_eq!(counted(&clients, "200.0.0.2", 0), 0);
        // Addresses whose requests have expired are dropped.
        assert_eq!(counted(&clients, "200.0.0.3", 1_000), 2);
        assert_eq!(clients.rates.as_ref().unwrap().lock().addresses(), 1);
    }

    #[test]
    fn addresses_of_an_ipv6_network_count_as_one() {
        let clients = clients(10, 1);
        let permit = clients.enter(ip("2001:db8::1")).unwrap();
        clients.enter(ip("2001:db8::ffff:2")).unwrap_err();
        clients.enter(ip("2001:db8:0:1::1")).unwrap();
        let _v4 = clients.enter(ip("10.0.0.1")).unwrap();
        clients.enter(ip("::ffff:10.0.0.1")).unwrap_err();
        drop(permit);
        clients.enter(ip("2001:db8::3")).unwrap();
        assert_eq!(clients.without_key.by_address.lock().len(), 1);
    }
}
