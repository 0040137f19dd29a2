//! The documents and records of a history: what is stored, and what a failed change may have
//! stored.

use std::collections::BTreeMap;

use telltale_engine::{Collection, Engine, Error, Expect, KeyRange, RecordBatch, Result, Table};
use telltale_simulation::{Outcome, fail};

use super::steps::Change;

const COLLECTION: Collection = Collection("simulated");
const TABLE: Table = Table::new(200, "simulated");

/// Keys and values; a value consists of a number and a length.
type Content = BTreeMap<u8, (u32, u16)>;

/// A key-value store for small state, as the model sees it.
#[derive(Debug, Default)]
pub(crate) struct KeyValueModel {
    content: Content,
    /// The contents if the change that failed has reached the disk.
    unknown: Option<Content>,
}

impl KeyValueModel {
    /// Returns whether the outcome of a change is unknown until the next start.
    pub(crate) fn is_unknown(&self) -> bool {
        self.unknown.is_some()
    }

    /// Records the outcome of a change.
    pub(crate) fn changed(&mut self, changes: &[Change], outcome: &Result<()>) {
        let mut after = self.content.clone();
        for change in changes {
            match *change {
                Change::Put { key, value, bytes } => {
                    after.insert(key, (value, bytes));
                }
                Change::Delete { key } => {
                    after.remove(&key);
                }
                Change::DeleteRange { from, to } => {
                    after.retain(|key, _| !(from..to).contains(key))
                }
            }
        }
        match outcome {
            Ok(()) => self.content = after,
            Err(Error::Refused(_)) => {}
            Err(_) => self.unknown = Some(after),
        }
    }

    /// Returns whether `stored` is one of the possible contents.
    pub(crate) fn may_contain(&self, stored: &Content) -> bool {
        *stored == self.content || self.unknown.as_ref() == Some(stored)
    }

    /// Compares with the stored contents. After a restart, both possible contents are accepted.
    pub(crate) fn check(&mut self, stored: &Content, restarted: bool) -> Outcome {
        if restarted && let Some(unknown) = self.unknown.take() {
            if *stored == unknown {
                self.content = unknown;
            }
        } else if self.unknown.is_some() {
            return Ok(());
        }
        if *stored == self.content {
            return Ok(());
        }
        fail("documents or records differ", format!("{stored:?} instead of {:?}", self.content))
    }
}

fn document_id(key: u8) -> String {
    format!("document-{key}")
}

fn bytes_of(value: u32, bytes: u16) -> Vec<u8> {
    let mut content = value.to_be_bytes().to_vec();
    content.extend((0..bytes).map(|n| (u32::from(n).wrapping_mul(value) >> 3) as u8));
    content
}

pub(crate) fn change_documents(engine: &Engine, changes: &[Change]) -> Result<()> {
    let mut transaction = engine.documents().begin();
    for change in changes {
        match *change {
            Change::Put { key, value, bytes } => {
                let document = (value, bytes, "x".repeat(usize::from(bytes)));
                transaction.put(COLLECTION, &document_id(key), &document, Expect::Any)?;
            }
            Change::Delete { key } => {
                transaction.delete(COLLECTION, &document_id(key), Expect::Any);
            }
            Change::DeleteRange { .. } => {}
        }
    }
    transaction.commit().map(|_| ())
}

pub(crate) fn change_records(engine: &Engine, changes: &[Change]) -> Result<()> {
    let mut batch = RecordBatch::new();
    for change in changes {
        match *change {
            Change::Put { key, value, bytes } => {
                let mut stored = value.to_be_bytes().to_vec();
                stored.extend(bytes.to_be_bytes());
                stored.extend(bytes_of(value, bytes));
                batch.put(TABLE, &[key], stored);
            }
            Change::Delete { key } => batch.delete(TABLE, &[key]),
            Change::DeleteRange { from, to } => {
                let to = to.max(from);
                batch.delete_range(TABLE, &KeyRange { from: vec![from], to: Some(vec![to]) });
            }
        }
    }
    engine.records().write(batch)
}

/// Returns all documents. Fails if one differs from what was written.
pub(crate) fn documents(engine: &Engine) -> Result<Content> {
    let mut content = Content::new();
    let found = engine.documents().list::<(u32, u16, String)>(COLLECTION, "document-")?;
    for (id, document) in found {
        let key = id.trim_start_matches("document-").parse().unwrap();
        let (value, bytes, text) = document.value;
        if text.len() != usize::from(bytes) {
            return Err(Error::Corrupt(format!("document {id} has another value")));
        }
        content.insert(key, (value, bytes));
    }
    Ok(content)
}

/// Returns all records. Fails if one differs from what was written.
pub(crate) fn records(engine: &Engine) -> Result<Content> {
    let mut content = Content::new();
    let all = KeyRange::all();
    for entry in engine.records().scan(TABLE, &all, telltale_engine::Direction::Forward) {
        let (key, stored) = entry?;
        let whole = stored.split_first_chunk::<4>().and_then(|(value, rest)| {
            let (bytes, rest) = rest.split_first_chunk::<2>()?;
            let (value, bytes) = (u32::from_be_bytes(*value), u16::from_be_bytes(*bytes));
            (bytes_of(value, bytes) == rest).then_some((value, bytes))
        });
        let Some(found) = whole else {
            return Err(Error::Corrupt(format!("record {key:?} has another value")));
        };
        content.insert(key[0], found);
    }
    Ok(content)
}
