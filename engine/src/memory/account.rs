//! The memory account: the bytes of each owner, and the limit that all of them share.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::owner::MemoryOwner;
use super::share::MemoryShare;
use crate::limits::MEMORY_RESERVED_FROM_DATA;

/// One part in this many of the limit is not available to queries and their results.
const KEPT_FROM_QUERIES: u64 = 8;
/// While queries and results together have at most one part in this many of the limit, they may use
/// the part that is otherwise not available to them.
const QUERIES_MIN: u64 = 16;
/// Bytes above the limit that are reserved for requests that shrink stores: enough for several
/// concurrent fetches of jobs. With a small limit, one part in [`RESERVE_SHARE`] of it.
const RESERVE_BYTES_MAX: u64 = 8 << 20;
/// The reserve is at most one part in this many of the limit.
const RESERVE_SHARE: u64 = 16;
/// The process is measured each time another part in this many of the limit was taken.
const MEASURE_SHARE: u64 = 128;
/// Uncounted memory is at most one part in this many of the limit.
const UNCOUNTED_SHARE: u64 = 2;
/// Stores and uncounted memory leave one part in this many of the limit to requests, unless the
/// stores alone exceed that.
const KEPT_FROM_UNCOUNTED: u64 = 8;

/// The memory account. Clones share one account.
#[derive(Clone)]
pub struct Memory(Arc<Account>);

pub(super) struct Account {
    limit: u64,
    total: AtomicU64,
    owners: [AtomicU64; MemoryOwner::ALL.len()],
    /// The planned size of each store.
    planned: [AtomicU64; MemoryOwner::ALL.len()],
    /// Bytes taken from the reserve.
    reserve_taken: AtomicU64,
    /// Bytes taken since the process was last measured.
    since_measurement: AtomicU64,
    measure: OnceLock<MeasureProcess>,
    /// Held by the thread that measures; other threads do not wait for it.
    measuring: Mutex<()>,
}

/// Measures the memory of the process and calls [`Memory::hold_process`].
type MeasureProcess = Box<dyn Fn(&Memory) + Send + Sync>;

/// The memory limit does not allow an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("memory limit reached: {bytes} bytes for {} cannot be added to {held} of {limit} bytes in use", owner.as_str())]
pub struct MemoryFull {
    /// The owner of the allocation.
    pub owner: MemoryOwner,
    /// The requested bytes.
    pub bytes: u64,
    /// The bytes of all owners.
    pub held: u64,
    /// The limit that applies to the owner.
    pub limit: u64,
}

