//! Which network connections are open, and which one is evicted when a new one needs its slot. Pure data: time is a parameter.
//!
//! A connection begins as one of a *stranger*, a client that has not shown a valid key, and becomes *known* with its first request that
//! has one; a public key makes nobody known. Strangers have a share of all connections, and every address has a share of that. Nobody
//! waits for a stranger: where a share is full, a new connection takes the slot of an older one at once, or is refused:
//!
//! ```text
//! the share of its address is full             the oldest ripe stranger of that address, else it is refused
//! the share of strangers, or all, is full:
//!   some address has more than its own         the oldest ripe stranger of the address that has most, else its oldest
//!   none has                                   the oldest ripe stranger of its own address, else it is refused
//! all connections are known                    the listener stops accepting until one of them closes
//! ```
//!
//! A stranger is *ripe* when it has had its chance to show a key: some time after its socket was first looked at, or once it was answered
//! without one. So who connects too often is refused for it, and whoever has fewer connections than others gets in.
//!
//! Strangers whose request is being handled are evicted last. Known connections are never evicted, and an evicted one that shows a key
//! before it has ended is known.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

/// Connections that are evicted for a new one, at most: one more than it needs, since evicted ones that show a key count again.
const EVICTED_AT_ONCE_MAX: usize = 2;

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
    /// How long after its socket was first looked at a stranger's connection is ripe.
    pub(super) eviction_age: Duration,
}

/// A connection that got a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    pub(super) id: ConnectionId,
    /// The connections that have to end for it.
    pub(super) evicted: Vec<ConnectionId>,
}

/// A new connection is refused: its address has its share, and none of those connections is ripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

/// The open connections.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    limits: ConnectionLimits,
    next: u64,
    known: HashSet<ConnectionId>,
    strangers: HashMap<ConnectionId, Stranger>,
    holdings: Holdings,
    /// Evicted, and not ended yet.
    closing: HashSet<ConnectionId>,
}

#[derive(Clone, Copy, Debug)]
struct Stranger {
    address: IpAddr,
    /// When it is ripe. `None` until its socket was looked at.
    ripe_at: Option<Duration>,
    /// Requests that are being handled.
    requests: usize,
}

/// In which order the connections of an address are evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// Nothing is done for it.
    Rests,
    /// A request of it is being handled.
    IsHandled,
    /// Its socket was not looked at yet: there may be a key in it.
    IsUnread,
}

/// The place of a stranger among those of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    standing: Standing,
    ripe_at: Duration,
    id: ConnectionId,
}

impl Stranger {
    fn place(&self, id: ConnectionId) -> Place {
        let standing = match self {
            Self { requests: 1.., .. } => Standing::IsHandled,
            Self { ripe_at: None, .. } => Standing::IsUnread,
            Self { .. } => Standing::Rests,
        };
        Place { standing, ripe_at: self.ripe_at.unwrap_or(Duration::MAX), id }
    }
}

