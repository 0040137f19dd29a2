//! The documents of the area: one collection for each kind of resource.
//!
//! Every change holds the lock of [`Changes`] from before it reads until it is committed. No other
//! code writes these collections, so a commit never conflicts, and what a change has checked still
//! holds when it is applied.

use parking_lot::MutexGuard;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use telltale_engine::{Collection, Engine, Expect, Receipt, Transaction, Versioned};

use super::error::{AlertingError, Kind};
use crate::app::App;

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

/// A change of any number of resources, applied as a whole or not at all.
pub(super) struct Changes<'a> {
    engine: &'a Engine,
    transaction: Transaction<'a>,
    _guard: MutexGuard<'a, ()>,
}

impl<'a> Changes<'a> {
    /// Waits for the change before this one.
    pub(super) fn begin(app: &'a App) -> Self {
        let guard = app.alerting().changes().lock();
        let engine = app.engine();
        Self { engine, transaction: engine.documents().begin(), _guard: guard }
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

    /// Returns what `select` makes of the readable resources of a kind, newest first.
    pub(super) fn select<D: AlertingDocument, S>(
        &self,
        select: impl FnMut(Versioned<D>) -> Option<S>,
    ) -> Result<Vec<S>, AlertingError> {
        self::select(self.engine, select)
    }

    /// Returns the number of documents of a kind, including unreadable resources.
    pub(super) fn count<D: AlertingDocument>(&self) -> Result<usize, AlertingError> {
        let mut count = 0;
        let visit = |_, _: Versioned<IgnoredAny>| count += 1;
        self.engine.documents().visit(D::COLLECTION, "", visit)?;
        Ok(count)
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
        Ok(self.transaction.put(D::COLLECTION, resource.id(), &stored, Expect::Absent)?)
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
    }

    /// Applies everything, together with the receipt of an idempotent request. Returns the revision
    /// of all documents that were written.
    pub(super) fn commit(mut self, receipt: Option<Receipt>) -> Result<u64, AlertingError> {
        if let Some(receipt) = receipt {
            self.transaction.receipt(receipt)?;
        }
        Ok(self.transaction.commit()?)
    }
}
