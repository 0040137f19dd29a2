//! All subscribers in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use telltale_engine::{Engine, RecordBatch, Result, TimestampMs};

use super::model::{Subscriber, address_key};
use super::store;
use crate::areas::status::ids::{PageId, SubscriberId};

/// All subscribers.
#[derive(Debug)]
pub(in crate::areas::status) struct SubscriberTable {
    engine: Engine,
    /// Held while a change is stored, so that what is in memory is stored.
    subscribers: Mutex<Subscribers>,
    bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Subscribers {
    by_id: BTreeMap<SubscriberId, Arc<Subscriber>>,
    by_address: HashMap<(PageId, String), SubscriberId>,
    unconfirmed: usize,
    bytes: usize,
}

/// How many subscribers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SubscriberCounts {
    pub(super) all: usize,
    pub(super) unconfirmed: usize,
}

impl SubscriberTable {
    /// Loads all subscribers.
    pub(in crate::areas::status) fn open(engine: Engine) -> Result<Self> {
        let mut subscribers = Subscribers::default();
        for subscriber in store::read(&engine)? {
            subscribers.insert(Arc::new(subscriber));
        }
        let bytes = AtomicU64::new(subscribers.bytes as u64);
        Ok(Self { engine, subscribers: Mutex::new(subscribers), bytes })
    }

    /// Returns a subscriber.
    pub(super) fn get(&self, id: SubscriberId) -> Option<Arc<Subscriber>> {
        self.subscribers.lock().by_id.get(&id).cloned()
    }

    /// Returns the subscriber of a page with this address.
    pub(super) fn find(&self, page: PageId, email: &str) -> Option<Arc<Subscriber>> {
        let subscribers = self.subscribers.lock();
        let id = subscribers.by_address.get(&(page, address_key(email)))?;
        subscribers.by_id.get(id).cloned()
    }

    /// Returns how many there are.
    pub(super) fn counts(&self) -> SubscriberCounts {
        let subscribers = self.subscribers.lock();
        let (all, unconfirmed) = (subscribers.by_id.len(), subscribers.unconfirmed);
        SubscriberCounts { all, unconfirmed }
    }

    /// Returns the subscribers of a page, newest first.
    pub(super) fn of_page(&self, page: PageId) -> Vec<Arc<Subscriber>> {
        let subscribers = self.subscribers.lock();
        let all = subscribers.by_id.values().rev();
        all.filter(|subscriber| subscriber.page == page).cloned().collect()
    }

    /// Stores a subscriber. Durable when this returns. Blocks.
    pub(super) fn put(&self, subscriber: Subscriber) -> Result<()> {
        let mut subscribers = self.subscribers.lock();
        let mut batch = RecordBatch::new();
        store::put(&mut batch, &subscriber);
        self.engine.records().write(batch)?;
        subscribers.insert(Arc::new(subscriber));
        self.bytes.store(subscribers.bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Deletes a subscriber. Durable when this returns. Returns whether there was one. Blocks.
    pub(super) fn remove(&self, id: SubscriberId) -> Result<bool> {
        let mut subscribers = self.subscribers.lock();
        let Some(subscriber) = subscribers.by_id.get(&id).cloned() else { return Ok(false) };
        let mut batch = RecordBatch::new();
        store::delete(&mut batch, subscriber.page, id);
        self.engine.records().write(batch)?;
        subscribers.remove(id);
        self.bytes.store(subscribers.bytes as u64, Ordering::Relaxed);
        Ok(true)
    }

    /// Deletes those that were created before and never confirmed, and those of deleted pages.
    /// Blocks.
    pub(super) fn expire(
        &self,
        created_before: TimestampMs,
        is_deleted: impl Fn(PageId) -> bool,
    ) -> Result<()> {
        let mut subscribers = self.subscribers.lock();
        let is_old = |subscriber: &&Arc<Subscriber>| {
            let is_late =
                subscriber.confirmed_at.is_none() && subscriber.created_at < created_before;
            is_late || is_deleted(subscriber.page)
        };
        let old: Vec<Arc<Subscriber>> =
            subscribers.by_id.values().filter(is_old).cloned().collect();
        if old.is_empty() {
            return Ok(());
        }
        let mut batch = RecordBatch::new();
        old.iter().for_each(|one| store::delete(&mut batch, one.page, one.id));
        self.engine.records().write(batch)?;
        old.iter().for_each(|one| subscribers.remove(one.id));
        self.bytes.store(subscribers.bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Returns roughly how much memory all takes, in bytes.
    pub(in crate::areas::status) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Subscribers {
    fn insert(&mut self, subscriber: Arc<Subscriber>) {
        self.remove(subscriber.id);
        self.bytes += subscriber.bytes();
        self.unconfirmed += usize::from(subscriber.confirmed_at.is_none());
        self.by_address.insert((subscriber.page, subscriber.key()), subscriber.id);
        self.by_id.insert(subscriber.id, subscriber);
    }

    fn remove(&mut self, id: SubscriberId) {
        let Some(subscriber) = self.by_id.remove(&id) else { return };
        self.bytes -= subscriber.bytes();
        self.unconfirmed -= usize::from(subscriber.confirmed_at.is_none());
        self.by_address.remove(&(subscriber.page, subscriber.key()));
    }
}
