//! Changes of documents that happen together or not at all.

use std::collections::BTreeSet;

use serde::Serialize;

use super::claims::Slot;
use super::collection::{self, Collection, display_name};
use super::read::Documents;
use super::receipt::Receipt;
use crate::error::{Error, Refusal, Result};
use crate::limits;
use crate::storage::{Batch, Keyspace, Sync};

/// What a change expects to find, else the whole transaction is refused with [`Refusal::Conflict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Whatever is there, damaged or not.
    Any,
    /// No document.
    Absent,
    /// The document with this revision.
    Revision(u64),
}

/// Changes that are gathered first and applied by [`Transaction::commit`]. Dropped without it, they are
/// forgotten. Nothing is locked meanwhile.
#[derive(Debug)]
pub struct Transaction<'a> {
    documents: &'a Documents,
    changes: Vec<Change>,
    receipts: Vec<Receipt>,
}

/// One document to write, or to delete when there is no JSON.
#[derive(Debug)]
struct Change {
    key: Vec<u8>,
    json: Option<Vec<u8>>,
    expect: Expect,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(documents: &'a Documents) -> Self {
        Self { documents, changes: Vec::new(), receipts: Vec::new() }
    }

    /// Stores `value` as the document `id`, in place of what is there.
    ///
    /// Fails, and leaves the transaction as it was, when the value is no JSON, or goes over a limit
    /// of [`crate::limits`].
    pub fn put<T: Serialize + ?Sized>(
        &mut self,
        collection: Collection,
        id: &str,
        value: &T,
        expect: Expect,
    ) -> Result<()> {
        let key = collection.key(id);
        let json = serde_json::to_vec(value)
            .map_err(|error| unfit(&key, &format!("cannot be written as JSON: {error}")))?;
        if id.len() > limits::DOCUMENT_ID_BYTES_MAX {
            return Err(unfit(&key, "has too long an id"));
        }
        if json.len() > limits::DOCUMENT_BYTES_MAX {
            return Err(unfit(&key, &format!("is too large: {} bytes", json.len())));
        }
        if nesting(&json) > limits::DOCUMENT_NESTING_MAX {
            return Err(unfit(&key, "is nested too deep to be read again"));
        }
        self.changes.push(Change { key, json: Some(json), expect });
        Ok(())
    }

    /// Deletes the document `id`. That it is not there is no failure, unless another state is expected.
    pub fn delete(&mut self, collection: Collection, id: &str, expect: Expect) {
        self.changes.push(Change { key: collection.key(id), json: None, expect });
    }

    /// Stores `receipt` with the changes. Expects that there is none with its id, unless expired: of two
    /// requests with one id that are under way at the same time, one commit succeeds and the other is
    /// refused with [`Refusal::Conflict`] and finds the receipt of the first. Fails when its answer is longer
    /// than [`limits::RECEIPT_ANSWER_BYTES_MAX`].
    pub fn receipt(&mut self, receipt: Receipt) -> Result<()> {
        if receipt.answer.len() > limits::RECEIPT_ANSWER_BYTES_MAX {
            let message = format!("the answer of a receipt is too large: {}", receipt.answer.len());
            return Err(Error::Storage(message));
        }
        self.receipts.push(receipt);
        Ok(())
    }

    /// Applies all changes, or none. Returns the revision of every document written, when they are on the
    /// disk. Of several changes to one document the last one stays; all expectations are about the
    /// state before the transaction.
    ///
    /// Fails with [`Refusal::Conflict`] when an expectation does not hold, and with [`Error::Unavailable`]
    /// while the disk is full: then nothing has changed. After [`Error::Storage`], and should the
    /// process die while the disk is full, the next start may find the changes made.
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
                    batch.put(Keyspace::Documents, key, stored);
                }
                None => batch.delete(Keyspace::Documents, key),
            }
        }
        receipts.iter().for_each(|receipt| receipt.stage(&mut batch));
        documents.store.write(batch, Sync::Yes)?;
        drop(claim);
        documents.forget_damage(changes.iter().map(|change| change.key.as_slice()));
        Ok(revision)
    }
}

fn slots(changes: &[Change], receipts: &[Receipt]) -> BTreeSet<Slot> {
    let documents =
        changes.iter().map(|change| (Keyspace::Documents, change.key.as_slice().into()));
    let receipts = receipts.iter().map(|r| (Keyspace::Receipts, Receipt::key(r.id).into()));
    documents.chain(receipts).collect()
}

fn unfit(key: &[u8], why: &str) -> Error {
    Error::Storage(format!("document {} {why}", display_name(key)))
}

/// How deep arrays and objects stand in each other.
fn nesting(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_text, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => depth += 1,
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
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
    fn nesting_counts_brackets_outside_text() {
        assert_eq!(nesting(b"7"), 0);
        assert_eq!(nesting(br#"{"a":[1,{"b":[]}],"c":[]}"#), 4);
        assert_eq!(nesting(br#"{"a":"[[[[\"[[","b\\":"{"}"#), 1);
    }
}
