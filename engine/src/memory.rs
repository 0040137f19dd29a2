//! One account of memory for the whole process: who has how much of it, and whether there is room for more.
//!
//! Two kinds of owners share the limit. *Stores* hold what they must (the registry, caches, queues) and say how much that is;
//! their own limits bound them. *Borrowers* (queries, bodies, answers) ask before they take, are refused where there is no room,
//! and give everything back when they are done. A part of the limit is kept from questions, so that data comes in while they
//! take all they may; questions that need little may use that part as well.
//!
//! A store may be larger than planned, after a start with a lower limit for example. Requests that make stores smaller (workers that
//! fetch and finish jobs, deletions) may therefore exceed the limit by a small reserve: otherwise it could never become smaller.
//!
//! What owners say is what they know of: buffers and tables. Whatever the process takes beyond that, of the allocator, of its own
//! program or of what estimates leave out, is measured and counts as an owner of its own: now and then, and by borrowers
//! themselves each time that they have taken much, so that what they take beyond what they say is seen before the next of them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

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

/// Who has memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOwner {
    /// New points, events and receipts that are not in blocks yet, and what waits for the log: as much as they may take.
    Heads,
    /// Metrics, series, tags and last readings.
    Registry,
    /// What is known of blocks unread.
    Catalog,
    /// The caches of the database and of columns of events: as much as they may take.
    Caches,
    /// Questions being answered.
    Queries,
    /// Blocks being merged.
    Merges,
    /// Bodies of requests, as they came and unpacked.
    Bodies,
    /// Answers that are not sent yet.
    Answers,
    /// Open connections, by estimate.
    Connections,
    /// Jobs that wait.
    Jobs,
    /// Groups of errors and their sets of users.
    Errors,
    /// What the process takes beyond what all others say: its own program, what is freed and not given back yet, and what estimates
    /// leave out.
    Uncounted,
}

impl MemoryOwner {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Heads,
        Self::Registry,
        Self::Catalog,
        Self::Caches,
        Self::Queries,
        Self::Merges,
        Self::Bodies,
        Self::Answers,
        Self::Connections,
        Self::Jobs,
        Self::Errors,
        Self::Uncounted,
    ];

    /// The name, as figures carry it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Heads => "heads",
            Self::Registry => "registry",
            Self::Catalog => "catalog",
            Self::Caches => "caches",
            Self::Queries => "queries",
            Self::Merges => "merges",
            Self::Bodies => "bodies",
            Self::Answers => "answers",
            Self::Connections => "connections",
            Self::Jobs => "jobs",
            Self::Errors => "errors",
            Self::Uncounted => "uncounted",
        }
    }

    /// Whether what it holds is there as long as the data, or the server.
    fn lasts(self) -> bool {
        use MemoryOwner::{Caches, Catalog, Errors, Heads, Jobs, Registry};
        matches!(self, Heads | Registry | Catalog | Caches | Jobs | Errors)
    }

    fn is_of_a_question(self) -> bool {
        matches!(self, Self::Queries | Self::Answers)
    }
}

/// The account. Clones are the same account.
#[derive(Clone)]
pub struct Memory(Arc<Account>);

struct Account {
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
    /// [`MemoryOwner::Uncounted`]. It is half of the limit at most, and leaves an eighth of the limit to requests beside what stores hold: waiting makes neither smaller, so together they would refuse everything for ever.
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
        MemoryShare { account: Arc::clone(&self.0), owner, bytes: 0, of_reserve: 0 }
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

    /// What all owners together may have after `owner` has taken so many bytes more.
    fn limit_of(&self, owner: MemoryOwner, bytes: u64) -> u64 {
        let of_questions = MemoryOwner::ALL.into_iter().filter(|owner| owner.is_of_a_question());
        let held = of_questions.map(|owner| self.slot(owner).load(Ordering::Relaxed));
        let are_few = held.fold(bytes, u64::saturating_add) <= self.limit / QUESTIONS_MIN;
        let is_kept = owner.is_of_a_question() && !are_few;
        if is_kept { self.limit - self.limit / KEPT_FROM_QUESTIONS } else { self.limit }
    }