impl ConnectionTable {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            next: 0,
            known: HashSet::new(),
            strangers: HashMap::new(),
            holdings: Holdings::default(),
            closing: HashSet::new(),
        }
    }

    /// Returns whether the listener may accept a connection.
    pub(super) fn has_room(&self) -> bool {
        self.known.len() < self.limits.connections && self.closing.len() < self.limits.closing
    }

    /// Gives a slot to a new connection, or refuses it.
    ///
    /// Where all connections have become known since [`Self::has_room`] there is one too many: it has been accepted already.
    pub(super) fn enter(&mut self, address: IpAddr, now: Duration) -> Result<Entered, Refused> {
        let mut evicted = Vec::new();
        while evicted.len() < EVICTED_AT_ONCE_MAX
            && let Some(holder) = self.crowded_by(address)
        {
            let mut victim = self.holdings.ripe_of(holder, now);
            if holder != address {
                victim = victim.or_else(|| self.holdings.first_of(holder));
            }
            match victim {
                Some(id) => {
                    self.remove_stranger(id);
                    self.closing.insert(id);
                    evicted.push(id);
                }
                None if evicted.is_empty() => return Err(Refused),
                None => break,
            }
        }
        let id = ConnectionId(self.next);
        self.next += 1;
        let stranger = Stranger { address, ripe_at: None, requests: 0 };
        self.strangers.insert(id, stranger);
        self.holdings.insert(address, stranger.place(id));
        Ok(Entered { id, evicted })
    }

    /// The socket of the connection is looked at for the first time: from now on its client has had the time to show a key.
    pub(super) fn look(&mut self, id: ConnectionId, now: Duration) {
        let ripe_at = now.saturating_add(self.limits.eviction_age);
        self.change(id, |stranger| {
            stranger.ripe_at.get_or_insert(ripe_at);
        });
    }

    /// The client has shown a valid key.
    pub(super) fn show_key(&mut self, id: ConnectionId) {
        if self.remove_stranger(id) || self.closing.remove(&id) {
            self.known.insert(id);
        }
    }

    /// A request begins to be handled.
    pub(super) fn begin_request(&mut self, id: ConnectionId) {
        self.change(id, |stranger| stranger.requests += 1);
    }

    /// A request has been handled.
    pub(super) fn end_request(&mut self, id: ConnectionId) {
        self.change(id, |stranger| stranger.requests = stranger.requests.saturating_sub(1));
    }

    /// A request was answered, which had no key where the connection is still one of a stranger.
    pub(super) fn answered(&mut self, id: ConnectionId, now: Duration) {
        self.change(id, |stranger| {
            stranger.ripe_at = Some(stranger.ripe_at.map_or(now, |at| at.min(now)));
        });
    }

    /// The connection has ended.
    pub(super) fn leave(&mut self, id: ConnectionId) {
        if !self.remove_stranger(id) && !self.known.remove(&id) {
            self.closing.remove(&id);
        }
    }

    /// The address that has to lose a connection before a new one of this address may enter.
    fn crowded_by(&self, address: IpAddr) -> Option<IpAddr> {
        let own = self.holdings.count(address);
        if own >= self.limits.strangers_per_address {
            return Some(address);
        }
        let strangers = self.strangers.len();
        let is_full = strangers >= self.limits.strangers
            || self.known.len() + strangers >= self.limits.connections;
        let (most, largest) = self.holdings.largest().filter(|_| is_full)?;
        Some(if most > own { largest } else { address })
    }

    fn change(&mut self, id: ConnectionId, change: impl FnOnce(&mut Stranger)) {
        let Some(stranger) = self.strangers.get_mut(&id) else { return };
        let before = stranger.place(id);
        change(stranger);
        let after = stranger.place(id);
        if before != after {
            let address = stranger.address;
            self.holdings.remove(address, before);
            self.holdings.insert(address, after);
        }
    }

    fn remove_stranger(&mut self, id: ConnectionId) -> bool {
        let Some(stranger) = self.strangers.remove(&id) else { return false };
        self.holdings.remove(stranger.address, stranger.place(id));
        true
    }
}

/// Strangers by address, and the addresses by how many they have; of those that have as many, the one whose first is evicted first is
/// last.
#[derive(Debug, Default)]
struct Holdings {
    by_address: HashMap<IpAddr, BTreeSet<Place>>,
    ranks: BTreeSet<(usize, Reverse<Place>, IpAddr)>,
}

impl Holdings {
    fn count(&self, address: IpAddr) -> usize {
        self.by_address.get(&address).map_or(0, BTreeSet::len)
    }

    /// How many the address has that has most, and that address.
    fn largest(&self) -> Option<(usize, IpAddr)> {
        self.ranks.last().map(|(count, _, address)| (*count, *address))
    }

    /// The oldest connection of an address that has had its chance; one that is being handled only if there is no other.
    fn ripe_of(&self, address: IpAddr, now: Duration) -> Option<ConnectionId> {
        let places = self.by_address.get(&address)?;
        [Standing::Rests, Standing::IsHandled].into_iter().find_map(|standing| {
            let least = Place { standing, ripe_at: Duration::ZERO, id: ConnectionId(0) };
            let first = places.range(least..).next()?;
            (first.standing == standing && first.ripe_at <= now).then_some(first.id)
        })
    }

    /// The connection of an address that is evicted first, ripe or not.
    fn first_of(&self, address: IpAddr) -> Option<ConnectionId> {
        self.by_address.get(&address)?.first().map(|place| place.id)
    }

    fn insert(&mut self, address: IpAddr, place: Place) {
        self.change(address, |places| {
            places.insert(place);
        });
    }

    fn remove(&mut self, address: IpAddr, place: Place) {
        self.change(address, |places| {
            places.remove(&place);
        });
    }

