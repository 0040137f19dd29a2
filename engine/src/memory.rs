//! One account of memory for the whole process: who has how much of it, and whether there is room for more.
//!
//! Two kinds of owners share the limit. *Stores* hold what they must (the registry, caches, queues) and say how much that is;
//! their own limits bound them. *Borrowers* (queries, bodies, answers) ask before they take, are refused where there is no room,
//! and give everything back when they are done. A part of the limit is kept from questions, so that data comes in while they
//! take all they may.
//!
//! What is counted is what the owners know of: buffers and tables, not the overhead of the allocator or the stacks of threads.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// One part of this many of the limit is kept from questions and their answers.
const KEPT_FROM_QUESTIONS: u64 = 8;
/// One part of this many is kept from stores that grow with the data.
const KEPT_FROM_DATA: u64 = 4;

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
    /// Groups of errors.
    Errors,
}

impl MemoryOwner {
    /// All of them.
    pub const ALL: [Self; 11] = [
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
        }
    }

    /// Whether what it holds is there as long as the data, or the server.
    fn lasts(self) -> bool {
        matches!(self, Self::Heads | Self::Registry | Self::Catalog | Self::Caches)
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
}

/// There is no room for what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{bytes} bytes for {} do not fit beside {held} of {limit} bytes", Self::TEXT, owner.as_str())]
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

impl MemoryFull {
    /// What its text begins with.
    const TEXT: &str = "memory is full: ";

    /// Whether this is the reason of an [`Error::Overloaded`].
    pub fn is_reason(reason: &str) -> bool {
        reason.starts_with(Self::TEXT)
    }
}

impl From<MemoryFull> for Error {
    fn from(full: MemoryFull) -> Self {
        Self::Overloaded(full.to_string())
    }
}

impl Memory {
    /// An account of so many bytes.
    pub fn new(limit: u64) -> Self {
        let owners = MemoryOwner::ALL.map(|_| AtomicU64::new(0));
        Self(Arc::new(Account { limit, total: AtomicU64::new(0), owners }))
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

    /// By how much what grows with the data may grow, where that can be refused: what is left is for borrowers, and for stores that
    /// soon hold less again.
    pub fn room_for_data(&self) -> u64 {
        let limit = self.limit();
        let lasting = MemoryOwner::ALL.into_iter().filter(|owner| owner.lasts());
        let held: u64 = lasting.map(|owner| self.held_by(owner)).sum();
        (limit - limit / KEPT_FROM_DATA).saturating_sub(held)
    }

    /// Says what a store holds now, in place of what it said before. One thread says so for each owner.
    pub fn hold(&self, owner: MemoryOwner, bytes: u64) {
        let before = self.slot(owner).swap(bytes, Ordering::Relaxed);
        // What becomes less wraps around.
        self.0.total.fetch_add(bytes.wrapping_sub(before), Ordering::Relaxed);
    }

    /// An empty share of a borrower, to be grown.
    pub fn share(&self, owner: MemoryOwner) -> MemoryShare {
        MemoryShare { account: Arc::clone(&self.0), owner, bytes: 0 }
    }

    /// Borrows so many bytes, or fails.
    pub fn take(&self, owner: MemoryOwner, bytes: u64) -> Result<MemoryShare, MemoryFull> {
        let mut share = self.share(owner);
        share.grow(bytes)?;
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

    fn add(&self, owner: MemoryOwner, bytes: u64) -> Result<(), MemoryFull> {
        let kept = if owner.is_of_a_question() { self.limit / KEPT_FROM_QUESTIONS } else { 0 };
        let limit = self.limit - kept;
        let grown = |held: u64| held.checked_add(bytes).filter(|grown| *grown <= limit);
        let added = self.total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        added.map_err(|held| MemoryFull { owner, bytes, held, limit })?;
        self.slot(owner).fetch_add(bytes, Ordering::Relaxed);
        Ok(())
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
}

impl MemoryShare {
    /// How much it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Borrows more, or fails and stays what it was.
    pub fn grow(&mut self, bytes: u64) -> Result<(), MemoryFull> {
        self.account.add(self.owner, bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Takes more, whether there is room or not.
    pub fn grow_anyway(&mut self, bytes: u64) {
        self.account.total.fetch_add(bytes, Ordering::Relaxed);
        self.account.slot(self.owner).fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
    }

    /// Gives back what is above so many bytes.
    pub fn shrink_to(&mut self, bytes: u64) {
        let over = self.bytes.saturating_sub(bytes);
        self.account.give_back(self.owner, over);
        self.bytes -= over;
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.account.give_back(self.owner, self.bytes);
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
    fn a_part_is_kept_from_questions() {
        let memory = Memory::new(800);
        let _query = memory.take(MemoryOwner::Queries, 700).unwrap();
        assert!(memory.take(MemoryOwner::Answers, 1).is_err());
        memory.take(MemoryOwner::Bodies, 100).unwrap();
        drop(memory.take_anyway(MemoryOwner::Answers, 1_000));
        assert_eq!(memory.held(), 700);
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
