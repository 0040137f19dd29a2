//! Slots of network connections: assignment to new connections, and notification of evicted ones.
//!
//! The eviction rules are those of [`super::connection_table`].

use std::collections::HashMap;
use std::future::pending;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::connection_table::{ConnectionId, ConnectionLimits, ConnectionTable, Refused};
use super::settings::Settings;
use super::telemetry::Telemetry;
use crate::limits;
use crate::platform::address_rates::network_of;
use crate::platform::ticks::Ticks;

/// The slots of all network connections.
#[derive(Debug)]
pub(super) struct ConnectionSlots {
    ticks: Ticks,
    inner: Mutex<Inner>,
    /// Notified when capacity may be available: a connection has closed, or an evicted one was
    /// kept.
    freed: Notify,
}

#[derive(Debug)]
struct Inner {
    table: ConnectionTable,
    /// Notifies unauthenticated connections of their eviction.
    evictions: HashMap<ConnectionId, Arc<Notify>>,
    /// The time of the last log line about evictions.
    logged_at: Option<Duration>,
    evicted_unlogged: u64,
}

/// The slot of an open connection, released on drop.
#[derive(Debug)]
pub(super) struct ConnectionSlot(Arc<SlotHandle>);

/// Reports what the connection that holds a slot does.
#[derive(Debug)]
pub(super) struct SlotHandle {
    slots: Arc<ConnectionSlots>,
    id: ConnectionId,
    is_unauthenticated: AtomicBool,
    evicted: Arc<Notify>,
}

impl ConnectionSlots {
    pub(super) fn new(settings: &Settings, ticks: Ticks) -> Arc<Self> {
        let table = ConnectionTable::new(limits_of(settings));
        let inner =
            Inner { table, evictions: HashMap::new(), logged_at: None, evicted_unlogged: 0 };
        Arc::new(Self { ticks, inner: Mutex::new(inner), freed: Notify::new() })
    }

    /// Waits until a connection may be accepted. Unauthenticated connections never delay it, since
    /// they can be evicted.
    pub(super) async fn wait_for_capacity(&self) {
        let mut freed = pin!(self.freed.notified());
        loop {
            // From here on no notification is missed.
            freed.as_mut().enable();
            if self.inner.lock().table.may_accept() {
                return;
            }
            freed.as_mut().await;
            freed.set(self.freed.notified());
        }
    }

    /// Assigns a slot to an accepted connection, possibly by evicting another. `None` means that
    /// the new connection must be closed.
    pub(super) async fn enter(
        self: &Arc<Self>,
        address: IpAddr,
        telemetry: &Telemetry,
    ) -> Option<ConnectionSlot> {
        // All other connections may have authenticated since the listener accepted this one.
        self.wait_for_capacity().await;
        let (id, evicted) = self.try_enter(network_of(address), telemetry)?;
        let (slots, is_unauthenticated) = (Arc::clone(self), AtomicBool::new(true));
        Some(ConnectionSlot(Arc::new(SlotHandle { slots, id, is_unauthenticated, evicted })))
    }

    fn try_enter(
        &self,
        address: IpAddr,
        telemetry: &Telemetry,
    ) -> Option<(ConnectionId, Arc<Notify>)> {
        let now = self.ticks.elapsed();
        let mut inner = self.inner.lock();
        let (id, closed) = match inner.table.enter(address, now) {
            Ok(entered) => (Some(entered.id), entered.evicted),
            Err(Refused) => (None, Vec::new()),
        };
        for other in &closed {
            if let Some(other) = inner.evictions.remove(other) {
                other.notify_one();
            }
        }
        let entered = id.map(|id| {
            let evicted = Arc::new(Notify::new());
            inner.evictions.insert(id, Arc::clone(&evicted));
            (id, evicted)
        });
        let mut to_log = None;
        for _ in 0..closed.len() + usize::from(id.is_none()) {
            telemetry.evicted();
            to_log = to_log.or(inner.evictions_to_log(now));
        }
        drop(inner);
        if let Some(connections) = to_log {
            tracing::warn!(
                connections,
                "unauthenticated connections were closed in favour of new ones"
            );
        }
        entered
    }
}

impl Inner {
    /// Counts an eviction. Returns the number of evictions since the last log line if another line
    /// is due.
    fn evictions_to_log(&mut self, now: Duration) -> Option<u64> {
        self.evicted_unlogged += 1;
        let pause = Duration::from_secs(limits::EVICTIONS_LOG_SECONDS);
        if self.logged_at.is_some_and(|at| now.saturating_sub(at) < pause) {
            return None;
        }
        self.logged_at = Some(now);
        Some(std::mem::take(&mut self.evicted_unlogged))
    }
}

