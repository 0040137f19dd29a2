//! Places for callers who have not shown a key yet, apart from those of everybody else.
//!
//! Where only the body says who sends it, it has to be read first. A stranger who sends slowly, or many of them, must not keep out
//! those who are known: they share a small pool with short timeouts, and of that no address has more than its part.
//!
//! Requests that nobody's key comes with, refused ones included, are counted by address too: beyond a rate they are refused unread.
//! Preflights of browsers are not counted: they cost no more than their refusal, and a refusal would keep a page from sending anything.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use parking_lot::Mutex;

use super::admission::{AddressBytes, Admission, Purpose, Reservation, overloaded};
use super::error::{ApiError, ApiResult, ErrorCode};
use super::settings::Settings;
use crate::limits;

/// Bits of an IPv6 address that one site has, as a rule: the rest it hands out as it likes.
const SITE_BITS: u32 = 64;

/// The places of strangers.
#[derive(Debug)]
pub(super) struct Strangers {
    places: SharedPlaces,
    /// Those of clients with a public key, which anybody may have seen in a web page: they have more places, and keep others out as
    /// little.
    with_public_key: SharedPlaces,
    /// `None` where there is no limit.
    rates: Option<Mutex<Rates>>,
}

/// Places of which no address has more than its part.
#[derive(Debug)]
struct SharedPlaces {
    admission: Admission,
    of_address: Arc<Mutex<HashMap<IpAddr, OfAddress>>>,
    per_address_max: usize,
    bytes_per_address_max: usize,
    /// What is said where an address has its part.
    refusal: &'static str,
}

/// What one address has in flight.
#[derive(Debug, Default)]
struct OfAddress {
    requests: usize,
    body_bytes: Arc<AtomicUsize>,
}

/// How often the addresses have asked.
#[derive(Debug)]
struct Rates {
    /// The time after which one more request is due.
    pause: Duration,
    /// What the requests that may come at once are due in together.
    burst: Duration,
    /// When all that came is paid for, by address.
    paid_at: HashMap<IpAddr, Duration>,
    /// The same of all addresses that there is no room for.
    others_paid_at: Duration,
    swept_at: Duration,
}

/// A place that a stranger has. Given back when dropped.
#[derive(Debug)]
pub(super) struct StrangersPlace {
    pub(super) reservation: Reservation,
    of_address: Arc<Mutex<HashMap<IpAddr, OfAddress>>>,
    address: IpAddr,
}

impl Strangers {
    pub(super) fn new(settings: &Settings) -> Self {
        let requests = settings.strangers_in_flight_max;
        let bytes = settings.body_json_bytes_max.saturating_mul(requests);
        let bytes = bytes.min(settings.body_bytes_in_flight_max);
        let places = SharedPlaces {
            admission: Admission::of(requests, bytes, &settings.memory),
            of_address: Arc::default(),
            per_address_max: settings.strangers_per_address_max,
            bytes_per_address_max: bytes,
            refusal: "too many requests without a key come from this address",
        };
        let requests = (settings.requests_in_flight_max / limits::PUBLIC_KEYS_SHARE).max(1);
        let bytes = settings.body_bytes_in_flight_max / limits::PUBLIC_KEYS_BYTES_SHARE;
        let with_public_key = SharedPlaces {
            admission: Admission::of(requests, bytes, &settings.memory),
            of_address: Arc::default(),
            per_address_max: (requests / limits::PUBLIC_KEYS_ADDRESS_SHARE).max(1),
            bytes_per_address_max: bytes / limits::PUBLIC_KEYS_ADDRESS_BYTES_SHARE,
            refusal: "too many requests with a public key come from this address",
        };
        let rates = Rates::new(settings.stranger_requests_per_second).map(Mutex::new);
        Self { places, with_public_key, rates }
    }

    /// Counts a request without a key, or refuses it where its address has sent too many.
    pub(super) fn count(&self, address: IpAddr, now: Duration) -> ApiResult<()> {
        let Some(rates) = &self.rates else { return Ok(()) };
        rates.lock().count(site_of(address), now).map_err(too_often)
    }

    /// Refuses a request unread where its address has sent too many without a key; counts nothing.
    pub(super) fn check(&self, address: IpAddr, now: Duration) -> ApiResult<()> {
        let Some(rates) = &self.rates else { return Ok(()) };
        rates.lock().wait(site_of(address), now).map_or(Ok(()), |wait| Err(too_often(wait)))
    }

    /// Lets a stranger in, or sheds the request.
    pub(super) fn enter(&self, address: IpAddr) -> ApiResult<StrangersPlace> {
        self.places.enter(address)
    }

