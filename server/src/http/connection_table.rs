//! Which network connections are open, and which one is evicted when a new one needs its slot. Pure
//! data structure: time is a parameter.
//!
//! A connection is *unauthenticated* until its first request with a valid key, and *authenticated*
//! from then on; a public key does not authenticate it. Unauthenticated connections have a share of
//! all connections, and each address has a share of that. They never delay others: if a share is
//! full, a new connection evicts an older one at once or is refused:
//!
//! ```text
//! share of the address is full           oldest evictable connection of that address, else refused
//! share of unauthenticated connections,
//! or all connections, is full:
//!   another address has more than this   oldest evictable connection of the address with the most,
//!                                        else its oldest
//!   no address has more                  oldest evictable connection of this address, else refused
//! all connections are authenticated      the listener stops accepting until one of them closes
//! ```
//!
//! A connection is *evictable* once its client had the chance to send a key: some time after the
//! first read of its socket, or once it has received a response without having sent one. An address
//! that connects too often is therefore refused itself, and an address with fewer connections than
//! others is admitted.
//!
//! Connections with a request in progress are evicted last. Authenticated connections are never
//! evicted, and an evicted one that sends a key before it has closed becomes authenticated.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

/// Maximum number of connections evicted for a new one: one more than needed, since evicted
/// connections that send a key count again.
const EVICTED_AT_ONCE_MAX: usize = 2;

/// The identity of a connection. Later connections have larger ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ConnectionId(u64);

/// The maximum numbers of open connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionLimits {
    /// All connections.
    pub(super) connections: usize,
    /// Unauthenticated connections.
    pub(super) unauthenticated: usize,
    /// Unauthenticated connections of one address.
    pub(super) unauthenticated_per_address: usize,
    /// Evicted connections that have not closed yet.
    pub(super) closing: usize,
    /// Time from the first read of its socket until an unauthenticated connection is evictable.
    pub(super) eviction_age: Duration,
}

/// A connection that was assigned a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    pub(super) id: ConnectionId,
    /// The connections that were evicted for it.
    pub(super) evicted: Vec<ConnectionId>,
}

/// A new connection was refused: its address has its share, and none of those connections is
/// evictable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

/// The open connections.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    limits: ConnectionLimits,
    next: u64,
    authenticated: HashSet<ConnectionId>,
    unauthenticated: HashMap<ConnectionId, Unauthenticated>,
    addresses: ConnectionsByAddress,
    /// Evicted connections that have not closed yet.
    closing: HashSet<ConnectionId>,
}

#[derive(Clone, Copy, Debug)]
struct Unauthenticated {
    address: IpAddr,
    /// The time from which it is evictable; `None` until the first read of its socket.
    evictable_at: Option<Duration>,
    /// The number of requests in progress.
    requests: usize,
}

/// The order in which connections of an address are evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EvictionClass {
    /// No request is in progress.
    Idle,
    /// A request is in progress.
    InProgress,
    /// The socket was not read yet and may contain a key.
    Unread,
}

/// The eviction order of a connection among those of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EvictionRank {
    class: EvictionClass,
    evictable_at: Duration,
    id: ConnectionId,
}

impl Unauthenticated {
    fn rank(&self, id: ConnectionId) -> EvictionRank {
        let class = match self {
            Self { requests: 1.., .. } => EvictionClass::InProgress,
            Self { evictable_at: None, .. } => EvictionClass::Unread,
            Self { .. } => EvictionClass::Idle,
        };
        EvictionRank { class, evictable_at: self.evictable_at.unwrap_or(Duration::MAX), id }
    }
}

