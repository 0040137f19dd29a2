//! Resources that an area stores as documents: one collection for each kind.
//!
//! Every change holds the [`DocumentLock`] of the area from before it reads until it is committed.
//! No other code writes these collections, so a commit never conflicts, and what a change has
//! checked still holds when it is applied. The lock also keeps the number of documents, so that the
//! creation of many does not visit all of them each time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use telltale_engine::{Collection, Engine, Error, Expect, Receipt, Transaction, Versioned};

/// What all changes of an area's documents share.
#[derive(Debug, Default)]
pub struct DocumentLock {
    counts: Mutex<DocumentCounts>,
    /// The number of changes since the start.
    generation: AtomicU64,
    /// The generation of the last change of each collection.
    changed: RwLock<BTreeMap<&'static str, u64>>,
}

/// The number of documents of each collection that was counted before.
#[derive(Debug, Default)]
struct DocumentCounts(BTreeMap<&'static str, usize>);

/// Why a document could not be read or changed. `K` are the kinds of resources of the area.
#[derive(Debug)]
pub enum DocumentError<K> {
    /// No resource of this kind has this id.
    NotFound(K, String),
    /// The revision of the resource does not match the caller's `If-Match`.
    Changed,
    /// The limit on resources of a kind is reached.
    TooMany {
        /// The resources.
        kind: K,
        /// The limit.
        max: usize,
    },
}

/// A kind of resource that is stored as a document.
pub trait StoredResource: Sized {
    /// The kinds of resources of the area.
    type Kind: Copy;
    /// The errors of the area.
    type Error: From<DocumentError<Self::Kind>> + From<Error>;
    /// The stored form.
    type Stored: Serialize + DeserializeOwned;
    /// The collection of its documents.
    const COLLECTION: Collection;
    /// The kind, for errors.
    const KIND: Self::Kind;
    /// Maximum number of documents.
    const COUNT_MAX: usize;

    /// Returns the id.
    fn id(&self) -> Cow<'_, str>;
    /// Returns the stored form.
    fn to_stored(&self) -> Self::Stored;
    /// Returns the resource in a document.
    fn from_stored(id: String, stored: Self::Stored) -> Self;
}

/// Returns the resource `id` with its revision.
pub fn get<D: StoredResource>(engine: &Engine, id: &str) -> Result<Versioned<D>, D::Error> {
    let found = engine.documents().get::<D::Stored>(D::COLLECTION, id)?;
    let missing = || DocumentError::NotFound(D::KIND, id.to_owned());
    let Versioned { value, revision } = found.ok_or_else(missing)?;
    Ok(Versioned { value: D::from_stored(id.to_owned(), value), revision })
}

/// Returns whether there is a document of a resource, which may be unreadable.
pub fn contains<D: StoredResource>(engine: &Engine, id: &str) -> Result<bool, D::Error> {
    Ok(engine.documents().get::<IgnoredAny>(D::COLLECTION, id)?.is_some())
}

/// Returns whether there is a document of a kind of resource, readable or not.
pub fn any<D: StoredResource>(engine: &Engine) -> Result<bool, Error> {
    let mut any = false;
    engine.documents().visit(D::COLLECTION, "", |_, _: Versioned<IgnoredAny>| any = true)?;
    Ok(any)
}

/// Returns what `select` makes of the readable resources of a kind, newest first. One resource at a
/// time is in memory.
pub fn select<D: StoredResource, S>(
    engine: &Engine,
    mut select: impl FnMut(Versioned<D>) -> Option<S>,
) -> Result<Vec<S>, D::Error> {
    let mut selected = Vec::new();
    let visit = |id: String, found: Versioned<D::Stored>| {
        let value = D::from_stored(id, found.value);
        selected.extend(select(Versioned { value, revision: found.revision }));
    };
    engine.documents().visit(D::COLLECTION, "", visit)?;
    // Ids sort by creation time.
    selected.reverse();
    Ok(selected)
}

/// Returns all readable resources of a kind, to be shared. Those that `known` returns, by id and
/// revision, are not parsed again.
pub fn shared<D: StoredResource>(
    engine: &Engine,
    known: impl Fn(&str, u64) -> Option<Arc<D>>,
) -> Result<Vec<Versioned<Arc<D>>>, D::Error> {
    let mut all = Vec::new();
    visit_shared(engine, known, |found| all.push(found))?;
    Ok(all)
}

/// Visits all readable resources of a kind, oldest first, to be shared. Those that `known` returns,
/// by id and revision, are not parsed again.
pub fn visit_shared<D: StoredResource>(
    engine: &Engine,
    known: impl Fn(&str, u64) -> Option<Arc<D>>,
    mut visit: impl FnMut(Versioned<Arc<D>>),
) -> Result<(), D::Error> {
    let visit = |id: String, found: Versioned<Box<RawValue>>| {
        let revision = found.revision;
        let known = known(&id, revision);
        if let Some(value) = known.or_else(|| parse(id, &found.value).map(Arc::new)) {
            visit(Versioned { value, revision });
        }
    };
    Ok(engine.documents().visit(D::COLLECTION, "", visit)?)
}

/// Returns one resource, to be shared, if it is readable. It is not parsed again if it is `known`
/// with its revision.
pub fn shared_one<D: StoredResource>(
    engine: &Engine,
    id: &str,
    known: Option<(&Arc<D>, u64)>,
) -> Result<Option<Versioned<Arc<D>>>, D::Error> {
    let found = engine.documents().get::<Box<RawValue>>(D::COLLECTION, id)?;
    let Some(Versioned { value, revision }) = found else { return Ok(None) };
    let known = known.filter(|(_, of_known)| *of_known == revision);
    let parse = || parse(id.to_owned(), &value).map(Arc::new);
    let value = known.map(|(known, _)| Arc::clone(known)).or_else(parse);
    Ok(value.map(|value| Versioned { value, revision }))
}

fn parse<D: StoredResource>(id: String, json: &RawValue) -> Option<D> {
    match serde_json::from_str::<D::Stored>(json.get()) {
        Ok(stored) => Some(D::from_stored(id, stored)),
        Err(error) => {
            tracing::error!(id, %error, "a document cannot be read");
            None
        }
    }
}

impl<K, E> fmt::Debug for Changes<'_, K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("added", &self.added).finish_non_exhaustive()
    }
}

