//! What a reader holds of the open database: values and iterators, each with the database that they belong to.
//!
//! The store opens its database again when damage made it refuse writes, which it may only do when nobody reads: RocksDB
//! allows a directory one open database. So whatever points into the database counts as a user of it.
#![expect(
    unsafe_code,
    reason = "the binding ties values to a borrow of the database; here they share its ownership"
)]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use rocksdb::{DB, DBPinnableSlice, DBRawIterator};

use super::handle::Database;
use super::store::Store;

/// Bytes of a value, where RocksDB keeps them: nothing is copied when they are in the cache. Holds that part
/// of the cache until dropped.
pub(crate) struct Pinned<'s> {
    // Fields are dropped in this order: the slice before the database.
    slice: DBPinnableSlice<'static>,
    _db: Arc<Database>,
    _store: PhantomData<&'s Store>,
}

/// An iterator with its database.
pub(super) struct HeldIterator {
    // Fields are dropped in this order: the iterator before the database.
    raw: DBRawIterator<'static>,
    _db: Arc<Database>,
}

impl Pinned<'_> {
    /// A value that was read from `db`.
    pub(super) fn hold(db: &Arc<Database>, slice: DBPinnableSlice<'_>) -> Self {
        // SAFETY: the slice points to memory of RocksDB that lives as long as the database is open. The database is closed when
        // the last `Arc` of it is dropped, this struct has one, and its fields are dropped in the order of their declaration. The
        // lifetime is a phantom: the slice holds no reference to the [`Database`] itself.
        let slice =
            unsafe { std::mem::transmute::<DBPinnableSlice<'_>, DBPinnableSlice<'static>>(slice) };
        Self { slice, _db: Arc::clone(db), _store: PhantomData }
    }
}

impl HeldIterator {
    pub(super) fn new(
        db: &Arc<Database>,
        begin: impl for<'d> FnOnce(&'d DB) -> DBRawIterator<'d>,
    ) -> Self {
        let raw = begin(db);
        // SAFETY: as above. The iterator owns its read options, bounds included; the database outlives it.
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
