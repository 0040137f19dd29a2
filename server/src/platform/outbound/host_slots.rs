//! Bounds of concurrent requests: one host gets a few of all, so that a receiver that hangs delays
//! nobody else.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::target::OutboundOrigin;

/// The slots of all hosts.
#[derive(Debug)]
pub(super) struct HostSlots {
    all: Arc<Semaphore>,
    per_host: usize,
    hosts: Mutex<HashMap<(String, u16), Arc<Semaphore>>>,
}

/// A slot, free again when dropped.
#[derive(Debug)]
pub(super) struct HostSlot<'a> {
    slots: &'a HostSlots,
    key: (String, u16),
    permits: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

impl HostSlots {
    pub(super) fn new(all: usize, per_host: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), per_host, hosts: Mutex::default() }
    }

    /// Waits for a slot of the host, then for one of all: whoever waits for a busy host holds none
    /// of the slots of others.
    pub(super) async fn enter(&self, origin: &OutboundOrigin) -> HostSlot<'_> {
        let key = (origin.host.clone(), origin.port);
        let mut slot = HostSlot { slots: self, key, permits: None };
        let of_host = {
            let mut hosts = self.hosts.lock();
            let new = || Arc::new(Semaphore::new(self.per_host));
            Arc::clone(hosts.entry(slot.key.clone()).or_insert_with(new))
        };
        // The semaphores are never closed.
        if let (Ok(host), Ok(all)) =
            (of_host.acquire_owned().await, Arc::clone(&self.all).acquire_owned().await)
        {
            slot.permits = Some((host, all));
        }
        slot
    }

    #[cfg(test)]
    fn hosts(&self) -> usize {
        self.hosts.lock().len()
    }
}

impl Drop for HostSlot<'_> {
    fn drop(&mut self) {
        self.permits = None;
        let mut hosts = self.slots.hosts.lock();
        // Nobody else uses or waits for the host.
        if hosts.get(&self.key).is_some_and(|of_host| Arc::strong_count(of_host) == 1) {
            hosts.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn host(name: &str) -> OutboundOrigin {
        OutboundOrigin { is_tls: false, host: name.to_owned(), port: 80 }
    }

    #[tokio::test]
    async fn a_busy_host_takes_no_slots_of_others_and_leaves_nothing_behind() {
        let slots = HostSlots::new(3, 2);
        let (one, two) = (slots.enter(&host("a")).await, slots.enter(&host("a")).await);
        assert!(slots.enter(&host("a")).now_or_never().is_none(), "the host is busy");
        let other = slots.enter(&host("b")).now_or_never().unwrap();
        assert!(slots.enter(&host("c")).now_or_never().is_none(), "all slots are in use");
        drop(one);
        let third = slots.enter(&host("c")).now_or_never().unwrap();
        drop((two, other, third));
        assert_eq!(slots.hosts(), 0);
        assert!(slots.enter(&host("a")).now_or_never().is_some());
    }
}
