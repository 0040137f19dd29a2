//! The documents of the area: one collection for each kind of resource.
//!
//! Every change holds the lock of [`Changes`] from before it reads until it is committed. No other
//! code writes these collections, so a commit never conflicts, and what a change has checked still
//! holds when it is applied. The lock also keeps the number of documents, so that the creation of
//! many does not visit all of them each time.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::MutexGuard;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use telltale_engine::{Collection, Engine, Expect, Receipt, Transaction, Versioned};

use super::error::{AlertingError, Kind};
use super::state::Alerting;
use crate::app::App;

/// The number of documents of each collection that was counted before.
#[derive(Debug, Default)]
pub(super) struct DocumentCounts(BTreeMap<&'static str, usize>);

/// A kind of resource that is stored as a document.
pub(super) trait AlertingDocument: Sized {
    /// The stored form.
    type Stored: Serialize + DeserializeOwned;
    /// The collection of its documents.
    const COLLECTION: Collection;
    /// The kind, for errors.
    const KIND: Kind;
    /// Maximum number of documents.
    const COUNT_MAX: usize;

    /// Returns the id.
    fn id(&self) -> &str;
    /// Returns the stored form.
    fn to_stored(&self) -> Self::Stored;
    /// Returns the resource in a document.
    fn from_stored(id: String, stored: Self::Stored) -> Self;
}

/// Returns the resource `id` with its revision.
pub(super) fn get<D: AlertingDocument>(
    engine: &Engine,
    id: &str,
) -> Result<Versioned<D>, AlertingError> {
    let found = engine.documents().get::<D::Stored>(D::COLLECTION, id)?;
    let missing = || AlertingError::NotFound(D::KIND, id.to_owned());
    let Versioned { value, revision } = found.ok_or_else(missing)?;
    Ok(Versioned { value: D::from_stored(id.to_owned(), value), revision })
}

/// Returns whether there is a document of a resource, which may be unreadable.
pub(super) fn contains<D: AlertingDocument>(
    engine: &Engine,
    id: &str,
) -> Result<bool, AlertingError> {
    Ok(engine.documents().get::<IgnoredAny>(D::COLLECTION, id)?.is_some())
}

/// Returns what `select` makes of the readable resources of a kind, newest first. One resource at a
/// time is in memory.
pub(super) fn select<D: AlertingDocument, S>(
    engine: &Engine,
    mut select: impl FnMut(Versioned<D>) -> Option<S>,
) -> Result<Vec<S>, AlertingError> {
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
pub(super) fn shared<D: AlertingDocument>(
    engine: &Engine,
    known: impl Fn(&str, u64) -> Option<Arc<D>>,
) -> Result<Vec<Versioned<Arc<D>>>, AlertingError> {
    let mut all = Vec::new();
    let visit = |id: String, found: Versioned<Box<RawValue>>| {
        let resource = known(&id, found.revision).or_else(|| parse(id, &found.value));
        all.extend(resource.map(|value| Versioned { value, revision: found.revision }));
    };
    engine.documents().visit(D::COLLECTION, "", visit)?;
    Ok(all)
}

/// Returns one resource, to be shared, if it is readable. It is not parsed again if it is `known`
/// with its revision.
pub(super) fn shared_one<D: AlertingDocument>(
    engine: &Engine,
    id: &str,
    known: Option<(&Arc<D>, u64)>,
) -> Result<Option<Versioned<Arc<D>>>, AlertingError> {
    let found = engine.documents().get::<Box<RawValue>>(D::COLLECTION, id)?;
    let Some(Versioned { value, revision }) = found else { return Ok(None) };
    let known = known.filter(|(_, of_known)| *of_known == revision);
    let value = known.map(|(known, _)| Arc::clone(known)).or_else(|| parse(id.to_owned(), &value));
    Ok(value.map(|value| Versioned { value, revision }))
}

fn parse<D: AlertingDocument>(id: String, json: &RawValue) -> Option<Arc<D>> {
    match serde_json::from_str::<D::Stored>(json.get()) {
        Ok(stored) => Some(Arc::new(D::from_stored(id, stored))),
        Err(error) => {
            tracing::error!(id, %error, "a document of alerting cannot be read");
            None
        }
    }
}

/// A change of any number of resources, applied as a whole or not at all.
pub(super) struct Changes<'a> {
    alerting: &'a Alerting,
    engine: &'a Engine,
    transaction: Transaction<'a>,
    /// Holds the lock.
    counts: MutexGuard<'a, DocumentCounts>,
    /// The documents that the transaction adds to each collection, less those that it deletes.
    added: BTreeMap<&'static str, isize>,
}

impl<'a> Changes<'a> {
    /// Waits for the change before this one.
    pub(super) fn begin(app: &'a App) -> Self {
        let (alerting, engine) = (app.alerting(), app.engine());
        let counts = alerting.changes().lock();
        let transaction = engine.documents().begin();
        Self { alerting, engine, transaction, counts, added: BTreeMap::new() }
    }

    /// Returns the resource `id`; fails if `fits`, the caller's `If-Match`, rejects its revision.
    pub(super) fn get<D: AlertingDocument>(
        &self,
        id: &str,
        fits: impl FnOnce(u64) -> bool,
    ) -> Result<Versioned<D>, AlertingError> {
        let found = get::<D>(self.engine, id)?;
        if fits(found.revision) { Ok(found) } else { Err(AlertingError::Changed) }
    }

    /// Returns whether there is a document of a resource, which may be unreadable.
    pub(super) fn contains<D: AlertingDocument>(&self, id: &str) -> Result<bool, AlertingError> {
        contains::<D>(self.engine, id)
    }

    /// Returns what `select` makes of the readable resources of a kind, newest first.
    pub(super) fn select<D: AlertingDocument, S>(
        &self,
        select: impl FnMut(Versioned<D>) -> Option<S>,
    ) -> Result<Vec<S>, AlertingError> {
        self::select(self.engine, select)
    }

    /// Returns the number of documents of a kind with these changes, including unreadable
    /// resources.
    pub(super) fn count<D: AlertingDocument>(&mut self) -> Result<usize, AlertingError> {
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
    pub(super) fn insert<D: AlertingDocument>(
        &mut self,
        resource: &D,
    ) -> Result<(), AlertingError> {
        if self.count::<D>()? >= D::COUNT_MAX {
            return Err(AlertingError::TooMany { kind: D::KIND, max: D::COUNT_MAX });
        }
        let stored = resource.to_stored();
        self.transaction.put(D::COLLECTION, resource.id(), &stored, Expect::Absent)?;
        *self.added.entry(D::COLLECTION.0).or_default() += 1;
        Ok(())
    }

    /// Replaces a resource, which has this revision now.
    pub(super) fn replace<D: AlertingDocument>(
        &mut self,
        resource: &D,
        revision: u64,
    ) -> Result<(), AlertingError> {
        let expected = Expect::Revision(revision);
        Ok(self.transaction.put(D::COLLECTION, resource.id(), &resource.to_stored(), expected)?)
    }

    /// Deletes a resource, which has this revision now.
    pub(super) fn delete<D: AlertingDocument>(&mut self, id: &str, revision: u64) {
        self.transaction.delete(D::COLLECTION, id, Expect::Revision(revision));
        *self.added.entry(D::COLLECTION.0).or_default() -= 1;
    }

    /// Applies everything, together with the receipt of an idempotent request. Returns the revision
    /// of all documents that were written.
    pub(super) fn commit(mut self, receipt: Option<Receipt>) -> Result<u64, AlertingError> {
        if let Some(receipt) = receipt {
            self.transaction.receipt(receipt)?;
        }
        let committed = self.transaction.commit();
        let DocumentCounts(counts) = &mut *self.counts;
        if committed.is_err() {
            // Whether the documents are stored is known after the next start only.
            counts.clear();
        }
        for (name, added) in self.added {
            if let Some(count) = counts.get_mut(name) {
                *count = count.saturating_add_signed(added);
            }
        }
        let revision = committed?;
        self.alerting.next_generation();
        Ok(revision)
    }
}
