//! Transactions: changes of documents that are applied together or not at all.

use std::collections::BTreeSet;

use serde::Serialize;

use super::claims::Slot;
use super::collection::{self, Collection, DocumentKey, display_name};
use super::read::Documents;
use super::receipt::Receipt;
use crate::error::{Error, Refusal, Result};
use crate::limits;
use crate::storage::{Batch, Keyspace, Sync, keyspaces};

/// The state that a change expects; otherwise the whole transaction fails with
/// [`Refusal::Conflict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Any state, including a corrupt document.
    Any,
    /// No document.
    Absent,
    /// A document with this revision.
    Revision(u64),
}

/// Changes that are collected and then applied by [`Transaction::commit`]. Dropping the transaction
/// discards them. Nothing is locked before the commit.
#[derive(Debug)]
pub struct Transaction<'a> {
    documents: &'a Documents,
    changes: Vec<Change>,
    receipts: Vec<Receipt>,
}

/// A document to be written, or to be deleted if there is no JSON.
#[derive(Debug)]
struct Change {
    key: DocumentKey,
    json: Option<Vec<u8>>,
    expect: Expect,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(documents: &'a Documents) -> Self {
        Self { documents, changes: Vec::new(), receipts: Vec::new() }
    }

    /// Writes `value` as the document `id`, replacing an existing one.
    ///
    /// Fails, and leaves the transaction unchanged, if the value cannot be serialised as JSON or
    /// exceeds a limit of [`crate::limits`].
    pub fn put<T: Serialize + ?Sized>(
        &mut self,
        collection: Collection,
        id: &str,
        value: &T,
        expect: Expect,
    ) -> Result<()> {
        let key = collection.key(id);
        let json = serde_json::to_vec(value)
            .map_err(|error| unfit(&key, &format!("cannot be serialised as JSON: {error}")))?;
        if id.len() > limits::DOCUMENT_ID_BYTES_MAX {
            return Err(unfit(&key, "has an id that is too long"));
        }
        if json.len() > limits::DOCUMENT_BYTES_MAX {
            return Err(unfit(&key, &format!("is too large: {} bytes", json.len())));
        }
        if nesting(&json) > limits::DOCUMENT_NESTING_MAX {
            return Err(unfit(&key, "is nested too deeply to be parsed"));
        }
        self.changes.push(Change { key, json: Some(json), expect });
        Ok(())
    }

    /// Deletes the document `id`. A missing document is not an error unless another state is
    /// expected.
    pub fn delete(&mut self, collection: Collection, id: &str, expect: Expect) {
        self.changes.push(Change { key: collection.key(id), json: None, expect });
    }

    /// Adds the changes of another transaction of the same store.
    pub fn append(&mut self, other: Transaction<'_>) {
        self.changes.extend(other.changes);
        self.receipts.extend(other.receipts);
    }

    /// Stores `receipt` with the changes. Expects that no unexpired receipt has its id: of two
    /// concurrent requests with one id, one commit succeeds; the other fails with
    /// [`Refusal::Conflict`] and can then read the receipt of the first. Fails if the response is
    /// longer than [`limits::RECEIPT_RESPONSE_BYTES_MAX`].
    pub fn receipt(&mut self, receipt: Receipt) -> Result<()> {
        if receipt.answer.len() > limits::RECEIPT_RESPONSE_BYTES_MAX {
            let message =
                format!("the response in a receipt is too large: {} bytes", receipt.answer.len());
            return Err(Error::Storage(message));
        }
        self.receipts.push(receipt);
        Ok(())
    }

    /// Applies all changes or none, and returns the revision of all documents written once they are
    /// durable. Of several changes to one document the last one wins; all expectations refer to the
    /// state before the transaction.
    ///
    /// Fails with [`Refusal::Conflict`] if an expectation does not hold, and with
    /// [`Error::Unavailable`] while the disk is full; in both cases nothing has changed. After
    /// [`Error::Storage`], or if the process stops while the disk is full, the changes may be found
    /// applied after the next start.
    pub fn commit(self) -> Result<u64> {
        let Self { documents, changes, receipts } = self;
        let claim = documents.claims.claim(slots(&changes, &receipts));
        for change in &changes {
            documents.check(&change.key, change.expect)?;
        }
        for receipt in &receipts {
            if documents.receipt(receipt.id)?.is_some() {
                return Err(Refusal::Conflict.into());
            }
        }
        let revision = documents.revisions.next(&documents.store)?;
        let mut batch = Batch::new();
        for Change { key, json, .. } in &changes {
            match json {
                Some(json) => {
                    let stored = collection::encode(key, revision, json);
                    batch.put(keyspaces::Documents, key, stored);
                }
                None => batch.delete(keyspaces::Documents, key),
            }
        }
        receipts.iter().for_each(|receipt| receipt.stage(&mut batch));
        documents.store.write(batch, Sync::Yes)?;
        drop(claim);
        documents.forget_damage(changes.iter().map(|change| &*change.key));
        Ok(revision)
    }
}

fn slots(changes: &[Change], receipts: &[Receipt]) -> BTreeSet<Slot> {
    let documents = changes.iter().map(|change| (Keyspace::Documents, (*change.key).into()));
    let receipts =
        receipts.iter().map(|r| (Keyspace::Receipts, Receipt::key(r.id).as_ref().into()));
    documents.chain(receipts).collect()
}

fn unfit(key: &[u8], why: &str) -> Error {
    Error::Storage(format!("document {} {why}", display_name(key)))
}

/// Returns the nesting depth of arrays and objects.
fn nesting(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::nesting;

    #[test]
    fn nesting_ignores_brackets_in_strings() {
        assert_eq!(nesting(b"7"), 0);
        assert_eq!(nesting(br#"{"a":[1,{"b":[]}],"c":[]}"#), 4);
        assert_eq!(nesting(br#"{"a":"[[[[\"[[","b\\":"{"}"#), 1);
    }
}