impl ConnectionSlot {
    /// Returns the handle for reporting what the connection does.
    pub(super) fn handle(&self) -> Arc<SlotHandle> {
        Arc::clone(&self.0)
    }

    /// Waits until the connection is evicted. `None` stands for a connection that needs no slot.
    pub(super) async fn evicted(slot: Option<&Self>) {
        match slot {
            Some(Self(handle)) => handle.evicted.notified().await,
            None => pending().await,
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let SlotHandle { slots, id, .. } = &*self.0;
        let mut inner = slots.inner.lock();
        inner.table.leave(*id);
        inner.evictions.remove(id);
        drop(inner);
        slots.freed.notify_waiters();
    }
}

impl SlotHandle {
    /// Reports that the client has sent a valid key that is not public.
    pub(super) fn show_key(&self) {
        if self.is_unauthenticated.swap(false, Ordering::Relaxed) {
            let mut inner = self.slots.inner.lock();
            inner.table.show_key(self.id);
            inner.evictions.remove(&self.id);
            drop(inner);
            self.slots.freed.notify_waiters();
        }
    }

    /// Reports the first read of the socket.
    pub(super) fn socket_read(&self) {
        self.report(|table, now| table.socket_read(self.id, now));
    }

    /// Reports that a request is being handled.
    pub(super) fn begin_request(&self) {
        self.report(|table, _| table.begin_request(self.id));
    }

    /// Reports that a request has been handled.
    pub(super) fn end_request(&self) {
        self.report(|table, _| table.end_request(self.id));
    }

    /// Reports that a response was produced.
    pub(super) fn answered(&self) {
        self.report(|table, now| table.answered(self.id, now));
    }

