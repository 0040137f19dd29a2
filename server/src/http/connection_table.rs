//! Which network connections are open, and which one is evicted when a new one needs its slot. Pure data: time is a parameter.
//!
//! A connection begins as one of a *stranger*, a client that has not shown a valid key, and becomes *known* with its first request that
//! has one. Strangers have a share of all connections, and every address has a share of that. Where a share is full, a new connection
//! takes the slot of an older stranger instead of waiting:
//!
//! ```text
//! the share of the address is full             evict the oldest stranger of that address
//! the share of strangers, or all, is full      evict the oldest stranger of the address that has most of them
//! all connections are known                    the listener stops accepting until one of them closes
//! ```
//!
//! Strangers that have a request being handled are evicted last. Known connections are never evicted.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

/// The identity of a connection: later connections have larger ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ConnectionId(u64);

/// How many connections may be open.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionLimits {
    /// All of them.
    pub(super) connections: usize,
    /// Those of strangers.
    pub(super) strangers: usize,
    /// Those of strangers with one address.
    pub(super) strangers_per_address: usize,
    /// Evicted connections that have not ended yet.
    pub(super) closing: usize,
    /// How old a stranger's connection is at least when it is evicted.
    pub(super) eviction_age: Duration,
}

/// A connection that got a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    pub(super) id: ConnectionId,
    /// The connection that has to end for it.
    pub(super) evicted: Option<ConnectionId>,
}

/// The connection that would have to be evicted is too young; it may be evicted after this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooYoung(pub(super) Duration);

/// The open connections.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    limits: ConnectionLimits,
    next: u64,
    known: HashSet<ConnectionId>,
    strangers: HashMap<ConnectionId, Stranger>,
    /// Strangers without a request that is being handled.
    idle: AddressRanking,
    /// The other strangers.
    busy: AddressRanking,
    /// Evicted, and not ended yet.
    closing: HashSet<ConnectionId>,
}

#[derive(Clone, Copy, Debug)]
struct Stranger {
    address: IpAddr,
    since: Duration,
    /// Requests that are being handled.
    requests: usize,
}

impl ConnectionTable {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            next: 0,
            known: HashSet::new(),
            strangers: HashMap::new(),
            idle: AddressRanking::default(),
            busy: AddressRanking::default(),
            closing: HashSet::new(),
        }
    }

    /// Returns whether the listener may accept a connection.
    pub(super) fn has_room(&self) -> bool {
        self.known.len() < self.limits.connections && self.closing.len() < self.limits.closing
    }

    /// Gives a slot to a new connection. Fails only while the connection to be evicted for it is too young.
    ///
    /// Where all connections have become known since [`Self::has_room`] there is one too many: it has been accepted already.
    pub(super) fn enter(&mut self, address: IpAddr, now: Duration) -> Result<Entered, TooYoung> {
        let evicted = self.next_evicted(address);
        if let Some(stranger) = evicted.and_then(|id| self.strangers.get(&id)) {
            let age = now.saturating_sub(stranger.since);
            if let Some(left) = self.limits.eviction_age.checked_sub(age).filter(|d| !d.is_zero()) {
                return Err(TooYoung(left));
            }
        }
        if let Some(id) = evicted {
            self.remove_stranger(id);
            self.closing.insert(id);
        }
        let id = ConnectionId(self.next);
        self.next += 1;
        self.strangers.insert(id, Stranger { address, since: now, requests: 0 });
        self.idle.insert(address, id);
        Ok(Entered { id, evicted })
    }

    /// The client has shown a valid key. Without effect on a connection that was evicted before.
    pub(super) fn show_key(&mut self, id: ConnectionId) {
        if self.remove_stranger(id) {
            self.known.insert(id);
        }
    }

    /// A request begins to be handled.
    pub(super) fn begin_request(&mut self, id: ConnectionId) {
        let Some(stranger) = self.strangers.get_mut(&id) else { return };
        stranger.requests += 1;
        if stranger.requests == 1 {
            self.idle.remove(stranger.address, id);
            self.busy.insert(stranger.address, id);
        }
    }

    /// A request has been handled.
    pub(super) fn end_request(&mut self, id: ConnectionId) {
        let Some(stranger) = self.strangers.get_mut(&id) else { return };
        stranger.requests = stranger.requests.saturating_sub(1);
        if stranger.requests == 0 {
            self.busy.remove(stranger.address, id);
            self.idle.insert(stranger.address, id);
        }
    }

    /// The connection has ended.
    pub(super) fn leave(&mut self, id: ConnectionId) {
        if !self.remove_stranger(id) && !self.known.remove(&id) {
            self.closing.remove(&id);
        }
    }

    /// The connection that has to end for a new one from this address.
    fn next_evicted(&self, address: IpAddr) -> Option<ConnectionId> {
        let of_address = self.idle.count(address) + self.busy.count(address);
        if of_address >= self.limits.strangers_per_address {
            return self.idle.oldest_of(address).or_else(|| self.busy.oldest_of(address));
        }
        let strangers = self.strangers.len();
        let is_full = strangers >= self.limits.strangers
            || self.known.len() + strangers >= self.limits.connections;
        if is_full { self.idle.oldest().or_else(|| self.busy.oldest()) } else { None }
    }

    fn remove_stranger(&mut self, id: ConnectionId) -> bool {
        let Some(stranger) = self.strangers.remove(&id) else { return false };
        let ranking = if stranger.requests == 0 { &mut self.idle } else { &mut self.busy };
        ranking.remove(stranger.address, id);
        true
    }
}

