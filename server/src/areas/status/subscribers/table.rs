//! All subscribers in memory.
//!
//! A change finds a subscriber, decides and stores the result under one lock, so that of two
//! changes at the same time neither is lost, and an address is subscribed to a page once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use telltale_engine::{Engine, RecordBatch, Result, TimestampMs};

use super::model::{Subscriber, SubscriberChange, address_key};
use super::space::{Space, SubscriberCounts};
use super::store;
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::{PageId, SubscriberId};

/// The ids of a page and of one of its subscribers.
pub(super) type SubscriberKey = (PageId, SubscriberId);

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
    all: BTreeMap<SubscriberKey, Arc<Subscriber>>,
    by_address: HashMap<(PageId, String), SubscriberId>,
    /// Pages with subscribers.
    pages: BTreeMap<PageId, PageCounts>,
    /// Those whose mail that asks for confirmation is not enqueued, oldest first.
    asking: BTreeSet<(SubscriberId, PageId)>,
    /// Those whose mail is enqueued, and that have not confirmed the address.
    asked: BTreeSet<SubscriberKey>,
    unconfirmed: usize,
    bytes: usize,
}

/// How many subscribers a page has.
#[derive(Clone, Copy, Debug, Default)]
struct PageCounts {
    confirmed: usize,
    unconfirmed: usize,
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
    pub(super) fn get(&self, key: SubscriberKey) -> Option<Arc<Subscriber>> {
        self.subscribers.lock().all.get(&key).cloned()
    }

    /// Returns the subscribers of a page, newest first.
    pub(super) fn of_page(&self, page: PageId) -> Vec<Arc<Subscriber>> {
        let subscribers = self.subscribers.lock();
        subscribers.of_page(page, None).rev().cloned().collect()
    }

    /// Returns the ids of the next confirmed subscribers of a page, oldest first.
    pub(super) fn confirmed_after(
        &self,
        page: PageId,
        after: Option<SubscriberId>,
        max: usize,
    ) -> Vec<SubscriberId> {
        let subscribers = self.subscribers.lock();
        let next = subscribers.of_page(page, after).filter(|one| one.confirmed_at.is_some());
        next.map(|one| one.id).take(max).collect()
    }

    /// Returns whether a page has subscribers that get mails.
    pub(in crate::areas::status) fn has_confirmed(&self, page: PageId) -> bool {
        self.subscribers.lock().pages.get(&page).is_some_and(|counts| counts.confirmed > 0)
    }

    /// Returns whether mails that ask for confirmation are not enqueued.
    pub(super) fn is_asking(&self) -> bool {
        !self.subscribers.lock().asking.is_empty()
    }

    /// Returns the oldest subscribers whose mail that asks for confirmation is not enqueued.
    pub(super) fn asking(&self, max: usize) -> Vec<SubscriberKey> {
        let subscribers = self.subscribers.lock();
        subscribers.asking.iter().take(max).map(|(id, page)| (*page, *id)).collect()
    }

    /// Returns the ids of the pages with subscribers.
    pub(super) fn pages(&self) -> Vec<PageId> {
        self.subscribers.lock().pages.keys().copied().collect()
    }

    /// Stores what `decide` returns for an address that was entered, given who has the address on
    /// the page now. If there is no space for another subscriber, one that has not confirmed its
    /// address gives way; fails if there is none. Durable when this returns. Blocks.
    pub(super) fn enter(
        &self,
        page: PageId,
        email: &str,
        decide: impl FnOnce(Option<&Subscriber>) -> Subscriber,
    ) -> Result<(), StatusError> {
        let mut subscribers = self.subscribers.lock();
        // Before the address is looked at, so that a full page tells nothing about it.
        let giving_way = subscribers.make_space(page)?;
        let found = subscribers.find(page, email);
        let removed: Vec<_> = giving_way.into_iter().filter(|_| found.is_none()).collect();
        let entered = decide(found.as_deref());
        Ok(self.apply(&mut subscribers, &removed, vec![entered])?)
    }

    /// Makes of a subscriber what `decide` returns. Returns false if there is none, or `decide`
    /// returns `None`. Durable when this returns. Blocks.
    pub(super) fn change(
        &self,
        key: SubscriberKey,
        decide: impl FnOnce(&Subscriber) -> Option<SubscriberChange>,
    ) -> Result<bool> {
        let mut subscribers = self.subscribers.lock();
        let Some(found) = subscribers.all.get(&key).cloned() else { return Ok(false) };
        match decide(&found) {
            None => return Ok(false),
            Some(SubscriberChange::Keep) => {}
            Some(SubscriberChange::Store(changed)) => {
                self.apply(&mut subscribers, &[], vec![*changed])?;
            }
            Some(SubscriberChange::Remove) => self.apply(&mut subscribers, &[key], Vec::new())?,
        }
        Ok(true)
    }