    fn report(&self, apply: impl FnOnce(&mut ConnectionTable, Duration)) {
        if self.is_unauthenticated.load(Ordering::Relaxed) {
            let now = self.slots.ticks.elapsed();
            apply(&mut self.slots.inner.lock().table, now);
        }
    }
}

/// Returns the limits that follow from the settings.
fn limits_of(settings: &Settings) -> ConnectionLimits {
    let connections = settings.http.connections.max(1);
    let half = |whole: usize| (whole / 2).max(limits::UNAUTHENTICATED_CONNECTIONS_MIN);
    let unauthenticated =
        settings.http.stranger_connections.set().unwrap_or_else(|| half(connections));
    let unauthenticated = unauthenticated.clamp(1, connections);
    let per_address = settings
        .http
        .stranger_connections_per_address
        .set()
        .unwrap_or_else(|| half(unauthenticated));
    ConnectionLimits {
        connections,
        unauthenticated,
        unauthenticated_per_address: per_address.clamp(1, unauthenticated),
        closing: limits::CONNECTIONS_CLOSING_MAX,
        eviction_age: Duration::from_millis(limits::UNAUTHENTICATED_EVICTION_AGE_MS),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use telltale_engine::{Clock, TimestampMs};
    use tokio::time::timeout;

    use super::*;
    use crate::platform::settings::Auto;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const MINUTE: Duration = Duration::from_secs(60);

    fn shares(
        connections: usize,
        unauthenticated: Option<usize>,
        per_address: Option<usize>,
    ) -> (usize, usize) {
        let limits = limits_of(&Settings::changed(|s| {
            s.http.connections = connections;
            s.http.stranger_connections = unauthenticated.map_or(Auto::Auto, Auto::Set);
            s.http.stranger_connections_per_address = per_address.map_or(Auto::Auto, Auto::Set);
        }));
        assert_eq!(limits.connections, connections);
        (limits.unauthenticated, limits.unauthenticated_per_address)
    }

    #[test]
    fn shares_follow_from_the_connections_unless_they_are_set() {
        assert_eq!(shares(6_553, None, None), (3_276, 1_638));
        assert_eq!(shares(819, None, None), (409, 204));
        assert_eq!(shares(20, None, None), (16, 16));
        assert_eq!(shares(5, None, None), (5, 5));
        assert_eq!(shares(819, Some(100), None), (100, 50));
        assert_eq!(shares(819, Some(5_000), Some(6_000)), (819, 819));
    }

    /// Returns slots for two connections, one of them unauthenticated, on a manual clock.
    fn two_slots() -> (Arc<ConnectionSlots>, Clock) {
        let clock = Clock::manual(TimestampMs(0));
        let settings = Settings::changed(|s| {
            s.http.connections = 2;
            s.http.stranger_connections = Auto::Set(1);
        });
        (ConnectionSlots::new(&settings, Ticks::following(clock.clone())), clock)
    }

    #[tokio::test(start_paused = true)]
    async fn an_unauthenticated_connection_delays_nobody() {
        let (slots, _) = two_slots();
        let telemetry = Telemetry::new(&[]);
        let first = slots.enter(HERE, &telemetry).await.unwrap();
        let second = timeout(MINUTE, slots.enter(HERE, &telemetry)).await.unwrap();
        assert!(second.is_none(), "its address has one already, which had no chance yet");
        assert_eq!(telemetry.snapshot().evicted, 1);
        first.handle().show_key();
        let third = slots.enter(HERE, &telemetry).await.unwrap();
        for slot in [&first, &third] {
            timeout(MINUTE, ConnectionSlot::evicted(Some(slot))).await.unwrap_err();
        }
        assert_eq!(telemetry.snapshot().evicted, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_unauthenticated_connection_is_evicted_for_a_new_one() {
        let (slots, clock) = two_slots();
        let telemetry = Telemetry::new(&[]);
        let first = slots.enter(HERE, &telemetry).await.unwrap();
        first.handle().socket_read();
        clock.pass(MINUTE);
        let second = slots.enter(HERE, &telemetry).await.unwrap();
        timeout(MINUTE, ConnectionSlot::evicted(Some(&first))).await.unwrap();
        timeout(MINUTE, ConnectionSlot::evicted(Some(&second))).await.unwrap_err();
        assert_eq!(telemetry.snapshot().evicted, 1);
        // Both keys count, including the one received after its connection was chosen for eviction.
        first.handle().show_key();
        second.handle().show_key();
        timeout(MINUTE, slots.wait_for_capacity()).await.unwrap_err();
        drop(first);
        timeout(MINUTE, slots.wait_for_capacity()).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn the_listener_waits_while_all_connections_are_authenticated() {
        let (slots, _) = two_slots();
        let telemetry = Telemetry::new(&[]);
        let mut authenticated = Vec::new();
        for _ in 0..2 {
            timeout(MINUTE, slots.wait_for_capacity()).await.unwrap();
            let slot = slots.enter(HERE, &telemetry).await.unwrap();
            slot.handle().show_key();
            authenticated.push(slot);
        }
        let mut capacity = pin!(slots.wait_for_capacity());
        timeout(MINUTE, capacity.as_mut()).await.unwrap_err();
        authenticated.pop();
        timeout(MINUTE, capacity).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_evicted_connection_that_sends_a_key_delays_nobody() {
        let most = limits::CONNECTIONS_CLOSING_MAX;
        let clock = Clock::manual(TimestampMs(0));
        let settings = Settings::changed(|s| {
            s.http.connections = 4 * most;
            s.http.stranger_connections = Auto::Set(most);
            s.http.stranger_connections_per_address = Auto::Set(most);
        });
        let slots = ConnectionSlots::new(&settings, Ticks::following(clock.clone()));
        let telemetry = Telemetry::new(&[]);
        let mut open = Vec::new();
        for _ in 0..most {
            let slot = slots.enter(HERE, &telemetry).await.unwrap();
            slot.handle().socket_read();
            open.push(slot);
        }
        let first = open[0].handle();
        clock.pass(MINUTE);
        // Each evicts one that does not close.
        for _ in 0..most {
            open.push(slots.enter(HERE, &telemetry).await.unwrap());
        }
        assert_eq!(telemetry.snapshot().evicted, most as u64);
        let mut capacity = pin!(slots.wait_for_capacity());
        timeout(MINUTE, capacity.as_mut()).await.unwrap_err();
        first.show_key();
        timeout(MINUTE, capacity).await.unwrap();
    }

    #[test]
    fn evictions_are_logged_at_intervals_with_their_number() {
        let slots = ConnectionSlots::new(&Settings::default(), Ticks::system());
        let mut inner = slots.inner.lock();
        let logged =
            [0, 1, 9, 10, 11, 20].map(|second| inner.evictions_to_log(Duration::from_secs(second)));
        assert_eq!(logged, [Some(1), None, None, Some(3), None, Some(2)]);
    }
}
