//! The account: what each owner has, and what all of them may have together.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::owner::MemoryOwner;
use super::share::MemoryShare;
use crate::limits::MEMORY_KEPT_FROM_DATA;

/// One part of this many of the limit is kept from questions and their answers.
const KEPT_FROM_QUESTIONS: u64 = 8;
/// Questions and answers that have one part of this many of the limit together may use what is kept from them.
const QUESTIONS_MIN: u64 = 16;
/// Bytes beyond the limit for requests that make stores smaller: some fetches of jobs at once. Of a small limit, one part of
/// [`RESERVE_SHARE`].
const RESERVE_BYTES_MAX: u64 = 8 << 20;
/// The reserve is one part of this many of the limit at most.
const RESERVE_SHARE: u64 = 16;
/// The process is looked at when another part of this many of the limit was borrowed.
const LOOK_SHARE: u64 = 128;
/// What is uncounted is one part of this many of the limit at most.
const UNCOUNTED_SHARE: u64 = 2;
/// Stores and what is uncounted leave one part of this many of the limit to requests, unless stores alone have more.
const KEPT_FROM_UNCOUNTED: u64 = 8;

/// The account. Clones are the same account.
#[derive(Clone)]
pub struct Memory(Arc<Account>);

pub(super) struct Account {
    limit: u64,
    total: AtomicU64,
    owners: [AtomicU64; MemoryOwner::ALL.len()],
    /// What each store may come to hold.
    planned: [AtomicU64; MemoryOwner::ALL.len()],
    /// What of the reserve is taken.
    reserve_taken: AtomicU64,
    /// What was borrowed since the last look at the process.
    since_look: AtomicU64,
    look: OnceLock<Look>,
    /// One borrower looks at a time; the others do not wait.
    looking: Mutex<()>,
}

/// Looks at what the process has, and tells the account.
type Look = Box<dyn Fn(&Memory) + Send + Sync>;

/// There is no room for what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("memory is full: {bytes} bytes for {} do not fit beside {held} of {limit} bytes", owner.as_str())]
pub struct MemoryFull {
    /// Who asked.
    pub owner: MemoryOwner,
    /// For how much.
    pub bytes: u64,
    /// What all owners have.
    pub held: u64,
    /// What they may have.
    pub limit: u64,
}

impl Memory {
    /// An account of so many bytes.
    pub fn new(limit: u64) -> Self {
        let [owners, planned] = [(), ()].map(|()| MemoryOwner::ALL.map(|_| AtomicU64::new(0)));
        let [total, reserve_taken, since_look] = [(), (), ()].map(|()| AtomicU64::new(0));
        let (look, looking) = (OnceLock::new(), Mutex::new(()));
        Self(Arc::new(Account {
            limit,
            total,
            owners,
            planned,
            reserve_taken,
            since_look,
            look,
            looking,
        }))
    }

