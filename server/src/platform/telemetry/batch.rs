//! Batches of telemetry: finds the list of items in a body and counts accepted and rejected items.
//! Shared by metrics, events and the combined batch; the areas define what a valid item is.

use super::super::json::{Cursor, Elements, Json, Value, has_too_many_values};
use crate::limits;

/// Why a body is not a valid batch. Nothing of it is stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBatch {
    /// The body is not an object.
    #[error("the body must be a JSON object")]
    NotAnObject,
    /// The body contains this key more than once.
    #[error("the body has the key {0:?} twice in one object")]
    Twice(&'static str),
    /// The body does not contain this key.
    #[error("{0} is required")]
    Missing(&'static str),
    /// The value of this key is not an array.
    #[error("{0} must be an array")]
    NotAnArray(&'static str),
    /// The list is too long.
    #[error("a batch may have at most {max} {key}; this one has {items}", max = limits::BATCH_ITEMS_MAX)]
    TooLong {
        /// The key of the list.
        key: &'static str,
        /// The number of its items.
        items: usize,
    },
}

/// The result of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<E> {
    /// The number of stored items.
    pub accepted: usize,
    /// The number of rejected items.
    pub rejected: usize,
    /// The first rejected items, at most [`limits::BATCH_ERRORS_LISTED_MAX`].
    pub errors: Vec<Rejected<E>>,
}

/// A rejected item of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected<E> {
    /// Its index in the batch, from 0.
    pub index: usize,
    /// Why it was rejected.
    pub error: E,
}

/// Returns the list under `key`, of any length, or `None` if it is absent or null.
pub fn list<'d>(
    document: Value<'d>,
    key: &'static str,
) -> Result<Option<Elements<'d>>, InvalidBatch> {
    let Json::Object(members) = document.json() else {
        return Err(InvalidBatch::NotAnObject);
    };
    let mut found = members.filter(|(name, _)| *name == key).map(|(_, value)| value);
    match (found.next().map(Value::json), found.next()) {
        (_, Some(_)) => Err(InvalidBatch::Twice(key)),
        (Some(Json::Array(items)), None) => Ok(Some(items)),
        (None | Some(Json::Null), None) => Ok(None),
        (Some(_), None) => Err(InvalidBatch::NotAnArray(key)),
    }
}

/// Returns the items under `key`, which is required and limited to [`limits::BATCH_ITEMS_MAX`]
/// items.
pub fn items<'d>(document: Value<'d>, key: &'static str) -> Result<Elements<'d>, InvalidBatch> {
    let items = list(document, key)?.ok_or(InvalidBatch::Missing(key))?;
    if items.len() > limits::BATCH_ITEMS_MAX {
        return Err(InvalidBatch::TooLong { key, items: items.len() });
    }
    Ok(items)
}

/// Calls `item` to read each item of a plain body whose only member is the list under `key`, and
/// returns their number. Returns `None` for any other body, or if `item` does.
pub fn plain_items<'b>(
    body: &'b [u8],
    key: &str,
    mut item: impl FnMut(&mut Cursor<'b>) -> Option<()>,
) -> Option<usize> {
    if has_too_many_values(body) {
        return None;
    }
    let (mut cursor, mut items) = (Cursor::new(body)?, 0);
    cursor.eat(b'{')?;
    if cursor.string()? != key {
        return None;
    }
    cursor.eat(b':')?;
    cursor.elements(|cursor| {
        items += 1;
        if items > limits::BATCH_ITEMS_MAX { None } else { item(cursor) }
    })?;
    cursor.eat(b'}')?;
    cursor.ended().then_some(items)
}

impl<E> Outcome<E> {
    /// Reads the items one by one, counts those that `read` rejects and keeps the first errors.
    pub fn of<'d>(items: Elements<'d>, mut read: impl FnMut(Value<'d>) -> Result<(), E>) -> Self {
        let mut outcome = Self::default();
        items.for_each(|item| outcome.add(read(item)));
        outcome
    }

    /// Counts the next item.
    pub fn add(&mut self, read: Result<(), E>) {
        let index = self.accepted + self.rejected;
        match read {
            Ok(()) => self.accepted += 1,
            Err(error) => {
                self.rejected += 1;
                if self.errors.len() < limits::BATCH_ERRORS_LISTED_MAX {
                    self.errors.push(Rejected { index, error });
                }
            }
        }
    }
}

impl<E> Default for Outcome<E> {
    fn default() -> Self {
        Self { accepted: 0, rejected: 0, errors: Vec::new() }
    }
}
