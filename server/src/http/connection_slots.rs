//! The slots of network connections: who gets one, and how an evicted connection learns that it has to end.
//!
//! The rules are those of [`super::connection_table`].

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
use super::strangers::site_of;
use super::telemetry::Telemetry;
use crate::limits;
use crate::platform::ticks::Ticks;

/// The slots of all network connections.
#[derive(Debug)]
pub(super) struct ConnectionSlots {
    ticks: Ticks,
    inner: Mutex<Inner>,
    /// Notified when there may be room again: a connection has ended, or one that was closing stays.
    freed: Notify,
}

#[derive(Debug)]
struct Inner {
    table: ConnectionTable,
    /// How strangers learn that they are evicted.
    evictions: HashMap<ConnectionId, Arc<Notify>>,
    /// When evictions were last logged.
    logged_at: Option<Duration>,
    evicted_unlogged: u64,
}

/// The slot of an open connection. It is free again once this is dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot(Arc<SlotHandle>);

/// What is reported about the connection that has a slot.
#[derive(Debug)]
pub(super) struct SlotHandle {
    slots: Arc<ConnectionSlots>,
    id: ConnectionId,
    is_stranger: AtomicBool,
    evicted: Arc<Notify>,
}

impl ConnectionSlots {
    pub(super) fn new(settings: &Settings, ticks: Ticks) -> Arc<Self> {
        let table = ConnectionTable::new(limits_of(settings));
        let inner =
            Inner { table, evictions: HashMap::new(), logged_at: None, evicted_unlogged: 0 };
        Arc::new(Self { ticks, inner: Mutex::new(inner), freed: Notify::new() })
    }

    /// Waits until a connection may be accepted: strangers never keep it waiting.
    pub(super) async fn room(&self) {
        let mut freed = pin!(self.freed.notified());
        loop {
            // From here on no notification is missed.
            freed.as_mut().enable();
            if self.inner.lock().table.has_room() {
                return;
            }
            freed.as_mut().await;
            freed.set(self.freed.notified());
        }
    }

    /// Gives a slot to a connection that was accepted, for which an older one may have to end. `None` where it has to end itself.
    pub(super) async fn enter(
        self: &Arc<Self>,
        address: IpAddr,
        telemetry: &Telemetry,
    ) -> Option<ConnectionSlot> {
        // All others may have become known since the listener began to wait for this connection.
        self.room().await;
        let (id, evicted) = self.try_enter(site_of(address), telemetry)?;
        let (slots, is_stranger) = (Arc::clone(self), AtomicBool::new(true));
        Some(ConnectionSlot(Arc::new(SlotHandle { slots, id, is_stranger, evicted })))
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
                "connections of clients that have not shown a key were closed to make room for others"
            );
        }
        entered
    }
}

impl Inner {
    /// Counts an eviction. Returns how many there were since the last line of the log, if it is time for another.
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
    /// Returns the handle by which is reported what the connection does.
    pub(super) fn handle(&self) -> Arc<SlotHandle> {
        Arc::clone(&self.0)
    }

    /// Ends when the connection has to end for another. `None` is a connection that needs no slot.
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
    /// The client has shown a valid key.
    pub(super) fn show_key(&self) {
        if self.is_stranger.swap(false, Ordering::Relaxed) {
            let mut inner = self.slots.inner.lock();
            inner.table.show_key(self.id);
            inner.evictions.remove(&self.id);
            drop(inner);
            self.slots.freed.notify_waiters();
        }
    }

    /// The socket is looked at for the first time.
    pub(super) fn look(&self) {
        self.of_stranger(|table, now| table.look(self.id, now));
    }

    /// A request begins to be handled.
    pub(super) fn begin_request(&self) {
        self.of_stranger(|table, _| table.begin_request(self.id));
    }

    /// A request has been handled.
    pub(super) fn end_request(&self) {
        self.of_stranger(|table, _| table.end_request(self.id));
    }

    /// A request was answered.
    pub(super) fn answered(&self) {
        self.of_stranger(|table, now| table.answered(self.id, now));
    }

    fn of_stranger(&self, tell: impl FnOnce(&mut ConnectionTable, Duration)) {
        if self.is_stranger.load(Ordering::Relaxed) {
            let now = self.slots.ticks.elapsed();
            tell(&mut self.slots.inner.lock().table, now);
        }
    }
}