impl ConnectionTable {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            next: 0,
            authenticated: HashSet::new(),
            unauthenticated: HashMap::new(),
            addresses: ConnectionsByAddress::default(),
            closing: HashSet::new(),
        }
    }

    /// Returns whether the listener may accept a connection.
    pub(super) fn may_accept(&self) -> bool {
        self.authenticated.len() < self.limits.connections
            && self.closing.len() < self.limits.closing
    }

    /// Assigns a slot to a new connection, or refuses it.
    ///
    /// If all connections have authenticated since [`Self::may_accept`], the limit is exceeded by
    /// one: the connection has been accepted already.
    pub(super) fn enter(&mut self, address: IpAddr, now: Duration) -> Result<Entered, Refused> {
        let mut evicted = Vec::new();
        while evicted.len() < EVICTED_AT_ONCE_MAX
            && let Some(evict_from) = self.address_to_evict_from(address)
        {
            let mut evicted_id = self.addresses.evictable_of(evict_from, now);
            if evict_from != address {
                evicted_id = evicted_id.or_else(|| self.addresses.first_of(evict_from));
            }
            match evicted_id {
                Some(id) => {
                    self.remove_unauthenticated(id);
                    self.closing.insert(id);
                    evicted.push(id);
                }
                None if evicted.is_empty() => return Err(Refused),
                None => break,
            }
        }
        let id = ConnectionId(self.next);
        self.next += 1;
        let connection = Unauthenticated { address, evictable_at: None, requests: 0 };
        self.unauthenticated.insert(id, connection);
        self.addresses.insert(address, connection.rank(id));
        Ok(Entered { id, evicted })
    }

    /// Records the first read of the socket. From now on, the client has had time to send a key.
    pub(super) fn socket_read(&mut self, id: ConnectionId, now: Duration) {
        let evictable_at = now.saturating_add(self.limits.eviction_age);
        self.change(id, |connection| {
            connection.evictable_at.get_or_insert(evictable_at);
        });
    }

    /// Records that the client has sent a valid key that is not public.
    pub(super) fn show_key(&mut self, id: ConnectionId) {
        if self.remove_unauthenticated(id) || self.closing.remove(&id) {
            self.authenticated.insert(id);
        }
    }

    /// Records the start of a request.
    pub(super) fn begin_request(&mut self, id: ConnectionId) {
        self.change(id, |connection| connection.requests += 1);
    }

    /// Records the end of a request.
    pub(super) fn end_request(&mut self, id: ConnectionId) {
        self.change(id, |connection| connection.requests = connection.requests.saturating_sub(1));
    }

    /// Records that a response was produced. If the connection is still unauthenticated, the
    /// request had no key.
    pub(super) fn answered(&mut self, id: ConnectionId, now: Duration) {
        self.change(id, |connection| {
            connection.evictable_at = Some(connection.evictable_at.map_or(now, |at| at.min(now)));
        });
    }

    /// Removes a closed connection.
    pub(super) fn leave(&mut self, id: ConnectionId) {
        if !self.remove_unauthenticated(id) && !self.authenticated.remove(&id) {
            self.closing.remove(&id);
        }
    }

    /// Returns the address that must lose a connection before a new one of `address` is admitted.
    fn address_to_evict_from(&self, address: IpAddr) -> Option<IpAddr> {
        let own = self.addresses.count(address);
        if own >= self.limits.unauthenticated_per_address {
            return Some(address);
        }
        let unauthenticated = self.unauthenticated.len();
        let is_full = unauthenticated >= self.limits.unauthenticated
            || self.authenticated.len() + unauthenticated >= self.limits.connections;
        let (most, largest) = self.addresses.largest().filter(|_| is_full)?;
        Some(if most > own { largest } else { address })
    }

    fn change(&mut self, id: ConnectionId, change: impl FnOnce(&mut Unauthenticated)) {
        let Some(connection) = self.unauthenticated.get_mut(&id) else { return };
        let before = connection.rank(id);
        change(connection);
        let after = connection.rank(id);
        if before != after {
            let address = connection.address;
            self.addresses.remove(address, before);
            self.addresses.insert(address, after);
        }
    }

    fn remove_unauthenticated(&mut self, id: ConnectionId) -> bool {
        let Some(connection) = self.unauthenticated.remove(&id) else { return false };
        self.addresses.remove(connection.address, connection.rank(id));
        true
    }
}

/// Unauthenticated connections by address, and the addresses ranked by number of connections. Of
/// addresses with equal numbers, the one whose first connection is evicted first ranks highest.
#[derive(Debug, Default)]
struct ConnectionsByAddress {
    by_address: HashMap<IpAddr, BTreeSet<EvictionRank>>,
    ranks: BTreeSet<(usize, Reverse<EvictionRank>, IpAddr)>,
}

impl ConnectionsByAddress {
    fn count(&self, address: IpAddr) -> usize {
        self.by_address.get(&address).map_or(0, BTreeSet::len)
    }

    /// Returns the largest number of connections of an address, and that address.
    fn largest(&self) -> Option<(usize, IpAddr)> {
        self.ranks.last().map(|(count, _, address)| (*count, *address))
    }