    /// Lets in who has shown a public key, or sheds the request.
    pub(super) fn enter_with_public_key(&self, address: IpAddr) -> ApiResult<StrangersPlace> {
        self.with_public_key.enter(address)
    }

    /// Lets in whose body is read and named a public key, or sheds the request.
    pub(super) fn enter_with_body(&self) -> ApiResult<Reservation> {
        self.with_public_key.admission.enter()
    }
}

/// The refusal of an address that has to wait so long.
fn too_often(wait: Duration) -> ApiError {
    let message = "too many requests without a key come from this address";
    let seconds = wait.as_millis().div_ceil(1_000).max(1);
    ApiError::new(ErrorCode::RateLimited, message)
        .retry_after(u32::try_from(seconds).unwrap_or(u32::MAX))
}

impl SharedPlaces {
    fn enter(&self, address: IpAddr) -> ApiResult<StrangersPlace> {
        let address = site_of(address);
        let mut all = self.of_address.lock();
        let held = all.get(&address).map_or(0, |of_address| of_address.requests);
        if held >= self.per_address_max {
            return Err(overloaded(self.refusal));
        }
        let bytes = all.get(&address).map(|held| Arc::clone(&held.body_bytes)).unwrap_or_default();
        let bytes_max = self.bytes_per_address_max;
        let part = AddressBytes { bytes: Arc::clone(&bytes), bytes_max };
        let reservation = self.admission.enter_from(Purpose::Any, Some(part))?;
        all.insert(address, OfAddress { requests: held + 1, body_bytes: bytes });
        drop(all);
        Ok(StrangersPlace { reservation, of_address: Arc::clone(&self.of_address), address })
    }
}

impl Rates {
    fn new(per_second: u32) -> Option<Self> {
        let pause = Duration::from_secs(1).checked_div(per_second)?;
        Some(Self {
            pause,
            burst: pause
                .saturating_mul(per_second)
                .saturating_mul(limits::STRANGER_REQUESTS_BURST_SECONDS),
            paid_at: HashMap::new(),
            others_paid_at: Duration::ZERO,
            swept_at: Duration::ZERO,
        })
    }

    /// Counts a request, or tells how long it has to wait. A refused one is not counted.
    fn count(&mut self, address: IpAddr, now: Duration) -> Result<(), Duration> {
        let is_full = self.paid_at.len() >= limits::STRANGER_ADDRESSES_MAX;
        if is_full && now.saturating_sub(self.swept_at) >= Duration::from_secs(1) {
            self.swept_at = now;
            self.paid_at.retain(|_, paid_at| *paid_at > now);
        }
        let has_room = self.paid_at.len() < limits::STRANGER_ADDRESSES_MAX;
        let paid_at = match self.paid_at.get_mut(&address) {
            Some(paid_at) => paid_at,
            None if has_room => self.paid_at.entry(address).or_insert(now),
            None => &mut self.others_paid_at,
        };
        let next = (*paid_at).max(now) + self.pause;
        match (next - now).checked_sub(self.burst).filter(|wait| !wait.is_zero()) {
            Some(wait) => Err(wait),
            None => {
                *paid_at = next;
                Ok(())
            }
        }
    }
}

impl Rates {
    /// How long the next request of an address has to wait, where it has to.
    fn wait(&self, address: IpAddr, now: Duration) -> Option<Duration> {
        let is_full = self.paid_at.len() >= limits::STRANGER_ADDRESSES_MAX;
        let paid_at = match self.paid_at.get(&address) {
            Some(paid_at) => *paid_at,
            None if is_full => self.others_paid_at,
            None => now,
        };
        let next = paid_at.max(now) + self.pause;
        (next - now).checked_sub(self.burst).filter(|wait| !wait.is_zero())
    }
}

impl Drop for StrangersPlace {
    fn drop(&mut self) {
        let mut of_address = self.of_address.lock();
        if let Some(held) = of_address.get_mut(&self.address) {
            held.requests -= 1;
            if held.requests == 0 {
                of_address.remove(&self.address);
            }
        }
    }
}