    /// Records that the mails that ask these for confirmation are enqueued. If that cannot be
    /// stored, it is remembered until the process ends: the mails are not repeated before. Blocks.
    pub(super) fn asked(&self, keys: &[SubscriberKey]) -> Result<()> {
        let mut subscribers = self.subscribers.lock();
        let found = keys.iter().filter_map(|key| subscribers.all.get(key));
        let asked: Vec<Subscriber> =
            found.map(|one| Subscriber { is_asking: false, ..(**one).clone() }).collect();
        asked.iter().for_each(|one| subscribers.insert(Arc::new(one.clone())));
        self.apply(&mut subscribers, &[], asked)
    }

    /// Records that the mail server accepted a mail to a subscriber, about the notice with this
    /// digest. Blocks.
    pub(super) fn mailed(&self, key: SubscriberKey, notice: Option<u64>) -> Result<()> {
        let mut subscribers = self.subscribers.lock();
        let Some(found) = subscribers.all.get_mut(&key) else { return Ok(()) };
        let mailed = Arc::make_mut(found);
        mailed.last_notice = notice.or(mailed.last_notice);
        if mailed.bounces == 0 {
            return Ok(());
        }
        let changed = Subscriber { bounces: 0, bounced_at: None, ..mailed.clone() };
        self.apply(&mut subscribers, &[], vec![changed])
    }

    /// Deletes those that were created before and never confirmed, and those of deleted pages.
    /// Blocks.
    pub(super) fn expire(
        &self,
        created_before: TimestampMs,
        deleted: &BTreeSet<PageId>,
    ) -> Result<()> {
        let mut subscribers = self.subscribers.lock();
        let is_old = |subscriber: &&Arc<Subscriber>| {
            let is_late =
                subscriber.confirmed_at.is_none() && subscriber.created_at < created_before;
            is_late || deleted.contains(&subscriber.page)
        };
        let old: Vec<SubscriberKey> =
            subscribers.all.values().filter(is_old).map(|one| one.key()).collect();
        self.apply(&mut subscribers, &old, Vec::new())
    }

    /// Returns roughly how much memory all takes, in bytes.
    pub(in crate::areas::status) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Stores confirmed subscribers of a page with these ids.
    #[cfg(test)]
    pub(in crate::areas::status) fn add_confirmed(&self, page: PageId, ids: std::ops::Range<u128>) {
        let confirmed = |id| Subscriber {
            confirmed_at: Some(TimestampMs(0)),
            ..super::examples::subscriber(page.0, id)
        };
        self.add(ids.map(confirmed).collect());
    }

    /// Stores subscribers.
    #[cfg(test)]
    pub(super) fn add(&self, stored: Vec<Subscriber>) {
        self.apply(&mut self.subscribers.lock(), &[], stored).unwrap();
    }

    fn apply(
        &self,
        subscribers: &mut Subscribers,
        removed: &[SubscriberKey],
        stored: Vec<Subscriber>,
    ) -> Result<()> {
        if removed.is_empty() && stored.is_empty() {
            return Ok(());
        }
        let mut batch = RecordBatch::new();
        removed.iter().for_each(|key| store::delete(&mut batch, *key));
        stored.iter().for_each(|one| store::put(&mut batch, one));
        self.engine.records().write(batch)?;
        removed.iter().for_each(|key| subscribers.remove(*key));
        stored.into_iter().for_each(|one| subscribers.insert(Arc::new(one)));
        self.bytes.store(subscribers.bytes as u64, Ordering::Relaxed);
        Ok(())
    }
}

impl Subscribers {
    fn of_page(
        &self,
        page: PageId,
        after: Option<SubscriberId>,
    ) -> impl DoubleEndedIterator<Item = &Arc<Subscriber>> {
        let from = match after {
            Some(id) => Bound::Excluded((page, id)),
            None => Bound::Included((page, SubscriberId(u128::MIN))),
        };
        let to = Bound::Included((page, SubscriberId(u128::MAX)));
        self.all.range((from, to)).map(|(_, subscriber)| subscriber)
    }

    fn find(&self, page: PageId, email: &str) -> Option<Arc<Subscriber>> {
        let id = self.by_address.get(&(page, address_key(email)))?;
        self.all.get(&(page, *id)).cloned()
    }