/// Connections by address, and the addresses by how many they have; of those that have as many, the one with the oldest is last.
#[derive(Debug, Default)]
struct AddressRanking {
    by_address: HashMap<IpAddr, BTreeSet<ConnectionId>>,
    ranks: BTreeSet<(usize, Reverse<ConnectionId>, IpAddr)>,
}

impl AddressRanking {
    fn count(&self, address: IpAddr) -> usize {
        self.by_address.get(&address).map_or(0, BTreeSet::len)
    }

    fn oldest_of(&self, address: IpAddr) -> Option<ConnectionId> {
        self.by_address.get(&address).and_then(BTreeSet::first).copied()
    }

    /// The oldest connection of the address that has most.
    fn oldest(&self) -> Option<ConnectionId> {
        self.ranks.last().map(|(_, Reverse(oldest), _)| *oldest)
    }

    fn insert(&mut self, address: IpAddr, id: ConnectionId) {
        self.change(address, |ids| {
            ids.insert(id);
        });
    }

    fn remove(&mut self, address: IpAddr, id: ConnectionId) {
        self.change(address, |ids| {
            ids.remove(&id);
        });
    }

    fn change(&mut self, address: IpAddr, change: impl FnOnce(&mut BTreeSet<ConnectionId>)) {
        let mut ids = self.by_address.remove(&address).unwrap_or_default();
        if let Some(oldest) = ids.first() {
            self.ranks.remove(&(ids.len(), Reverse(*oldest), address));
        }
        change(&mut ids);
        if let Some(oldest) = ids.first() {
            self.ranks.insert((ids.len(), Reverse(*oldest), address));
            self.by_address.insert(address, ids);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    const AGE: Duration = Duration::from_millis(20);

    fn table(connections: usize, strangers: usize, per_address: usize) -> ConnectionTable {
        ConnectionTable::new(ConnectionLimits {
            connections,
            strangers,
            strangers_per_address: per_address,
            closing: 1_000,
            eviction_age: AGE,
        })
    }

    fn ip(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    /// Enters `count` connections from an address at this second.
    fn enter(table: &mut ConnectionTable, address: u8, second: u64) -> Entered {
        table.enter(ip(address), Duration::from_secs(second)).unwrap()
    }

    #[test]
    fn an_address_whose_share_is_full_loses_its_oldest() {
        let mut table = table(10, 8, 2);
        let other = enter(&mut table, 2, 0);
        let first = enter(&mut table, 1, 1);
        let second = enter(&mut table, 1, 2);
        assert_eq!([other, first, second].map(|entered| entered.evicted), [None; 3]);
        assert_eq!(enter(&mut table, 1, 3).evicted, Some(first.id));
        assert_eq!(enter(&mut table, 2, 4).evicted, None);
        assert_eq!(enter(&mut table, 1, 5).evicted, Some(second.id));
    }

    #[test]
    fn of_all_strangers_the_oldest_of_the_address_with_most_is_evicted() {
        let mut table = table(10, 4, 4);
        let single = enter(&mut table, 1, 0);
        let crowd = [1, 2, 3].map(|second| enter(&mut table, 2, second));
        assert_eq!(enter(&mut table, 3, 4).evicted, Some(crowd[0].id));
        // The addresses 1 and 3 have one each, and 2 has two.
        assert_eq!(enter(&mut table, 4, 5).evicted, Some(crowd[1].id));
        // All have one now: the oldest goes.
        assert_eq!(enter(&mut table, 5, 6).evicted, Some(single.id));
    }

    #[test]
    fn strangers_with_a_request_are_evicted_last() {
        let mut table = table(10, 2, 2);
        let [busy, idle] = [0, 1].map(|second| enter(&mut table, 1, second));
        table.begin_request(busy.id);
        table.begin_request(busy.id);
        table.end_request(busy.id);
        let newer = enter(&mut table, 1, 2);
        assert_eq!(newer.evicted, Some(idle.id));
        table.begin_request(newer.id);
        let newest = enter(&mut table, 1, 3);
        assert_eq!(newest.evicted, Some(busy.id), "all have requests");
        table.end_request(newer.id);
        assert_eq!(enter(&mut table, 2, 4).evicted, Some(newer.id));
    }

    #[test]
    fn known_connections_are_never_evicted_and_may_take_all_slots() {
        let mut table = table(3, 2, 2);
        let known = [0, 1, 2].map(|second| {
            let entered = enter(&mut table, 1, second);
            assert_eq!(entered.evicted, None);
            assert!(table.has_room());
            table.show_key(entered.id);
            entered.id
        });
        assert!(!table.has_room(), "the listener waits");
        // One that was accepted meanwhile.
        assert_eq!(enter(&mut table, 1, 3).evicted, None);
        table.leave(known[0]);
        assert!(table.has_room());
    }

    #[test]
    fn a_young_connection_is_not_evicted_yet() {
        let mut table = table(10, 1, 1);
        let first = table.enter(ip(1), Duration::ZERO).unwrap();
        let after = |ms| Duration::from_millis(ms);
        assert_eq!(table.enter(ip(1), after(5)), Err(TooYoung(after(15))));
        assert_eq!(table.enter(ip(1), after(20)).unwrap().evicted, Some(first.id));
    }

    #[test]
    fn the_listener_waits_for_evicted_connections_to_end() {
        let mut table = table(10, 1, 1);
        table.limits.closing = 1;
        let first = enter(&mut table, 1, 0);
        enter(&mut table, 1, 1);
        assert!(!table.has_room());
        table.show_key(first.id);
        assert!(!table.has_room(), "it was evicted before");
        table.leave(first.id);
        assert!(table.has_room());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Enter(u8),
        ShowKey(usize),
        Begin(usize),
        End(usize),
        Leave(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..4_u8).prop_map(Step::Enter),
            1 => any::<usize>().prop_map(Step::ShowKey),
            1 => any::<usize>().prop_map(Step::Begin),
            1 => any::<usize>().prop_map(Step::End),
            2 => any::<usize>().prop_map(Step::Leave),
        ]
    }

    /// A connection that has not ended, as a naive model knows it.
    #[derive(Clone, Copy, Debug)]
    struct Open {
        id: ConnectionId,
        address: IpAddr,
        is_known: bool,
    }

    proptest! {
        #[test]
        fn newcomers_always_get_in_and_shares_hold(steps in prop::collection::vec(step(), 1..200)) {
            let mut table = table(8, 5, 3);
            let mut open: Vec<Open> = Vec::new();
            for (at, step) in steps.into_iter().enumerate() {
                let nth = |n: usize| (!open.is_empty()).then(|| n % open.len());
                match step {
                    Step::Enter(last) if table.has_room() => {
                        let entered = table.enter(ip(last), AGE * (at as u32 + 1));
                        prop_assert!(entered.is_ok(), "all others are old enough");
                        let Ok(Entered { id, evicted }) = entered else { continue };
                        if let Some(evicted) = evicted {
                            let victim = open.iter().position(|open| open.id == evicted);
                            prop_assert!(victim.is_some_and(|n| !open[n].is_known), "{evicted:?}");
                            open.retain(|open| open.id != evicted);
                            table.leave(evicted);
                        }
                        open.push(Open { id, address: ip(last), is_known: false });
                    }
                    Step::Enter(_) => {
                        let known = open.iter().filter(|open| open.is_known).count();
                        prop_assert_eq!(known, 8, "only known connections keep others out");
                    }
                    Step::ShowKey(n) => {
                        if let Some(n) = nth(n) {
                            open[n].is_known = true;
                            table.show_key(open[n].id);
                        }
                    }
                    Step::Begin(n) => nth(n).into_iter().for_each(|n| table.begin_request(open[n].id)),
                    Step::End(n) => nth(n).into_iter().for_each(|n| table.end_request(open[n].id)),
                    Step::Leave(n) => {
                        if let Some(n) = nth(n) {
                            table.leave(open.remove(n).id);
                        }
                    }
                }
                let strangers: Vec<IpAddr> =
                    open.iter().filter(|open| !open.is_known).map(|open| open.address).collect();
                prop_assert!(open.len() <= 8 && strangers.len() <= 5);
                for last in 0..4 {
                    prop_assert!(strangers.iter().filter(|address| **address == ip(last)).count() <= 3);
                }
                prop_assert_eq!(table.strangers.len(), strangers.len());
                prop_assert_eq!(table.known.len(), open.len() - strangers.len());
            }
        }
    }
}