    fn add(&self, owner: MemoryOwner, bytes: u64, limit: u64) -> Result<(), MemoryFull> {
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

    fn add_anyway(&self, owner: MemoryOwner, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
        self.slot(owner).fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds bytes beyond the limit. Returns false, and adds nothing, where the reserve has fewer.
    fn add_of_reserve(&self, owner: MemoryOwner, bytes: u64) -> bool {
        let reserve = RESERVE_BYTES_MAX.min(self.limit / RESERVE_SHARE);
        let grown = |taken: u64| taken.checked_add(bytes).filter(|grown| *grown <= reserve);
        let taken = self.reserve_taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        if taken.is_ok() {
            self.add_anyway(owner, bytes);
        }
        taken.is_ok()
    }

    fn give_back(&self, owner: MemoryOwner, bytes: u64) {
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

/// What a borrower has. Gives it back when dropped.
pub struct MemoryShare {
    account: Arc<Account>,
    owner: MemoryOwner,
    bytes: u64,
    /// How much of it is of the reserve.
    of_reserve: u64,
}

impl MemoryShare {
    /// How much it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How much of it is beyond the limit, of the reserve for requests that make stores smaller.
    pub fn of_reserve(&self) -> u64 {
        self.of_reserve
    }

    /// Moves all of it to another share, and leaves an empty one.
    pub fn take_all(&mut self) -> Self {
        let (bytes, of_reserve) = (self.bytes, self.of_reserve);
        (self.bytes, self.of_reserve) = (0, 0);
        Self { account: Arc::clone(&self.account), owner: self.owner, bytes, of_reserve }
    }

    /// Borrows more, or fails and stays what it was.
    pub fn grow(&mut self, bytes: u64) -> Result<(), MemoryFull> {
        self.look_before(bytes);
        self.account.add(self.owner, bytes, self.account.limit_of(self.owner, bytes))?;
        self.bytes += bytes;
        Ok(())
    }

    /// Borrows more for a request that makes a store smaller: of all that the limit leaves, and where that is too little, of the
    /// reserve beyond it. Fails, and stays what it was, where the reserve is too small too.
    pub fn grow_to_drain(&mut self, bytes: u64) -> Result<(), MemoryFull> {
        self.look_before(bytes);
        if let Err(full) = self.account.add(self.owner, bytes, self.account.limit) {
            if !self.account.add_of_reserve(self.owner, bytes) {
                return Err(full);
            }
            self.of_reserve += bytes;
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Looks at what the process has, where enough was borrowed since the last look.
    fn look_before(&self, bytes: u64) {
        let account = &self.account;
        let Some(look) = account.look.get() else { return };
        let before = account.since_look.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) < account.limit / LOOK_SHARE {
            return;
        }
        if let Some(_one) = account.looking.try_lock() {
            account.since_look.store(0, Ordering::Relaxed);
            look(&Memory(Arc::clone(account)));
        }
    }

    /// Takes more, whether there is room or not.
    pub fn grow_anyway(&mut self, bytes: u64) {
        self.account.add_anyway(self.owner, bytes);
        self.bytes += bytes;
    }

    /// Gives back what is above so many bytes.
    pub fn shrink_to(&mut self, bytes: u64) {
        let over = self.bytes.saturating_sub(bytes);
        self.account.give_back(self.owner, over);
        self.bytes -= over;
        let of_reserve = self.of_reserve.saturating_sub(self.bytes);
        self.account.reserve_taken.fetch_sub(of_reserve, Ordering::Relaxed);
        self.of_reserve -= of_reserve;
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

impl fmt::Debug for MemoryShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryShare")
            .field("owner", &self.owner)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// The memory of an answer: it counts until the answer is dropped. A copy of an answer does not count, and answers with the same
/// content are equal.
#[derive(Debug, Default)]
pub struct AnswerMemory(Option<MemoryShare>);

impl AnswerMemory {
    /// How many bytes count.
    pub fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, MemoryShare::bytes)
    }
}

impl Clone for AnswerMemory {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for AnswerMemory {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl From<MemoryShare> for AnswerMemory {
    fn from(share: MemoryShare) -> Self {
        Self(Some(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_and_what_is_given_back_fits_again() {
        let memory = Memory::new(1_000);
        memory.hold(MemoryOwner::Registry, 300);
        let mut body = memory.take(MemoryOwner::Bodies, 500).unwrap();
        let refused = memory.take(MemoryOwner::Bodies, 201).unwrap_err();
        assert_eq!((refused.held, refused.limit), (800, 1_000));
        body.grow(200).unwrap();
        assert!(body.grow(1).is_err());
        assert_eq!(memory.room_for_data(), 450, "bodies do not count");
        assert_eq!((body.bytes(), memory.held()), (700, 1_000), "a refusal takes nothing");
        body.shrink_to(100);
        assert_eq!((memory.held_by(MemoryOwner::Bodies), memory.held()), (100, 400));
        drop(body);
        memory.hold(MemoryOwner::Registry, 10);
        assert_eq!((memory.held_by(MemoryOwner::Registry), memory.held()), (10, 10));
    }

    #[test]
    fn what_the_process_has_beyond_all_that_is_counted_counts_too() {
        const MIB: u64 = 1 << 20;
        let memory = Memory::new(256 * MIB);
        memory.hold(MemoryOwner::Heads, 100 * MIB);
        memory.hold_process(90 * MIB);
        assert_eq!(memory.held(), 100 * MIB, "less than is counted");
        memory.hold_process(130 * MIB);
        assert_eq!(memory.held_by(MemoryOwner::Uncounted), 30 * MIB);
        let body = memory.take(MemoryOwner::Bodies, 120 * MIB).unwrap();
        assert!(memory.take(MemoryOwner::Bodies, 7 * MIB).is_err());
        memory.hold_process(130 * MIB);
        assert_eq!(memory.held(), 220 * MIB, "what was uncounted was of the body");
        drop(body);
        memory.hold(MemoryOwner::Heads, 96 * MIB);
        memory.hold_process(u64::MAX);
        assert_eq!(memory.held_by(MemoryOwner::Uncounted), 128 * MIB, "never all of it");
    }

    #[test]
    fn who_borrows_much_looks_at_the_process_first() {
        let memory = Memory::new(12_800);
        let process = Arc::new(AtomicU64::new(0));
        let looks = Arc::new(AtomicU64::new(0));
        let (seen, counted) = (Arc::clone(&process), Arc::clone(&looks));
        memory.look_with(move |memory| {
            counted.fetch_add(1, Ordering::Relaxed);
            memory.hold_process(seen.load(Ordering::Relaxed));
        });
        let mut body = memory.take(MemoryOwner::Bodies, 99).unwrap();
        assert_eq!(looks.load(Ordering::Relaxed), 0, "it is little");
        body.grow(1).unwrap();
        drop(body);
        assert_eq!(looks.load(Ordering::Relaxed), 1, "what was given back was borrowed, too");
        process.store(12_000, Ordering::Relaxed);
        let body = memory.take(MemoryOwner::Bodies, 99).unwrap();
        assert_eq!((looks.load(Ordering::Relaxed), memory.held()), (1, 99));
        let refused = memory.take_to_drain(MemoryOwner::Bodies, 7_000).unwrap_err();
        assert_eq!((looks.load(Ordering::Relaxed), refused.held), (2, 99 + 6_400));
        drop(body);
    }

    #[test]
    fn what_is_uncounted_leaves_room_for_requests_beside_full_stores() {
        const MIB: u64 = 1 << 20;
        let memory = Memory::new(256 * MIB);
        memory.hold(MemoryOwner::Registry, 92 * MIB);
        memory.hold(MemoryOwner::Heads, 100 * MIB);
        assert_eq!(memory.room_for_data(), 0, "stores are full");
        memory.hold_process(u64::MAX);
        assert_eq!(memory.held_by(MemoryOwner::Uncounted), 32 * MIB);
        drop(memory.take(MemoryOwner::Queries, 16 * MIB).unwrap());
        let _body = memory.take(MemoryOwner::Bodies, 32 * MIB).unwrap();
        memory.take(MemoryOwner::Bodies, 1).unwrap_err();
        memory.hold_process(u64::MAX);
        assert_eq!(memory.held_by(MemoryOwner::Uncounted), 32 * MIB, "requests do not count");
        for (stores, uncounted) in [(223, 1), (224, 0), (300, 0)] {
            memory.hold(MemoryOwner::Heads, (stores - 92) * MIB);
            memory.hold_process(u64::MAX);
            assert_eq!(memory.held_by(MemoryOwner::Uncounted), uncounted * MIB, "{stores}");
        }
    }

    #[test]
    fn a_part_is_kept_from_questions() {
        let memory = Memory::new(800);
        let _query = memory.take(MemoryOwner::Queries, 700).unwrap();
        assert!(memory.take(MemoryOwner::Answers, 1).is_err());
        memory.take(MemoryOwner::Bodies, 100).unwrap();
        drop(memory.take_anyway(MemoryOwner::Answers, 1_000));
        assert_eq!(memory.held(), 700);
    }

    #[test]
    fn small_questions_may_use_what_is_kept_from_large_ones() {
        let memory = Memory::new(1_600);
        memory.hold(MemoryOwner::Heads, 1_450);
        let _query = memory.take(MemoryOwner::Queries, 60).unwrap();
        let answer = memory.take(MemoryOwner::Answers, 40).unwrap();
        let refused = memory.take(MemoryOwner::Answers, 1).unwrap_err();
        assert_eq!((refused.held, refused.limit), (1_550, 1_400), "a sixteenth is taken");
        drop(answer);
        memory.hold(MemoryOwner::Heads, 1_540);
        let refused = memory.take(MemoryOwner::Answers, 1).unwrap_err();
        assert_eq!(refused.limit, 1_600, "the limit holds for all");
    }

    #[test]
    fn nothing_more_fits_also_where_stores_hold_too_much() {
        let memory = Memory::new(100);
        memory.hold(MemoryOwner::Jobs, 500);
        for owner in MemoryOwner::ALL {
            assert_eq!(memory.take(owner, 0).unwrap().bytes(), 0, "{}", owner.as_str());
        }
        memory.take(MemoryOwner::Answers, 1).unwrap_err();
    }

    #[test]
    fn requests_that_make_stores_smaller_have_a_reserve() {
        let memory = Memory::new(1_600);
        memory.hold(MemoryOwner::Jobs, 1_590);
        let _body = memory.take_to_drain(MemoryOwner::Bodies, 10).unwrap();
        let mut fetch = memory.take_to_drain(MemoryOwner::Answers, 60).unwrap();
        fetch.grow_to_drain(40).unwrap();
        assert_eq!(memory.held(), 1_700);
        memory.take_to_drain(MemoryOwner::Answers, 1).unwrap_err();
        memory.take(MemoryOwner::Bodies, 1).unwrap_err();
        fetch.shrink_to(70);
        let other = memory.take_to_drain(MemoryOwner::Answers, 30).unwrap();
        assert_eq!((fetch.bytes(), memory.held()), (70, 1_700));
        drop((fetch, other));
        memory.hold(MemoryOwner::Jobs, 0);
        assert_eq!(memory.held(), 10, "the jobs are done");
        memory.hold(MemoryOwner::Jobs, 1_600);
        memory.take_to_drain(MemoryOwner::Answers, 100).unwrap();
    }

    #[test]
    fn data_leaves_room_for_what_stores_may_come_to_hold() {
        let memory = Memory::new(1_000);
        memory.plan(MemoryOwner::Jobs, 300);
        memory.hold(MemoryOwner::Jobs, 10);
        memory.hold(MemoryOwner::Errors, 50);
        assert_eq!(memory.room_for_data(), 400);
        memory.hold(MemoryOwner::Jobs, 320);
        assert_eq!(memory.room_for_data(), 380, "more than planned");
        memory.plan(MemoryOwner::Errors, u64::MAX);
        assert_eq!(memory.room_for_data(), 0);
    }

    #[test]
    fn stores_hold_what_they_must() {
        let memory = Memory::new(100);
        memory.hold(MemoryOwner::Registry, 500);
        assert_eq!(memory.room_for_data(), 0);
        assert!(memory.take(MemoryOwner::Merges, 1).is_err());
        memory.hold(MemoryOwner::Registry, 74);
        memory.hold(MemoryOwner::Connections, 20);
        assert_eq!(memory.room_for_data(), 1, "what passes does not count");
        memory.hold(MemoryOwner::Caches, 1);
        assert_eq!(memory.room_for_data(), 0);
    }

    #[test]
    fn names_and_places_agree() {
        for (place, owner) in MemoryOwner::ALL.into_iter().enumerate() {
            assert_eq!(owner as usize, place, "{}", owner.as_str());
        }
    }
}