    fn counts(&self, page: PageId) -> SubscriberCounts {
        let of_page = self.pages.get(&page).copied().unwrap_or_default();
        SubscriberCounts {
            all: self.all.len(),
            of_page: of_page.confirmed + of_page.unconfirmed,
            unconfirmed: self.unconfirmed,
            unconfirmed_of_page: of_page.unconfirmed,
        }
    }

    /// Returns the subscriber that gives way to another one of a page; `None` if there is space.
    fn make_space(&self, page: PageId) -> Result<Option<SubscriberKey>, StatusError> {
        let counts = self.counts(page);
        let (of, why) = match counts.space() {
            Space::Free => return Ok(None),
            Space::OfPage(why) => (Some(page), why),
            Space::OfLargestPage(why) => {
                let largest = self.pages.iter().max_by_key(|(_, counts)| counts.unconfirmed);
                (largest.map(|(page, _)| *page), why)
            }
        };
        let all = |page| (page, SubscriberId(u128::MIN))..=(page, SubscriberId(u128::MAX));
        let oldest = of.and_then(|page| self.asked.range(all(page)).next().copied());
        if oldest.is_none() {
            tracing::warn!(?counts, "a subscription was refused: {why}");
            return Err(StatusError::Busy(why));
        }
        Ok(oldest)
    }

    fn insert(&mut self, subscriber: Arc<Subscriber>) {
        let key = subscriber.key();
        self.remove(key);
        self.bytes += subscriber.bytes();
        let counts = self.pages.entry(subscriber.page).or_default();
        if subscriber.confirmed_at.is_some() {
            counts.confirmed += 1;
        } else {
            counts.unconfirmed += 1;
            self.unconfirmed += 1;
        }
        if subscriber.is_asking {
            self.asking.insert((subscriber.id, subscriber.page));
        } else if subscriber.confirmed_at.is_none() {
            self.asked.insert(key);
        }
        self.by_address.insert((subscriber.page, subscriber.address_key()), subscriber.id);
        self.all.insert(key, subscriber);
    }