impl DocumentLock {
    /// Returns a number that is larger after every change. Documents that are read after it are at
    /// least as new.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns a number that is larger after every change of one of these collections. Documents
    /// that are read after it are at least as new.
    pub fn generation_of(&self, collections: &[Collection]) -> u64 {
        let changed = self.changed.read();
        let of = |collection: &Collection| changed.get(collection.0).copied();
        collections.iter().filter_map(of).max().unwrap_or(0)
    }

    /// Counts a change of these collections. It was committed.
    fn count_change(&self, changed: &BTreeSet<&'static str>) {
        if changed.is_empty() {
            return;
        }
        let mut generations = self.changed.write();
        let generation = self.generation.fetch_add(1, Ordering::Release) + 1;
        generations.extend(changed.iter().map(|name| (*name, generation)));
    }
}

/// A change of any number of resources, applied as a whole or not at all.
pub struct Changes<'a, K, E> {
    lock: &'a DocumentLock,
    engine: &'a Engine,
    transaction: Transaction<'a>,
    /// Holds the lock.
    counts: MutexGuard<'a, DocumentCounts>,
    /// The documents that the transaction adds to each collection, less those that it deletes.
    added: BTreeMap<&'static str, isize>,
    /// The collections that the transaction changes.
    changed: BTreeSet<&'static str>,
    of: PhantomData<fn() -> Result<K, E>>,
}