    /// An account that refuses nothing.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// What all owners together may have.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// What all owners have.
    pub fn held(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    /// What one owner has.
    pub fn held_by(&self, owner: MemoryOwner) -> u64 {
        self.slot(owner).load(Ordering::Relaxed)
    }

    /// Sets how many bytes a store may come to hold. What grows with the data leaves room for that, however little the store holds
    /// now.
    pub fn plan(&self, owner: MemoryOwner, bytes: u64) {
        self.0.planned[owner as usize].store(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes by which what grows with the data may grow, where that can be refused: three quarters of the limit less what
    /// stores hold, or may come to hold. The rest is for borrowers, and for stores that soon hold less again.
    pub fn room_for_data(&self) -> u64 {
        let limit = self.limit();
        let lasting = MemoryOwner::ALL.into_iter().filter(|owner| owner.lasts());
        let planned = |owner: MemoryOwner| self.0.planned[owner as usize].load(Ordering::Relaxed);
        let held = lasting.map(|owner| self.held_by(owner).max(planned(owner)));
        (limit - limit / MEMORY_KEPT_FROM_DATA).saturating_sub(held.fold(0, u64::saturating_add))
    }

    /// Says what a store holds now, in place of what it said before. One thread says so for each owner.
    pub fn hold(&self, owner: MemoryOwner, bytes: u64) {
        let before = self.slot(owner).swap(bytes, Ordering::Relaxed);
        // What becomes less wraps around.
        self.0.total.fetch_add(bytes.wrapping_sub(before), Ordering::Relaxed);
    }

    /// Sets what looks at the process and calls [`Self::hold_process`]; the first one stays. Borrowers call it before they are given
    /// what they ask for, once for each 128th part of the limit that was borrowed: it must be quick, and must not borrow.
    pub fn look_with(&self, look: impl Fn(&Self) + Send + Sync + 'static) {
        self.0.look.get_or_init(|| Box::new(look));
    }

    /// Says how many bytes the whole process has, the program itself included. What nobody has counted of them counts as
    /// [`MemoryOwner::Uncounted`]. It is half of the limit at most, and leaves an eighth of the limit to requests beside what stores
    /// hold: waiting makes neither smaller, so together they would refuse everything for ever.
    pub fn hold_process(&self, bytes: u64) {
        let limit = self.limit();
        let counted = self.held().saturating_sub(self.held_by(MemoryOwner::Uncounted));
        let lasting = MemoryOwner::ALL.into_iter().filter(|owner| owner.lasts());
        let stores = lasting.map(|owner| self.held_by(owner)).fold(0, u64::saturating_add);
        let beside_stores = (limit - limit / KEPT_FROM_UNCOUNTED).saturating_sub(stores);
        let most = beside_stores.min(limit / UNCOUNTED_SHARE);
        self.hold(MemoryOwner::Uncounted, bytes.saturating_sub(counted).min(most));
    }

    /// An empty share of a borrower, to be grown.
    pub fn share(&self, owner: MemoryOwner) -> MemoryShare {
        MemoryShare::empty(Arc::clone(&self.0), owner)
    }

    /// Borrows so many bytes, or fails.
    pub fn take(&self, owner: MemoryOwner, bytes: u64) -> Result<MemoryShare, MemoryFull> {
        let mut share = self.share(owner);
        share.grow(bytes)?;
        Ok(share)
    }

    /// Borrows so many bytes for a request that makes a store smaller, as [`MemoryShare::grow_to_drain`] does.
    pub fn take_to_drain(&self, owner: MemoryOwner, bytes: u64) -> Result<MemoryShare, MemoryFull> {
        let mut share = self.share(owner);
        share.grow_to_drain(bytes)?;
        Ok(share)
    }

    /// Takes so many bytes whether there is room or not: for what was done already and must be told.
    pub fn take_anyway(&self, owner: MemoryOwner, bytes: u64) -> MemoryShare {
        let mut share = self.share(owner);
        share.grow_anyway(bytes);
        share
    }

    fn slot(&self, owner: MemoryOwner) -> &AtomicU64 {
        self.0.slot(owner)
    }
}

impl Account {
    fn slot(&self, owner: MemoryOwner) -> &AtomicU64 {
        &self.owners[owner as usize]
    }

    /// The limit.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// What all owners together may have after `owner` has taken so many bytes more.
    pub(super) fn limit_of(&self, owner: MemoryOwner, bytes: u64) -> u64 {
        let of_questions = MemoryOwner::ALL.into_iter().filter(|owner| owner.is_of_a_question());
        let held = of_questions.map(|owner| self.slot(owner).load(Ordering::Relaxed));
        let are_few = held.fold(bytes, u64::saturating_add) <= self.limit / QUESTIONS_MIN;
        let is_kept = owner.is_of_a_question() && !are_few;
        if is_kept { self.limit - self.limit / KEPT_FROM_QUESTIONS } else { self.limit }
    }

    pub(super) fn add(&self, owner: MemoryOwner, bytes: u64, limit: u64) -> Result<(), MemoryFull> {
        // Whoever needs nothing more goes on, also while stores hold more than the limit.
        if bytes == 0 {
            return Ok(());
        }
        let grown = |held: u64| held.checked_add(bytes).filter(|grown| *grown <= limit);
        let added = self.total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        added.map_err(|held| MemoryFull { owner, bytes, held, limit })?;
        self.slot(owner).fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Looks at what the process has, where enough was borrowed since the last look with the bytes that are asked for now.
    pub(super) fn look_before(self: &Arc<Self>, bytes: u64) {
        let Some(look) = self.look.get() else { return };
        let before = self.since_look.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) < self.limit / LOOK_SHARE {
            return;
        }
        if let Some(_one) = self.looking.try_lock() {
            self.since_look.store(0, Ordering::Relaxed);
            look(&Memory(Arc::clone(self)));
        }
    }

    pub(super) fn add_anyway(&self, owner: MemoryOwner, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
        self.slot(owner).fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds bytes beyond the limit. Returns false, and adds nothing, where the reserve has fewer.
    pub(super) fn add_of_reserve(&self, owner: MemoryOwner, bytes: u64) -> bool {
        let reserve = RESERVE_BYTES_MAX.min(self.limit / RESERVE_SHARE);
        let grown = |taken: u64| taken.checked_add(bytes).filter(|grown| *grown <= reserve);
        let taken = self.reserve_taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        if taken.is_ok() {
            self.add_anyway(owner, bytes);
        }
        taken.is_ok()
    }

    pub(super) fn give_back_reserve(&self, bytes: u64) {
        self.reserve_taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn give_back(&self, owner: MemoryOwner, bytes: u64) {
        self.slot(owner).fetch_sub(bytes, Ordering::Relaxed);
        self.total.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The same account, whatever it says.
impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("held", &self.held()).field("limit", &self.limit()).finish()
    }
}