    fn remove(&mut self, key: SubscriberKey) {
        let Some(subscriber) = self.all.remove(&key) else { return };
        self.bytes -= subscriber.bytes();
        let is_confirmed = subscriber.confirmed_at.is_some();
        self.unconfirmed -= usize::from(!is_confirmed);
        if let Some(counts) = self.pages.get_mut(&subscriber.page) {
            counts.confirmed -= usize::from(is_confirmed);
            counts.unconfirmed -= usize::from(!is_confirmed);
            if counts.confirmed + counts.unconfirmed == 0 {
                self.pages.remove(&subscriber.page);
            }
        }
        self.asking.remove(&(subscriber.id, subscriber.page));
        self.asked.remove(&key);
        let address = (subscriber.page, subscriber.address_key());
        if self.by_address.get(&address) == Some(&subscriber.id) {
            self.by_address.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::thread::scope;

    use telltale_engine::Options;

    use super::super::examples::subscriber;
    use super::*;
    use crate::areas::status::limits;

    const PAGE: PageId = PageId(1);

    fn open() -> (tempfile::TempDir, SubscriberTable) {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { cache_bytes: 16 << 20, ..Options::default() };
        let engine = Engine::open(&dir.path().join("data"), options).unwrap();
        (dir, SubscriberTable::open(engine).unwrap())
    }

    /// Enters an address; a new subscriber gets this id.
    fn enter(table: &SubscriberTable, id: u128, email: &str, now: i64) {
        let entered = table.enter(PAGE, email, |found| {
            let new = || Subscriber { email: email.to_owned(), ..subscriber(PAGE.0, id) };
            found.map_or_else(new, |known| known.asked_again(TimestampMs(now)))
        });
        entered.unwrap();
    }

    fn confirm(table: &SubscriberTable, id: u128) -> bool {
        let key = (PAGE, SubscriberId(id));
        table.change(key, |found| Some(found.confirmed(TimestampMs(1)))).unwrap()
    }

    #[test]
    fn an_address_that_is_entered_several_times_at_once_is_one_subscriber() {
        let (_dir, table) = open();
        let ids = AtomicU32::new(0);
        scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    let id = u128::from(ids.fetch_add(1, Ordering::Relaxed));
                    enter(&table, id, "ann@example.com", 0);
                    enter(&table, id, "ANN@example.com", 0);
                });
            }
        });
        assert_eq!(table.of_page(PAGE).len(), 1);
        let reopened = SubscriberTable::open(table.engine.clone()).unwrap();
        assert_eq!(reopened.of_page(PAGE), table.of_page(PAGE));
    }

    #[test]
    fn neither_a_confirmation_nor_an_end_is_lost() {
        let (_dir, table) = open();
        for id in 0..20_u128 {
            let email = format!("user{id}@example.com");
            enter(&table, id, &email, 0);
            scope(|threads| {
                threads.spawn(|| assert!(confirm(&table, id)));
                threads.spawn(|| enter(&table, id, &email, 3_600_000));
            });
            let key = (PAGE, SubscriberId(id));
            assert!(table.get(key).unwrap().confirmed_at.is_some(), "asked again meanwhile");
            let end = |_: &Subscriber| Some(SubscriberChange::Remove);
            scope(|threads| {
                threads.spawn(|| assert!(table.change(key, end).unwrap()));
                threads.spawn(|| confirm(&table, id));
                threads.spawn(|| table.mailed(key, Some(1)).unwrap());
                threads.spawn(|| table.asked(&[key]).unwrap());
            });
            assert!(table.get(key).is_none(), "it ended");
        }
        assert_eq!(SubscriberTable::open(table.engine.clone()).unwrap().pages(), []);
    }

    #[test]
    fn counts_follow_all_changes() {
        let (_dir, table) = open();
        let counts = |table: &SubscriberTable| table.subscribers.lock().counts(PAGE);
        enter(&table, 1, "a@example.com", 0);
        enter(&table, 2, "b@example.com", 0);
        assert!(!table.has_confirmed(PAGE) && confirm(&table, 1) && table.has_confirmed(PAGE));
        table.add_confirmed(PageId(2), 7..9);
        let expected =
            SubscriberCounts { all: 4, of_page: 2, unconfirmed: 1, unconfirmed_of_page: 1 };
        assert_eq!(counts(&table), expected);
        assert_eq!(table.confirmed_after(PageId(2), Some(SubscriberId(7)), 5), [SubscriberId(8)]);
        assert_eq!(table.confirmed_after(PAGE, None, 5), [SubscriberId(1)]);
        table.expire(TimestampMs(1), &BTreeSet::from([PageId(2)])).unwrap();
        let expected =
            SubscriberCounts { all: 1, of_page: 1, unconfirmed: 0, unconfirmed_of_page: 0 };
        assert_eq!((counts(&table), table.pages()), (expected, vec![PAGE]));
        let bytes = table.of_page(PAGE).iter().map(|one| one.bytes() as u64).sum::<u64>();
        assert_eq!(table.memory_bytes(), bytes);
    }

    #[test]
    fn a_mail_is_not_repeated_when_it_cannot_be_stored_that_it_is_enqueued() {
        let (_dir, table) = open();
        // Too large to be stored.
        let email = "x".repeat(telltale_engine::limits::RECORD_VALUE_BYTES_MAX);
        let asking = Subscriber { email, is_asking: true, ..subscriber(PAGE.0, 1) };
        table.subscribers.lock().insert(Arc::new(asking));
        let key = (PAGE, SubscriberId(1));
        assert_eq!(table.asking(9), [key]);
        table.asked(&[key]).unwrap_err();
        assert!(!table.is_asking());
    }

    #[test]
    fn the_page_with_the_most_unconfirmed_addresses_gives_way_to_other_pages() {
        let (_dir, table) = open();
        let of_page = limits::UNCONFIRMED_OF_PAGE_MAX as u128;
        let pages = limits::UNCONFIRMED_MAX as u128 / of_page;
        let id = |page: u128, i: u128| page * of_page + i;
        for page in 2..2 + pages {
            // One fewer of the first, one more of the last.
            let ids = u128::from(page == 2)..of_page + u128::from(page == 1 + pages);
            table.add(ids.map(|i| subscriber(page, id(page, i))).collect());
        }
        enter(&table, 1, "ann@example.com", 0);
        let last = table.of_page(PageId(1 + pages));
        assert_eq!(last.len(), limits::UNCONFIRMED_OF_PAGE_MAX);
        assert_eq!(last.last().unwrap().id.0, id(1 + pages, 1), "the oldest is deleted");
        assert_eq!(table.of_page(PAGE).len(), 1);
        // Of a page that is full, it is the oldest one whose mail is enqueued.
        let full = PageId(3);
        let asking = |i| Subscriber { is_asking: true, ..subscriber(3, id(3, i)) };
        table.add(vec![asking(0)]);
        let new = |_: Option<&Subscriber>| subscriber(3, id(3, of_page - 1) + 1);
        table.enter(full, "new@example.com", new).unwrap();
        assert!(table.get((full, SubscriberId(id(3, 0)))).is_some());
        assert!(table.get((full, SubscriberId(id(3, 1)))).is_none());
    }
}