/// The limits that follow from the settings.
fn limits_of(settings: &Settings) -> ConnectionLimits {
    let connections = settings.connections_max.max(1);
    let half = |whole: usize| (whole / 2).max(limits::STRANGER_CONNECTIONS_MIN);
    let strangers = settings.stranger_connections_max.unwrap_or_else(|| half(connections));
    let strangers = strangers.clamp(1, connections);
    let per_address =
        settings.stranger_connections_per_address_max.unwrap_or_else(|| half(strangers));
    ConnectionLimits {
        connections,
        strangers,
        strangers_per_address: per_address.clamp(1, strangers),
        closing: limits::CONNECTIONS_CLOSING_MAX,
        eviction_age: Duration::from_millis(limits::STRANGER_EVICTION_AGE_MS),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use telltale_engine::{Clock, TimestampMs};
    use tokio::time::timeout;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const MINUTE: Duration = Duration::from_secs(60);

    fn shares(
        connections: usize,
        strangers: Option<usize>,
        per_address: Option<usize>,
    ) -> (usize, usize) {
        let limits = limits_of(&Settings {
            connections_max: connections,
            stranger_connections_max: strangers,
            stranger_connections_per_address_max: per_address,
            ..Settings::default()
        });
        assert_eq!(limits.connections, connections);
        (limits.strangers, limits.strangers_per_address)
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

    /// Slots for two connections, one of them of a stranger, on a clock that stands still until it is moved.
    fn two_slots() -> (Arc<ConnectionSlots>, Clock) {
        let clock = Clock::manual(TimestampMs(0));
        let settings = Settings {
            connections_max: 2,
            stranger_connections_max: Some(1),
            ..Settings::default()
        };
        (ConnectionSlots::new(&settings, Ticks::following(clock.clone())), clock)
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_stranger() {
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
    async fn who_shows_none_is_told_to_end_when_the_next_comes() {
        let (slots, clock) = two_slots();
        let telemetry = Telemetry::new(&[]);
        let first = slots.enter(HERE, &telemetry).await.unwrap();
        first.handle().look();
        clock.pass(MINUTE);
        let second = slots.enter(HERE, &telemetry).await.unwrap();
        timeout(MINUTE, ConnectionSlot::evicted(Some(&first))).await.unwrap();
        timeout(MINUTE, ConnectionSlot::evicted(Some(&second))).await.unwrap_err();
        assert_eq!(telemetry.snapshot().evicted, 1);
        // Both keys count, also the one that was found when its connection was about to end.
        first.handle().show_key();
        second.handle().show_key();
        timeout(MINUTE, slots.room()).await.unwrap_err();
        drop(first);
        timeout(MINUTE, slots.room()).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn the_listener_waits_while_all_connections_are_known() {
        let (slots, _) = two_slots();
        let telemetry = Telemetry::new(&[]);
        let mut known = Vec::new();
        for _ in 0..2 {
            timeout(MINUTE, slots.room()).await.unwrap();
            let slot = slots.enter(HERE, &telemetry).await.unwrap();
            slot.handle().show_key();
            known.push(slot);
        }
        let mut room = pin!(slots.room());
        timeout(MINUTE, room.as_mut()).await.unwrap_err();
        known.pop();
        timeout(MINUTE, room).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_evicted_connection_that_shows_a_key_is_not_waited_for() {
        let most = limits::CONNECTIONS_CLOSING_MAX;
        let clock = Clock::manual(TimestampMs(0));
        let settings = Settings {
            connections_max: 4 * most,
            stranger_connections_max: Some(most),
            stranger_connections_per_address_max: Some(most),
            ..Settings::default()
        };
        let slots = ConnectionSlots::new(&settings, Ticks::following(clock.clone()));
        let telemetry = Telemetry::new(&[]);
        let mut open = Vec::new();
        for _ in 0..most {
            let slot = slots.enter(HERE, &telemetry).await.unwrap();
            slot.handle().look();
            open.push(slot);
        }
        let first = open[0].handle();
        clock.pass(MINUTE);
        // Each takes the place of one that does not end.
        for _ in 0..most {
            open.push(slots.enter(HERE, &telemetry).await.unwrap());
        }
        assert_eq!(telemetry.snapshot().evicted, most as u64);
        let mut room = pin!(slots.room());
        timeout(MINUTE, room.as_mut()).await.unwrap_err();
        first.show_key();
        timeout(MINUTE, room).await.unwrap();
    }

    #[test]
    fn evictions_are_logged_now_and_then_with_their_count() {
        let slots = ConnectionSlots::new(&Settings::default(), Ticks::system());
        let mut inner = slots.inner.lock();
        let logged =
            [0, 1, 9, 10, 11, 20].map(|second| inner.evictions_to_log(Duration::from_secs(second)));
        assert_eq!(logged, [Some(1), None, None, Some(3), None, Some(2)]);
    }
}