impl Memory {
    /// Creates an account with a limit of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        let [owners, planned] = [(), ()].map(|()| MemoryOwner::ALL.map(|_| AtomicU64::new(0)));
        let [total, reserve_taken, since_measurement] = [(), (), ()].map(|()| AtomicU64::new(0));
        let (measure, measuring) = (OnceLock::new(), Mutex::new(()));
        Self(Arc::new(Account {
            limit,
            total,
            owners,
            planned,
            reserve_taken,
            since_measurement,
            measure,
            measuring,
        }))
    }

    /// Creates an account without a limit.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// Returns the limit of all owners together.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// Returns the bytes of all owners.
    pub fn held(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    /// Returns the bytes of one owner.
    pub fn held_by(&self, owner: MemoryOwner) -> u64 {
        self.slot(owner).load(Ordering::Relaxed)
    }

    /// Sets the size up to which a store may grow. [`Self::bytes_left_for_data`] subtracts it even
    /// while the store is smaller.
    pub fn plan(&self, owner: MemoryOwner, bytes: u64) {
        self.0.planned[owner as usize].store(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes by which stores that grow with the data may still grow: three quarters of
    /// the limit minus the actual or planned size of all stores, whichever is larger. The rest is
    /// for requests, and for stores that are temporarily larger.
    pub fn bytes_left_for_data(&self) -> u64 {
        let limit = self.limit();
        let stores = MemoryOwner::ALL.into_iter().filter(|owner| owner.is_store());
        let planned = |owner: MemoryOwner| self.0.planned[owner as usize].load(Ordering::Relaxed);
        let held = stores.map(|owner| self.held_by(owner).max(planned(owner)));
        (limit - limit / MEMORY_RESERVED_FROM_DATA)
            .saturating_sub(held.fold(0, u64::saturating_add))
    }

    /// Sets the bytes of a store, replacing the previous value. Each owner must be updated by one
    /// thread only.
    pub fn hold(&self, owner: MemoryOwner, bytes: u64) {
        let before = self.slot(owner).swap(bytes, Ordering::Relaxed);
        // A decrease wraps around.
        self.0.total.fetch_add(bytes.wrapping_sub(before), Ordering::Relaxed);
    }

    /// Sets the function that measures the process and calls [`Self::hold_process`]; only the first
    /// call has an effect. It is called before memory is taken, once for each 128th part of the
    /// limit taken, so it must be fast and must not take memory itself.
    pub fn measure_with(&self, measure: impl Fn(&Self) + Send + Sync + 'static) {
        self.0.measure.get_or_init(|| Box::new(measure));
    }

    /// Sets the bytes of the whole process, including its code. Those not counted for any owner are
    /// counted as [`MemoryOwner::Uncounted`], up to half of the limit, and such that an eighth of
    /// the limit remains for requests in addition to the stores. Neither stores nor uncounted
    /// memory shrink by waiting, so without these bounds all requests could be refused permanently.
    pub fn hold_process(&self, bytes: u64) {
        let limit = self.limit();
        let counted = self.held().saturating_sub(self.held_by(MemoryOwner::Uncounted));
        let stores = MemoryOwner::ALL.into_iter().filter(|owner| owner.is_store());
        let stores = stores.map(|owner| self.held_by(owner)).fold(0, u64::saturating_add);
        let left_by_stores = (limit - limit / KEPT_FROM_UNCOUNTED).saturating_sub(stores);
        let most = left_by_stores.min(limit / UNCOUNTED_SHARE);
        self.hold(MemoryOwner::Uncounted, bytes.saturating_sub(counted).min(most));
    }

    /// Returns an empty share for transient memory.
    pub fn share(&self, owner: MemoryOwner) -> MemoryShare {
        MemoryShare::empty(Arc::clone(&self.0), owner)
    }

    /// Takes transient memory, or fails.
    pub fn take(&self, owner: MemoryOwner, bytes: u64) -> Result<MemoryShare, MemoryFull> {
        let mut share = self.share(owner);
        share.grow(bytes)?;
        Ok(share)
    }

    /// Takes transient memory for a request that shrinks a store, like
    /// [`MemoryShare::grow_from_reserve`].
    pub fn take_from_reserve(
        &self,
        owner: MemoryOwner,
        bytes: u64,
    ) -> Result<MemoryShare, MemoryFull> {
        let mut share = self.share(owner);
        share.grow_from_reserve(bytes)?;
        Ok(share)
    }

    /// Takes transient memory even beyond the limit: for results that must be reported because the
    /// work is already done.
    pub fn take_unchecked(&self, owner: MemoryOwner, bytes: u64) -> MemoryShare {
        let mut share = self.share(owner);
        share.grow_unchecked(bytes);
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

    /// Returns the limit of all owners.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the limit of the total that applies if `owner` takes `bytes` more.
    pub(super) fn limit_of(&self, owner: MemoryOwner, bytes: u64) -> u64 {
        let of_queries = MemoryOwner::ALL.into_iter().filter(|owner| owner.is_query());
        let held = of_queries.map(|owner| self.slot(owner).load(Ordering::Relaxed));
        let is_small = held.fold(bytes, u64::saturating_add) <= self.limit / QUERIES_MIN;
        let is_restricted = owner.is_query() && !is_small;
        if is_restricted { self.limit - self.limit / KEPT_FROM_QUERIES } else { self.limit }
    }

    pub(super) fn add(&self, owner: MemoryOwner, bytes: u64, limit: u64) -> Result<(), MemoryFull> {
        // Taking nothing succeeds even while stores exceed the limit.
        if bytes == 0 {
            return Ok(());
        }
        let grown = |held: u64| held.checked_add(bytes).filter(|grown| *grown <= limit);
        let added = self.total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        added.map_err(|held| MemoryFull { owner, bytes, held, limit })?;
        self.slot(owner).fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Measures the process if enough was taken since the last measurement, including the `bytes`
    /// requested now.
    pub(super) fn measure_before(self: &Arc<Self>, bytes: u64) {
        let Some(measure) = self.measure.get() else { return };
        let before = self.since_measurement.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) < self.limit / MEASURE_SHARE {
            return;
        }
        if let Some(_one) = self.measuring.try_lock() {
            self.since_measurement.store(0, Ordering::Relaxed);
            measure(&Memory(Arc::clone(self)));
        }
    }

    pub(super) fn add_anyway(&self, owner: MemoryOwner, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
        self.slot(owner).fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds bytes beyond the limit. Returns false, and adds nothing, if the reserve does not have
    /// enough left.
    pub(super) fn add_from_reserve(&self, owner: MemoryOwner, bytes: u64) -> bool {
        let reserve = RESERVE_BYTES_MAX.min(self.limit / RESERVE_SHARE);
        let grown = |taken: u64| taken.checked_add(bytes).filter(|grown| *grown <= reserve);
        let taken = self.reserve_taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        if taken.is_ok() {
            self.add_anyway(owner, bytes);
        }
        taken.is_ok()
    }

    pub(super) fn release_reserve(&self, bytes: u64) {
        self.reserve_taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn release(&self, owner: MemoryOwner, bytes: u64) {
        self.slot(owner).fetch_sub(bytes, Ordering::Relaxed);
        self.total.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Two values are equal if they share one account.
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
