//! How often email addresses may be entered from one network address, and how often one email
//! address: whoever enters the addresses of others makes the server send mail to them.
//!
//! Networks and email addresses share slots, so that any number of them takes little memory, and so
//! that those of strangers seldom use up what others may do. Nobody can choose who shares a slot.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{NotUntil, Quota, RateLimiter};

use super::model::address_key;
use crate::areas::status::error::StatusError;
use crate::areas::status::limits;
use crate::platform::address_rates::network_of;
use crate::platform::ticks::Ticks;

/// How many networks of an IPv6 network of /48 may enter as many addresses as they may.
const NETWORKS_OF_SITE: NonZeroU32 = NonZeroU32::new(5).unwrap();

type Instant = <Ticks as governor::clock::Clock>::Instant;
type BySlot = RateLimiter<u64, HashMapStateStore<u64>, Ticks, NoOpMiddleware<Instant>>;

/// Counts the email addresses that are entered from each network, and how often each is entered on
/// all pages.
#[derive(Debug)]
pub(in crate::areas::status) struct SubscriptionPace {
    ticks: Ticks,
    networks: BySlot,
    /// Of IPv6 networks of /48, which one customer of a provider has: 65 536 networks of /64.
    sites: BySlot,
    addresses: BySlot,
    slots: RandomState,
}

impl SubscriptionPace {
    /// Returns the counters of a new process.
    pub(in crate::areas::status) fn new(per_hour: NonZeroU32, ticks: Ticks) -> Self {
        let quota = Quota::per_hour(per_hour);
        let of_site = Quota::per_hour(per_hour.saturating_mul(NETWORKS_OF_SITE));
        let burst = NonZeroU32::new(limits::ENTERED_ADDRESS_BURST).unwrap_or(NonZeroU32::MIN);
        let of_address = Quota::per_hour(NonZeroU32::MIN).allow_burst(burst);
        Self {
            sites: RateLimiter::new(of_site, HashMapStateStore::default(), ticks.clone()),
            networks: RateLimiter::new(quota, HashMapStateStore::default(), ticks.clone()),
            addresses: RateLimiter::new(of_address, HashMapStateStore::default(), ticks.clone()),
            slots: RandomState::new(),
            ticks,
        }
    }

    /// Counts an email address that is entered from a network, or refuses it.
    pub(super) fn count_network(&self, from: IpAddr) -> Result<(), StatusError> {
        let slot_of = |hash: u64| hash % limits::SUBSCRIBING_NETWORK_SLOTS;
        let slot = slot_of(self.slots.hash_one(network_of(from)));
        self.networks.check_key(&slot).map_err(|not_until| self.refusal(&not_until))?;
        // What is refused above does not count for the neighbours.
        let IpAddr::V6(address) = from.to_canonical() else { return Ok(()) };
        let [first, second, third, ..] = address.segments();
        let site = slot_of(self.slots.hash_one([first, second, third]));
        self.sites.check_key(&site).map_err(|not_until| self.refusal(&not_until))
    }

    /// Counts that an email address is entered, or refuses it.
    pub(super) fn count_address(&self, email: &str) -> Result<(), StatusError> {
        let slot = self.slots.hash_one(address_key(email)) % limits::ENTERED_ADDRESS_SLOTS;
        self.addresses.check_key(&slot).map_err(|not_until| self.refusal(&not_until))
    }

    fn refusal(&self, not_until: &NotUntil<Instant>) -> StatusError {
        let wait = not_until.wait_time_from(self.ticks.now());
        let seconds = u32::try_from(wait.as_secs().saturating_add(1)).unwrap_or(u32::MAX);
        StatusError::TooOften { seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_network_has_its_own_pace() {
        let pace = SubscriptionPace::new(NonZeroU32::new(3).unwrap(), Ticks::system());
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for _ in 0..3 {
            pace.count_network(ip("2001:db8::1")).unwrap();
        }
        assert!(matches!(
            pace.count_network(ip("2001:db8::ffff:2")),
            Err(StatusError::TooOften { seconds: 1_190..=1_201 })
        ));
        pace.count_network(ip("2001:db8:0:1::1")).unwrap();
    }

    #[test]
    fn many_networks_of_one_site_share_a_pace() {
        let pace = SubscriptionPace::new(NonZeroU32::new(3).unwrap(), Ticks::system());
        let ip = |n: u16| IpAddr::from([0x2001, 0xdb8, 7, n, 0, 0, 0, 1]);
        let counted = (0..100).filter(|n| pace.count_network(ip(*n)).is_ok()).count();
        assert_eq!(counted, 15);
        pace.count_network(IpAddr::from([0x2001, 0xdb8, 8, 0, 0, 0, 0, 1])).unwrap();
    }

    #[test]
    fn an_address_is_entered_a_few_times_whoever_does_it() {
        let pace = SubscriptionPace::new(NonZeroU32::new(3).unwrap(), Ticks::system());
        for _ in 0..limits::ENTERED_ADDRESS_BURST {
            pace.count_address("ann@example.com").unwrap();
        }
        assert!(matches!(
            pace.count_address("ANN@example.com"),
            Err(StatusError::TooOften { seconds: 3_590..=3_601 })
        ));
    }

    #[test]
    fn many_networks_neither_use_up_the_pace_of_another_nor_much_memory() {
        let pace = SubscriptionPace::new(NonZeroU32::new(20).unwrap(), Ticks::system());
        let from = |n: u32| IpAddr::V4(std::net::Ipv4Addr::from_bits(n));
        let known = from(u32::MAX);
        pace.count_network(known).unwrap();
        (0..20_000).for_each(|n| pace.count_network(from(n)).unwrap());
        (0..10).for_each(|_| pace.count_network(known).unwrap());
        for n in 20_000..200_000 {
            // Some are refused: too many share their slot.
            pace.count_network(from(n)).ok();
        }
        assert!(pace.networks.len() as u64 <= limits::SUBSCRIBING_NETWORK_SLOTS);
    }
}