/// Returns the address that all addresses of a site count as: of IPv6 its network, of IPv4 itself.
pub(super) fn site_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let mask = u128::MAX << (u128::BITS - SITE_BITS);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strangers(in_flight: usize, per_address: usize) -> Strangers {
        Strangers::new(&Settings {
            strangers_in_flight_max: in_flight,
            strangers_per_address_max: per_address,
            ..Settings::default()
        })
    }

    #[test]
    fn an_address_has_its_part_and_all_together_theirs() {
        let strangers = strangers(3, 2);
        let [a, b]: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let _first = strangers.enter(a).unwrap();
        let second = strangers.enter(a).unwrap();
        strangers.enter(a).unwrap_err();
        // One that was refused keeps nothing.
        let _third = strangers.enter(b).unwrap();
        strangers.enter(b).unwrap_err();
        drop(second);
        let _fourth = strangers.enter(b).unwrap();
    }

    #[test]
    fn an_address_with_a_public_key_leaves_half_of_the_bytes_to_others() {
        let settings = Settings { body_bytes_in_flight_max: 4_000, ..Settings::default() };
        let strangers = Strangers::new(&settings);
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(ip);
        let alone = strangers.enter_with_public_key(a).unwrap();
        assert_eq!(alone.reservation.left(), 1_000);
        assert_eq!(alone.reservation.add(1_001).unwrap_err().code(), ErrorCode::PayloadTooLarge);
        alone.reservation.add(600).unwrap();
        let second = strangers.enter_with_public_key(a).unwrap();
        assert_eq!(second.reservation.add(401).unwrap_err().code(), ErrorCode::Overloaded);
        drop(second);
        let second = strangers.enter_with_public_key(a).unwrap();
        second.reservation.add(400).unwrap();
        let other = strangers.enter_with_public_key(b).unwrap();
        other.reservation.add(1_000).unwrap();
        alone.reservation.give_back(100);
        second.reservation.add(100).unwrap();
        drop((alone, second, other));
        assert_eq!(strangers.with_public_key.admission.body_bytes(), 0);
        assert!(strangers.with_public_key.of_address.lock().is_empty());
        strangers.enter_with_public_key(a).unwrap().reservation.add(1_000).unwrap();
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// How many requests of an address are counted at this time, of more than there may be.
    fn counted(strangers: &Strangers, address: &str, now_ms: u64) -> usize {
        let now = Duration::from_millis(now_ms);
        (0..1_000).take_while(|_| strangers.count(ip(address), now).is_ok()).count()
    }

    fn asking(per_second: u32) -> Strangers {
        let settings = Settings { stranger_requests_per_second: per_second, ..Settings::default() };
        Strangers::new(&settings)
    }

    #[test]
    fn an_address_may_ask_so_often_without_a_key() {
        let strangers = asking(100);
        assert_eq!(counted(&strangers, "10.0.0.1", 0), 200);
        assert_eq!(counted(&strangers, "10.0.0.2", 0), 200);
        assert_eq!(counted(&strangers, "10.0.0.1", 9), 0);
        assert_eq!(counted(&strangers, "10.0.0.1", 10), 1);
        assert_eq!(counted(&strangers, "10.0.0.1", 1_010), 100);
        let refused = strangers.count(ip("10.0.0.1"), Duration::from_millis(1_010)).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RateLimited);
        assert_eq!(refused.retry_after_seconds(), Some(1));
        assert_eq!(counted(&asking(0), "10.0.0.1", 0), 1_000, "there is no limit");
    }

    #[test]
    fn however_many_addresses_ask_memory_is_bounded() {
        let strangers = asking(1);
        let address = |n: usize| IpAddr::V4(std::net::Ipv4Addr::from_bits(n as u32));
        for n in 0..limits::STRANGER_ADDRESSES_MAX {
            strangers.count(address(n), Duration::ZERO).unwrap();
        }
        // All others have one rate together.
        assert_eq!(counted(&strangers, "200.0.0.1", 0), 2);
        assert_eq!(counted(&strangers, "200.0.0.2", 0), 0);
        // Those that have rested make room.
        assert_eq!(counted(&strangers, "200.0.0.3", 1_000), 2);
        assert_eq!(strangers.rates.as_ref().unwrap().lock().paid_at.len(), 1);
    }

    #[test]
    fn the_addresses_of_a_site_are_one() {
        let strangers = strangers(10, 1);
        let place = strangers.enter(ip("2001:db8::1")).unwrap();
        strangers.enter(ip("2001:db8::ffff:2")).unwrap_err();
        strangers.enter(ip("2001:db8:0:1::1")).unwrap();
        let _v4 = strangers.enter(ip("10.0.0.1")).unwrap();
        strangers.enter(ip("::ffff:10.0.0.1")).unwrap_err();
        drop(place);
        strangers.enter(ip("2001:db8::3")).unwrap();
        assert_eq!(strangers.places.of_address.lock().len(), 1);
    }
}