impl<'a, K, E> Changes<'a, K, E>
where
    K: Copy,
    E: From<DocumentError<K>> + From<Error>,
{
    /// Waits for the change before this one.
    pub fn begin(engine: &'a Engine, lock: &'a DocumentLock) -> Self {
        let counts = lock.counts.lock();
        let transaction = engine.documents().begin();
        let (added, changed) = (BTreeMap::new(), BTreeSet::new());
        Self { lock, engine, transaction, counts, added, changed, of: PhantomData }
    }

    /// Returns the resource `id`; fails if `fits`, the caller's `If-Match`, rejects its revision.
    pub fn get<D: StoredResource<Kind = K, Error = E>>(
        &self,
        id: &str,
        fits: impl FnOnce(u64) -> bool,
    ) -> Result<Versioned<D>, E> {
        let found = get::<D>(self.engine, id)?;
        if fits(found.revision) { Ok(found) } else { Err(DocumentError::Changed.into()) }
    }

    /// Returns the revision of a resource that is to be deleted, which may be unreadable; fails if
    /// `fits`, the caller's `If-Match`, rejects it.
    pub fn revision<D: StoredResource<Kind = K, Error = E>>(
        &self,
        id: &str,
        fits: impl FnOnce(u64) -> bool,
    ) -> Result<u64, E> {
        let found = self.engine.documents().get::<IgnoredAny>(D::COLLECTION, id)?;
        match found.map(|found| found.revision) {
            None => Err(DocumentError::NotFound(D::KIND, id.to_owned()).into()),
            Some(revision) if fits(revision) => Ok(revision),
            Some(_) => Err(DocumentError::Changed.into()),
        }
    }

    /// Returns whether there is a document of a resource, which may be unreadable.
    pub fn contains<D: StoredResource<Kind = K, Error = E>>(&self, id: &str) -> Result<bool, E> {
        contains::<D>(self.engine, id)
    }

    /// Returns what `select` makes of the readable resources of a kind, newest first.
    pub fn select<D: StoredResource<Kind = K, Error = E>, S>(
        &self,
        select: impl FnMut(Versioned<D>) -> Option<S>,
    ) -> Result<Vec<S>, E> {
        self::select(self.engine, select)
    }

    /// Returns the number of documents of a kind with these changes, including unreadable
    /// resources.
    pub fn count<D: StoredResource<Kind = K, Error = E>>(&mut self) -> Result<usize, E> {
        let name = D::COLLECTION.0;
        let stored = match self.counts.0.get(name) {
            Some(count) => *count,
            None => {
                let mut count = 0;
                let visit = |_, _: Versioned<IgnoredAny>| count += 1;
                self.engine.documents().visit(D::COLLECTION, "", visit)?;
                self.counts.0.insert(name, count);
                count
            }
        };
        let added = self.added.get(name).copied().unwrap_or(0);
        Ok(stored.saturating_add_signed(added))
    }

    /// Adds a resource.
    pub fn insert<D: StoredResource<Kind = K, Error = E>>(
        &mut self,
        resource: &D,
    ) -> Result<(), E> {
        if self.count::<D>()? >= D::COUNT_MAX {
            return Err(DocumentError::TooMany { kind: D::KIND, max: D::COUNT_MAX }.into());
        }
        let stored = resource.to_stored();
        self.transaction.put(D::COLLECTION, &resource.id(), &stored, Expect::Absent)?;
        self.changed.insert(D::COLLECTION.0);
        *self.added.entry(D::COLLECTION.0).or_default() += 1;
        Ok(())
    }

    /// Replaces a resource, which has this revision now.
    pub fn replace<D: StoredResource<Kind = K, Error = E>>(
        &mut self,
        resource: &D,
        revision: u64,
    ) -> Result<(), E> {
        let expected = Expect::Revision(revision);
        let stored = resource.to_stored();
        self.changed.insert(D::COLLECTION.0);
        Ok(self.transaction.put(D::COLLECTION, &resource.id(), &stored, expected)?)
    }

    /// Deletes a resource, which has this revision now.
    pub fn delete<D: StoredResource<Kind = K, Error = E>>(&mut self, id: &str, revision: u64) {
        self.transaction.delete(D::COLLECTION, id, Expect::Revision(revision));
        self.changed.insert(D::COLLECTION.0);
        *self.added.entry(D::COLLECTION.0).or_default() -= 1;
    }

    /// Applies everything, together with the receipt of an idempotent request. Returns the revision
    /// of all documents that were written.
    pub fn commit(self, receipt: Option<Receipt>) -> Result<u64, E> {
        self.commit_then(receipt, |_| ())
    }

    /// Like [`Self::commit`], and calls `then` with the revision before the next change can begin:
    /// copies in memory see the changes in their order.
    pub fn commit_then(
        mut self,
        receipt: Option<Receipt>,
        then: impl FnOnce(u64),
    ) -> Result<u64, E> {
        if let Some(receipt) = receipt {
            self.transaction.receipt(receipt)?;
        }
        let committed = self.transaction.commit();
        self.counts.apply(&self.added, committed.is_ok());
        let revision = committed?;
        self.lock.count_change(&self.changed);
        then(revision);
        Ok(revision)
    }

    /// Like [`Self::commit`], with the changes of another area in the same transaction. The lock of
    /// the other area must be the one that is taken last wherever both are.
    pub fn commit_with<L, F>(mut self, mut other: Changes<'_, L, F>) -> Result<u64, E> {
        self.transaction.append(other.transaction);
        let committed = self.transaction.commit();
        self.counts.apply(&self.added, committed.is_ok());
        other.counts.apply(&other.added, committed.is_ok());
        let revision = committed?;
        self.lock.count_change(&self.changed);
        other.lock.count_change(&other.changed);
        Ok(revision)
    }
}

impl DocumentCounts {
    /// Counts the documents that a transaction has added, if it is committed.
    fn apply(&mut self, added: &BTreeMap<&'static str, isize>, is_committed: bool) {
        if !is_committed {
            // Whether the documents are stored is known after the next start only.
            self.0.clear();
        }
        for (name, added) in added {
            if let Some(count) = self.0.get_mut(name) {
                *count = count.saturating_add_signed(*added);
            }
        }
    }
}
