//! Values and iterators that keep the database open while a reader uses them.
//!
//! RocksDB allows one open database per directory. To reopen the database after damage made it
//! refuse writes, the store must know that nothing points into it, so each value and iterator owns
//! a reference to its database.
#![expect(
    unsafe_code,
    reason = "the binding ties values to a borrow of the database; here they share its ownership"
)]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use rocksdb::{DB, DBPinnableSlice, DBRawIterator};

use super::database::Database;
use super::store::Store;

/// A value in RocksDB's memory: it is not copied when it is in the cache, and keeps that part of
/// the cache pinned until it is dropped.
pub(crate) struct Pinned<'s> {
    // Fields are dropped in this order: the slice before the database.
    slice: DBPinnableSlice<'static>,
    _db: Arc<Database>,
    _store: PhantomData<&'s Store>,
}

/// An iterator and a reference to its database.
pub(super) struct HeldIterator {
    // Fields are dropped in this order: the iterator before the database.
    raw: DBRawIterator<'static>,
    _db: Arc<Database>,
}

impl Pinned<'_> {
    /// Wraps a value that was read from `db`.
    pub(super) fn hold(db: &Arc<Database>, slice: DBPinnableSlice<'_>) -> Self {
        // SAFETY: the slice points to memory of RocksDB that lives as long as the database is open.
        // The database is closed when its last `Arc` is dropped; this struct holds one, and its
        // fields are dropped in declaration order. The lifetime is a phantom: the slice holds no
        // reference to the [`Database`] itself.
        let slice =
            unsafe { std::mem::transmute::<DBPinnableSlice<'_>, DBPinnableSlice<'static>>(slice) };
        Self { slice, _db: Arc::clone(db), _store: PhantomData }
    }
}

impl HeldIterator {
    pub(super) fn new(
        db: &Arc<Database>,
        iterate: impl for<'d> FnOnce(&'d DB) -> DBRawIterator<'d>,
    ) -> Self {
        let raw = iterate(db);
        // SAFETY: as in `Pinned::hold`. The iterator owns its read options, bounds included, and
        // the database outlives it.
        let raw = unsafe { std::mem::transmute::<DBRawIterator<'_>, DBRawIterator<'static>>(raw) };
        Self { raw, _db: Arc::clone(db) }
    }

    pub(super) fn raw(&mut self) -> &mut DBRawIterator<'static> {
        &mut self.raw
    }
}

impl Deref for Pinned<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.slice
    }
}

impl fmt::Debug for Pinned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned({} bytes)", self.len())
    }
}
