//! Places for callers who have not shown a key yet, apart from those of everybody else.
//!
//! Where only the body says who sends it, it has to be read first. A stranger who sends slowly, or many of them, must not keep out
//! those who are known: they share a small pool with short timeouts, and of that no address has more than its part.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;

use super::admission::{Admission, Reservation, overloaded};
use super::error::ApiResult;
use super::settings::Settings;

/// Bits of an IPv6 address that one site has, as a rule: the rest it hands out as it likes.
const SITE_BITS: u32 = 64;

/// The places of strangers.
#[derive(Debug)]
pub(super) struct Strangers {
    admission: Admission,
    of_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
    per_address_max: usize,
}

/// A place that a stranger has. Given back when dropped.
#[derive(Debug)]
pub(super) struct StrangersPlace {
    pub(super) reservation: Reservation,
    of_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
    address: IpAddr,
}

impl Strangers {
    pub(super) fn new(settings: &Settings) -> Self {
        let requests = settings.strangers_in_flight_max;
        let bytes = settings.body_json_bytes_max.saturating_mul(requests);
        Self {
            admission: Admission::of(
                requests,
                bytes.min(settings.body_bytes_in_flight_max),
                &settings.memory,
            ),
            of_address: Arc::default(),
            per_address_max: settings.strangers_per_address_max,
        }
    }

    /// Lets a stranger in, or sheds the request.
    pub(super) fn enter(&self, address: IpAddr) -> ApiResult<StrangersPlace> {
        let address = site_of(address);
        let reservation = self.admission.enter()?;
        let mut of_address = self.of_address.lock();
        let places = of_address.get(&address).copied().unwrap_or_default();
        if places >= self.per_address_max {
            return Err(overloaded("too many requests without a key come from this address"));
        }
        of_address.insert(address, places + 1);
        drop(of_address);
        Ok(StrangersPlace { reservation, of_address: Arc::clone(&self.of_address), address })
    }
}

impl Drop for StrangersPlace {
    fn drop(&mut self) {
        let mut of_address = self.of_address.lock();
        if let Some(places) = of_address.get_mut(&self.address) {
            *places -= 1;
            if *places == 0 {
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
    fn the_addresses_of_a_site_are_one() {
        let strangers = strangers(10, 1);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let place = strangers.enter(ip("2001:db8::1")).unwrap();
        strangers.enter(ip("2001:db8::ffff:2")).unwrap_err();
        strangers.enter(ip("2001:db8:0:1::1")).unwrap();
        let _v4 = strangers.enter(ip("10.0.0.1")).unwrap();
        strangers.enter(ip("::ffff:10.0.0.1")).unwrap_err();
        drop(place);
        strangers.enter(ip("2001:db8::3")).unwrap();
        assert_eq!(strangers.of_address.lock().len(), 1);
    }
}