    fn change(&mut self, address: IpAddr, change: impl FnOnce(&mut BTreeSet<Place>)) {
        let mut places = self.by_address.remove(&address).unwrap_or_default();
        if let Some(first) = places.first() {
            self.ranks.remove(&(places.len(), Reverse(*first), address));
        }
        change(&mut places);
        if let Some(first) = places.first() {
            self.ranks.insert((places.len(), Reverse(*first), address));
            self.by_address.insert(address, places);
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

    /// Enters a connection from an address at this second, and looks at its socket.
    fn enter(table: &mut ConnectionTable, address: u8, second: u64) -> Entered {
        let now = Duration::from_secs(second);
        let entered = table.enter(ip(address), now).unwrap();
        table.look(entered.id, now);
        entered
    }

    /// The same at this millisecond, without looking. Returns what was evicted for it.
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
    fn of_all_strangers_the_oldest_of_the_address_with_most_is_evicted() {
        let mut table = table(10, 4, 4);
        let single = enter(&mut table, 1, 0);
        let crowd = [1, 2, 3].map(|second| enter(&mut table, 2, second));
        assert_eq!(enter(&mut table, 3, 4).evicted, [crowd[0].id]);
        // The addresses 1 and 3 have one each, and 2 has two.
        assert_eq!(enter(&mut table, 4, 5).evicted, [crowd[1].id]);
        // All have one now: the oldest goes.
        assert_eq!(enter(&mut table, 5, 6).evicted, [single.id]);
    }

    #[test]
    fn strangers_with_a_request_are_evicted_last() {
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
    fn requests_do_not_shield_old_strangers_from_newcomers() {
        let mut table = table(10, 8, 2);
        let busy = [0, 1].map(|second| enter(&mut table, 1, second).id);
        for id in busy {
            table.begin_request(id);
        }
        assert_eq!(enter_at(&mut table, 1, 2_000), Ok(vec![busy[0]]));
        assert_eq!(enter_at(&mut table, 1, 2_000), Ok(vec![busy[1]]), "the newcomer is younger");
        assert_eq!(enter_at(&mut table, 1, 2_000), Err(Refused));
    }

    #[test]
    fn known_connections_are_never_evicted_and_may_take_all_slots() {
        let mut table = table(3, 2, 2);
        let known = [0, 1, 2].map(|second| {
            let entered = enter(&mut table, 1, second);
            assert_eq!(entered.evicted, []);
            assert!(table.has_room());
            table.show_key(entered.id);
            entered.id
        });
        assert!(!table.has_room(), "the listener waits");
        // One that was accepted meanwhile.
        assert_eq!(enter(&mut table, 1, 3).evicted, []);
        table.leave(known[0]);
        assert!(table.has_room());
    }

    #[test]
    fn who_connects_too_often_is_refused_and_nobody_else() {
        let mut table = table(10, 4, 2);
        assert_eq!(enter_at(&mut table, 1, 0), Ok(vec![]));
        assert_eq!(enter_at(&mut table, 1, 0), Ok(vec![]));
        assert_eq!(enter_at(&mut table, 1, 0), Err(Refused));
        assert_eq!(enter_at(&mut table, 2, 0), Ok(vec![]));
        assert_eq!(enter_at(&mut table, 2, 0), Ok(vec![]));
        // The share of all is full, and none is ripe.
        assert_eq!(enter_at(&mut table, 3, 0), Ok(vec![ConnectionId(0)]));
        assert_eq!(enter_at(&mut table, 1, 0), Ok(vec![ConnectionId(2)]), "2 has most");
        assert_eq!(enter_at(&mut table, 1, 0), Err(Refused));
    }

    #[test]
    fn a_connection_is_ripe_some_time_after_its_socket_was_looked_at() {
        let mut table = table(10, 1, 1);
        let first = table.enter(ip(1), Duration::ZERO).unwrap();
        assert_eq!(enter_at(&mut table, 1, 60_000), Err(Refused), "it may have sent its key");
        table.look(first.id, Duration::from_secs(60));
        table.look(first.id, Duration::from_secs(70));
        assert_eq!(enter_at(&mut table, 1, 60_019), Err(Refused));
        assert_eq!(enter_at(&mut table, 1, 60_020), Ok(vec![first.id]));
    }

    #[test]
    fn who_was_answered_without_a_key_is_ripe() {
        let mut table = table(10, 1, 1);
        let first = table.enter(ip(1), Duration::ZERO).unwrap();
        table.look(first.id, Duration::ZERO);
        table.answered(first.id, Duration::from_millis(3));
        assert_eq!(enter_at(&mut table, 1, 3), Ok(vec![first.id]));
    }

    #[test]
    fn an_evicted_connection_that_shows_a_key_is_known() {
        let mut table = table(3, 2, 2);
        let first = enter(&mut table, 1, 0);
        enter(&mut table, 1, 1);
        let third = enter(&mut table, 1, 2);
        assert_eq!(third.evicted, [first.id]);
        table.show_key(first.id);
        assert_eq!((table.known.len(), table.strangers.len()), (1, 2));
        table.show_key(third.id);
        // Two are known, so there is room for one stranger, which is there.
        assert_eq!(enter(&mut table, 2, 3).evicted, [ConnectionId(1)]);
        table.show_key(ConnectionId(1));
        assert_eq!((table.known.len(), table.strangers.len()), (3, 1), "one too many");
        table.leave(first.id);
        assert_eq!(enter(&mut table, 3, 4).evicted.len(), 1);
    }

    #[test]
    fn the_listener_waits_for_evicted_connections_to_end() {
        let mut table = table(10, 1, 1);
        table.limits.closing = 1;
        let first = enter(&mut table, 1, 0);
        enter(&mut table, 1, 1);
        assert!(!table.has_room());
        table.leave(first.id);
        assert!(table.has_room());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Enter(u8),
        Look(usize),
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
            // One that floods.
            8 => Just(Step::Enter(0)),
            6 => any::<usize>().prop_map(Step::Look),
            1 => any::<usize>().prop_map(Step::ShowKey),
            2 => any::<usize>().prop_map(Step::Begin),
            2 => any::<usize>().prop_map(Step::End),
            2 => any::<usize>().prop_map(Step::Answer),
            3 => any::<usize>().prop_map(Step::Leave),
            4 => (0..30_u64).prop_map(Step::Pass),
        ]
    }

    /// A connection that has not ended, as a naive model knows it.
    #[derive(Clone, Copy, Debug)]
    struct Open {
        id: ConnectionId,
        address: IpAddr,
        is_known: bool,
    }

    /// How many connections of strangers an address has.
    fn held(open: &[Open], address: IpAddr) -> usize {
        open.iter().filter(|open| !open.is_known && open.address == address).count()
    }

    proptest! {
        #[test]
        fn newcomers_of_small_holders_always_get_in_and_shares_hold(
            steps in prop::collection::vec(step(), 1..300),
        ) {
            let mut table = table(12, 7, 4);
            let mut open: Vec<Open> = Vec::new();
            let mut now = Duration::ZERO;
            for step in steps {
                let nth = |n: usize| open.get(n.checked_rem(open.len())?).map(|open| open.id);
                match step {
                    Step::Enter(last) if table.has_room() => {
                        let address = ip(last);
                        let own = held(&open, address);
                        let most = (0..6).map(|last| held(&open, ip(last))).max().unwrap_or(0);
                        match table.enter(address, now) {
                            Err(Refused) => prop_assert!(own >= most && own > 0, "{own} of {most}"),
                            Ok(Entered { id, evicted }) => {
                                for evicted in evicted {
                                    let at = open.iter().position(|open| open.id == evicted);
                                    let victim = at.map(|at| open.remove(at));
                                    let is_fair = victim.is_some_and(|victim| {
                                        let others = held(&open, victim.address) + 1;
                                        !victim.is_known && (victim.address == address || others > own)
                                    });
                                    prop_assert!(is_fair, "{victim:?} for {address}");
                                    table.leave(evicted);
                                }
                                open.push(Open { id, address, is_known: false });
                            }
                        }
                    }
                    Step::Enter(_) => {
                        let known = open.iter().filter(|open| open.is_known).count();
                        prop_assert_eq!(known, 12, "only known connections keep others out");
                    }
                    Step::Look(n) => nth(n).into_iter().for_each(|id| table.look(id, now)),
                    Step::ShowKey(n) => {
                        if let Some(id) = nth(n) {
                            open.iter_mut().filter(|open| open.id == id).for_each(|o| o.is_known = true);
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
                let strangers = open.iter().filter(|open| !open.is_known).count();
                prop_assert!(open.len() <= 12 && strangers <= 7);
                prop_assert!((0..6).all(|last| held(&open, ip(last)) <= 4));
                prop_assert_eq!(table.strangers.len(), strangers);
                prop_assert_eq!(table.known.len(), open.len() - strangers);
            }
        }
    }
}