    /// Returns the oldest evictable connection of an address; one with a request in progress only
    /// if there is no other.
    fn evictable_of(&self, address: IpAddr, now: Duration) -> Option<ConnectionId> {
        let ranks_of_address = self.by_address.get(&address)?;
        [EvictionClass::Idle, EvictionClass::InProgress].into_iter().find_map(|class| {
            let least = EvictionRank { class, evictable_at: Duration::ZERO, id: ConnectionId(0) };
            let first = ranks_of_address.range(least..).next()?;
            (first.class == class && first.evictable_at <= now).then_some(first.id)
        })
    }

    /// Returns the connection of an address that is evicted first, evictable or not.
    fn first_of(&self, address: IpAddr) -> Option<ConnectionId> {
        self.by_address.get(&address)?.first().map(|rank| rank.id)
    }

    fn insert(&mut self, address: IpAddr, rank: EvictionRank) {
        self.change(address, |ranks_of_address| {
            ranks_of_address.insert(rank);
        });
    }

    fn remove(&mut self, address: IpAddr, rank: EvictionRank) {
        self.change(address, |ranks_of_address| {
            ranks_of_address.remove(&rank);
        });
    }

    fn change(&mut self, address: IpAddr, change: impl FnOnce(&mut BTreeSet<EvictionRank>)) {
        let mut ranks_of_address = self.by_address.remove(&address).unwrap_or_default();
        if let Some(first) = ranks_of_address.first() {
            self.ranks.remove(&(ranks_of_address.len(), Reverse(*first), address));
        }
        change(&mut ranks_of_address);
        if let Some(first) = ranks_of_address.first() {
            self.ranks.insert((ranks_of_address.len(), Reverse(*first), address));
            self.by_address.insert(address, ranks_of_address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    const AGE: Duration = Duration::from_millis(20);

    fn table(connections: usize, unauthenticated: usize, per_address: usize) -> ConnectionTable {
        ConnectionTable::new(ConnectionLimits {
            connections,
            unauthenticated,
            unauthenticated_per_address: per_address,
            closing: 1_000,
            eviction_age: AGE,
        })
    }

    fn ip(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    /// Enters a connection from an address at this second and records the first read of its socket.
    fn enter(table: &mut ConnectionTable, address: u8, second: u64) -> Entered {
        let now = Duration::from_secs(second);
        let entered = table.enter(ip(address), now).unwrap();
        table.socket_read(entered.id, now);
        entered
    }

    /// Enters a connection at this millisecond without reading. Returns the evicted connections.
    fn enter_at(
        table: &mut ConnectionTable,
        address: u8,
        ms: u64,
    ) -> Result<Vec<ConnectionId>, Refused> {
        table.enter(ip(address), Duration::from_millis(ms)).map(|entered| entered.evicted)
    }

    #[test]
    fn an_address_whose_share_is_full_loses_its_oldest() {
        let mut table = table(10, 8, 2);
        let other = enter(&mut table, 2, 0);
        let first = enter(&mut table, 1, 1);
        let second = enter(&mut table, 1, 2);
        for entered in [&other, &first, &second] {
            assert_eq!(entered.evicted, []);
        }
        assert_eq!(enter(&mut table, 1, 3).evicted, [first.id]);
        assert_eq!(enter(&mut table, 2, 4).evicted, []);
        assert_eq!(enter(&mut table, 1, 5).evicted, [second.id]);
    }

    #[test]
    fn the_oldest_connection_of_the_address_with_most_is_evicted() {
        let mut table = table(10, 4, 4);
        let single = enter(&mut table, 1, 0);
        let crowd = [1, 2, 3].map(|second| enter(&mut table, 2, second));
        assert_eq!(enter(&mut table, 3, 4).evicted, [crowd[0].id]);
        // Addresses 1 and 3 have one connection each, address 2 has two.
        assert_eq!(enter(&mut table, 4, 5).evicted, [crowd[1].id]);
        // All addresses have one connection now.
        assert_eq!(enter(&mut table, 5, 6).evicted, [single.id]);
    }

    #[test]
    fn connections_with_a_request_are_evicted_last() {
        let mut table = table(10, 2, 2);
        let [busy, idle] = [0, 1].map(|second| enter(&mut table, 1, second));
        table.begin_request(busy.id);
        table.begin_request(busy.id);
        table.end_request(busy.id);
        let newer = enter(&mut table, 1, 2);
        assert_eq!(newer.evicted, [idle.id]);
        table.begin_request(newer.id);
        let newest = enter(&mut table, 1, 3);
        assert_eq!(newest.evicted, [busy.id], "all have requests");
        table.end_request(newer.id);
        assert_eq!(enter(&mut table, 2, 4).evicted, [newer.id]);
    }

    #[test]
    fn requests_in_progress_do_not_protect_from_eviction() {
        let mut table = table(10, 8, 2);
        let busy = [0, 1].map(|second| enter(&mut table, 1, second).id);
        for id in busy {
            table.begin_request(id);
        }
        assert_eq!(enter_at(&mut table, 1, 2_000), Ok(vec![busy[0]]));
        assert_eq!(enter_at(&mut table, 1, 2_000), Ok(vec![busy[1]]), "the new one is younger");
        assert_eq!(enter_at(&mut table, 1, 2_000), Err(Refused));
    }

    #[test]
    fn authenticated_connections_are_never_evicted_and_may_take_all_slots() {
        let mut table = table(3, 2, 2);
        let authenticated = [0, 1, 2].map(|second| {
            let entered = enter(&mut table, 1, second);
            assert_eq!(entered.evicted, []);
            assert!(table.may_accept());
            table.show_key(entered.id);
            entered.id
        });
        assert!(!table.may_accept(), "the listener waits");
        // A connection that was accepted before.
        assert_eq!(enter(&mut table, 1, 3).evicted, []);
        table.leave(authenticated[0]);
        assert!(table.may_accept());
    }

    #[test]
    fn only_an_address_that_connects_too_often_is_refused() {
        let mut table = table(10, 4, 2);
        assert_eq!(enter_at(&mut table, 1, 0), Ok(vec![]));
        assert_eq!(enter_at(&mut table, 1, 0), Ok(vec![]));
        assert_eq!(enter_at(&mut table, 1, 0), Err(Refused));
        assert_eq!(enter_at(&mut table, 2, 0), Ok(vec![]));
        assert_eq!(enter_at(&mut table, 2, 0), Ok(vec![]));
        // The share of unauthenticated connections is full, and none is evictable.
        assert_eq!(enter_at(&mut table, 3, 0), Ok(vec![ConnectionId(0)]));
        assert_eq!(enter_at(&mut table, 1, 0), Ok(vec![ConnectionId(2)]), "address 2 has the most");
        assert_eq!(enter_at(&mut table, 1, 0), Err(Refused));
    }

    #[test]
    fn a_connection_is_evictable_some_time_after_its_first_read() {
        let mut table = table(10, 1, 1);
        let first = table.enter(ip(1), Duration::ZERO).unwrap();
        assert_eq!(enter_at(&mut table, 1, 60_000), Err(Refused), "it may have sent its key");
        table.socket_read(first.id, Duration::from_secs(60));
        table.socket_read(first.id, Duration::from_secs(70));
        assert_eq!(enter_at(&mut table, 1, 60_019), Err(Refused));
        assert_eq!(enter_at(&mut table, 1, 60_020), Ok(vec![first.id]));
    }

    #[test]
    fn a_connection_with_a_response_but_no_key_is_evictable() {
        let mut table = table(10, 1, 1);
        let first = table.enter(ip(1), Duration::ZERO).unwrap();
        table.socket_read(first.id, Duration::ZERO);
        table.answered(first.id, Duration::from_millis(3));
        assert_eq!(enter_at(&mut table, 1, 3), Ok(vec![first.id]));
    }

    #[test]
    fn an_evicted_connection_that_sends_a_key_is_authenticated() {
        let mut table = table(3, 2, 2);
        let first = enter(&mut table, 1, 0);
        enter(&mut table, 1, 1);
        let third = enter(&mut table, 1, 2);
        assert_eq!(third.evicted, [first.id]);
        table.show_key(first.id);
        assert_eq!((table.authenticated.len(), table.unauthenticated.len()), (1, 2));
        table.show_key(third.id);
        // Two are authenticated, which leaves capacity for the one unauthenticated connection.
        assert_eq!(enter(&mut table, 2, 3).evicted, [ConnectionId(1)]);
        table.show_key(ConnectionId(1));
        assert_eq!(
            (table.authenticated.len(), table.unauthenticated.len()),
            (3, 1),
            "one too many"
        );
        table.leave(first.id);
        assert_eq!(enter(&mut table, 3, 4).evicted.len(), 1);
    }

    #[test]
    fn the_listener_waits_for_evicted_connections_to_close() {
        let mut table = table(10, 1, 1);
        table.limits.closing = 1;
        let first = enter(&mut table, 1, 0);
        enter(&mut table, 1, 1);
        assert!(!table.may_accept());
        table.leave(first.id);
        assert!(table.may_accept());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Enter(u8),
        SocketRead(usize),
        ShowKey(usize),
        Begin(usize),
        End(usize),
        Answer(usize),
        Leave(usize),
        Pass(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (0..6_u8).prop_map(Step::Enter),
            // An address that floods.
            8 => Just(Step::Enter(0)),
            6 => any::<usize>().prop_map(Step::SocketRead),
            1 => any::<usize>().prop_map(Step::ShowKey),
            2 => any::<usize>().prop_map(Step::Begin),
            2 => any::<usize>().prop_map(Step::End),
            2 => any::<usize>().prop_map(Step::Answer),
            3 => any::<usize>().prop_map(Step::Leave),
            4 => (0..30_u64).prop_map(Step::Pass),
        ]
    }

    /// An open connection, in a naive model.
    #[derive(Clone, Copy, Debug)]
    struct Open {
        id: ConnectionId,
        address: IpAddr,
        is_authenticated: bool,
    }

    /// Returns the number of unauthenticated connections of an address.
    fn count_of(open: &[Open], address: IpAddr) -> usize {
        open.iter().filter(|open| !open.is_authenticated && open.address == address).count()
    }

    proptest! {
        #[test]
        fn addresses_with_few_connections_are_admitted_and_limits_hold(
            steps in prop::collection::vec(step(), 1..300),
        ) {
            let mut table = table(12, 7, 4);
            let mut open: Vec<Open> = Vec::new();
            let mut now = Duration::ZERO;
            for step in steps {
                let nth = |n: usize| open.get(n.checked_rem(open.len())?).map(|open| open.id);
                match step {
                    Step::Enter(last) if table.may_accept() => {
                        let address = ip(last);
                        let own = count_of(&open, address);
                        let most = (0..6).map(|last| count_of(&open, ip(last))).max().unwrap_or(0);
                        match table.enter(address, now) {
                            Err(Refused) => prop_assert!(own >= most && own > 0, "{own} of {most}"),
                            Ok(Entered { id, evicted }) => {
                                for evicted in evicted {
                                    let at = open.iter().position(|open| open.id == evicted);
                                    let victim = at.map(|at| open.remove(at));
                                    let is_fair = victim.is_some_and(|victim| {
                                        let others = count_of(&open, victim.address) + 1;
                                        !victim.is_authenticated && (victim.address == address || others > own)
                                    });
                                    prop_assert!(is_fair, "{victim:?} for {address}");
                                    table.leave(evicted);
                                }
                                open.push(Open { id, address, is_authenticated: false });
                            }
                        }
                    }
                    Step::Enter(_) => {
                        let authenticated = open.iter().filter(|open| open.is_authenticated).count();
                        prop_assert_eq!(authenticated, 12, "only authenticated connections delay others");
                    }
                    Step::SocketRead(n) => nth(n).into_iter().for_each(|id| table.socket_read(id, now)),
                    Step::ShowKey(n) => {
                        if let Some(id) = nth(n) {
                            open.iter_mut().filter(|open| open.id == id).for_each(|o| o.is_authenticated = true);
                            table.show_key(id);
                        }
                    }
                    Step::Begin(n) => nth(n).into_iter().for_each(|id| table.begin_request(id)),
                    Step::End(n) => nth(n).into_iter().for_each(|id| table.end_request(id)),
                    Step::Answer(n) => nth(n).into_iter().for_each(|id| table.answered(id, now)),
                    Step::Leave(n) => {
                        if let Some(id) = nth(n) {
                            open.retain(|open| open.id != id);
                            table.leave(id);
                        }
                    }
                    Step::Pass(ms) => now += Duration::from_millis(ms),
                }
                let unauthenticated = open.iter().filter(|open| !open.is_authenticated).count();
                prop_assert!(open.len() <= 12 && unauthenticated <= 7);
                prop_assert!((0..6).all(|last| count_of(&open, ip(last)) <= 4));
                prop_assert_eq!(table.unauthenticated.len(), unauthenticated);
                prop_assert_eq!(table.authenticated.len(), open.len() - unauthenticated);
            }
        }
    }
}
