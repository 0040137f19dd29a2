//! How often addresses may be entered from one network address: whoever enters the addresses of
//! others makes the server send mail to them.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{NotUntil, Quota, RateLimiter};

use crate::areas::status::error::StatusError;
use crate::areas::status::limits;
use crate::http::network_of;
use crate::platform::ticks::Ticks;

type Instant = <Ticks as governor::clock::Clock>::Instant;
type ByNetwork = RateLimiter<IpAddr, HashMapStateStore<IpAddr>, Ticks, NoOpMiddleware<Instant>>;
type OfOthers = RateLimiter<NotKeyed, InMemoryState, Ticks, NoOpMiddleware<Instant>>;

/// Counts the addresses that are entered from each network.
#[derive(Debug)]
pub(in crate::areas::status) struct SubscriptionPace {
    ticks: Ticks,
    by_network: ByNetwork,
    /// Of all networks for which there is no place.
    of_others: OfOthers,
}

impl SubscriptionPace {
    /// Returns the counters of a new process.
    pub(in crate::areas::status) fn new(per_hour: NonZeroU32, ticks: Ticks) -> Self {
        let quota = Quota::per_hour(per_hour);
        Self {
            by_network: RateLimiter::new(quota, HashMapStateStore::default(), ticks.clone()),
            of_others: RateLimiter::direct_with_clock(quota, ticks.clone()),
            ticks,
        }
    }

    /// Counts an address that is entered, or refuses it.
    pub(super) fn count(&self, from: IpAddr) -> Result<(), StatusError> {
        if self.by_network.len() >= limits::SUBSCRIBING_NETWORKS_MAX {
            self.by_network.retain_recent();
        }
        let counted = if self.by_network.len() >= limits::SUBSCRIBING_NETWORKS_MAX {
            self.of_others.check()
        } else {
            self.by_network.check_key(&network_of(from))
        };
        counted.map_err(|not_until| self.refusal(&not_until))
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
            pace.count(ip("2001:db8::1")).unwrap();
        }
        assert!(matches!(
            pace.count(ip("2001:db8::ffff:2")),
            Err(StatusError::TooOften { seconds: 1_190..=1_201 })
        ));
        pace.count(ip("2001:db8:0:1::1")).unwrap();
    }

    #[test]
    fn the_memory_is_bounded() {
        let pace = SubscriptionPace::new(NonZeroU32::new(3).unwrap(), Ticks::system());
        let from = |n: usize| IpAddr::V4(std::net::Ipv4Addr::from_bits(u32::try_from(n).unwrap()));
        (0..limits::SUBSCRIBING_NETWORKS_MAX).for_each(|n| pace.count(from(n)).unwrap());
        let beyond = limits::SUBSCRIBING_NETWORKS_MAX;
        (0..3).for_each(|n| pace.count(from(beyond + n)).unwrap());
        pace.count(from(beyond + 3)).unwrap_err();
        assert_eq!(pace.by_network.len(), limits::SUBSCRIBING_NETWORKS_MAX);
    }
}
