//! Reading entries in key order.

use super::failure::failure;
use super::held::HeldIterator;
use super::keyspace::Keyspace;
use super::range::KeyRange;
use super::store::Store;
use crate::error::{Error, Result};

/// The key and the value of one entry.
pub(crate) type Entry = (Box<[u8]>, Box<[u8]>);

/// In which order a scan goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// Whether what a scan reads stays in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// It will be read again.
    Keep,
    /// The reader comes once and leaves the cache to others.
    Bypass,
}

/// The entries of a range, as they were when the scan began. A table that is found damaged is mended, if it can be, and the
/// scan goes on. After an error it is over: RocksDB does not say where the damaged part ends.
pub(crate) struct Scan<'a> {
    /// The iterator; none after the database could not be read at all.
    raw: Option<HeldIterator>,
    store: &'a Store,
    range: KeyRange,
    caching: Caching,
    direction: Direction,
    keyspace: Keyspace,
    state: State,
    /// The key of the entry that was answered last.
    last: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Inside,
    Over,
}

impl<'a> Scan<'a> {
    pub(super) fn new(
        store: &'a Store,
        keyspace: Keyspace,
        range: &KeyRange,
        direction: Direction,
        caching: Caching,
    ) -> Self {
        let raw = store.iterator(keyspace, range, caching);
        let (range, last) = (range.clone(), Vec::new());
        Self { raw, store, range, caching, direction, keyspace, state: State::Before, last }
    }

    /// The entry after the last one, or why it cannot be read.
    fn step(&mut self) -> Option<Result<Entry>> {
        let Some(held) = &mut self.raw else {
            self.state = State::Over;
            return Some(Err(Error::Storage("the database is not open".to_owned())));
        };
        let raw = held.raw();
        match (self.state, self.direction) {
            (State::Before, Direction::Forward) => raw.seek_to_first(),
            (State::Before, Direction::Backward) => raw.seek_to_last(),
            (State::Inside, Direction::Forward) => raw.next(),
            (State::Inside, Direction::Backward) => raw.prev(),
            (State::Over, _) => return None,
        }
        self.answer()
    }

    /// Comes to the same place again, after the table was mended: with an iterator that has read nothing of it ahead. Writes
    /// since the scan began may show from here on.
    fn step_again(&mut self) -> Option<Result<Entry>> {
        self.raw = self.store.iterator(self.keyspace, &self.range, self.caching);
        if self.state == State::Before {
            return self.step();
        }
        let raw = self.raw.as_mut()?.raw();
        match self.direction {
            Direction::Forward => raw.seek(&self.last),
            Direction::Backward => raw.seek_for_prev(&self.last),
        }
        // The entry itself may have been deleted meanwhile.
        if raw.key() == Some(self.last.as_slice()) {
            match self.direction {
                Direction::Forward => raw.next(),
                Direction::Backward => raw.prev(),
            }
        }
        self.answer()
    }

    fn answer(&mut self) -> Option<Result<Entry>> {
        let raw = self.raw.as_mut()?.raw();
        if let Some((key, value)) = raw.item() {
            self.last.clear();
            self.last.extend_from_slice(key);
            let entry: Entry = (key.into(), value.into());
            self.state = State::Inside;
            return Some(Ok(entry));
        }
        let context = format!("scan of {}", self.keyspace.name());
        raw.status().err().map(|error| Err(failure(&context, error)))
    }
}

/// Tables that are mended for one step of a scan, each of which may be damaged.
const MENDED_MAX: usize = 64;

impl Iterator for Scan<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Over {
            return None;
        }
        let mut answer = self.step();
        for _ in 0..MENDED_MAX {
            match &answer {
                Some(Err(error @ Error::Corrupt(_))) if self.store.mend_after(error) => {
                    answer = self.step_again();
                }
                _ => break,
            }
        }
        if !matches!(answer, Some(Ok(_))) {
            self.state = State::Over;
        }
        answer
    }
}

/// A damaged part of a range, met by [`super::Store::read_around_damage`].
#[derive(Debug)]
pub(crate) struct Gap {
    /// The last readable key before the damage; none when it begins with the range.
    pub(crate) after: Option<Box<[u8]>>,
    /// What RocksDB says about it.
    pub(crate) error: Error,
}

/// Visits the entries forward to the first damage and, if there is some, those from the end back to the last.
/// So one damaged part costs the entries in it and the one after it, whose older versions RocksDB looks for in
/// the damaged part on its way back; of two, what lies between is lost as well.
pub(super) fn read_around_damage<'a>(
    scan: impl Fn(&KeyRange, Direction) -> Scan<'a>,
    range: &KeyRange,
    mut visit: impl FnMut(Box<[u8]>, Box<[u8]>),
) -> Result<Option<Gap>> {
    let mut after = None;
    for entry in scan(range, Direction::Forward) {
        match entry {
            Ok((key, value)) => {
                after = Some(key.clone());
                visit(key, value);
            }
            Err(error @ Error::Corrupt(_)) => {
                read_back_to_damage(scan(range, Direction::Backward), after.as_deref(), visit)?;
                return Ok(Some(Gap { after, error }));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Visits, in ascending order, the entries from the end of a range down to the damage, or to `visited` should
/// the damage not show itself again.
fn read_back_to_damage(
    scan: Scan<'_>,
    visited: Option<&[u8]>,
    mut visit: impl FnMut(Box<[u8]>, Box<[u8]>),
) -> Result<()> {
    let mut entries = Vec::new();
    for entry in scan {
        match entry {
            Ok((key, _)) if visited.is_some_and(|visited| *key <= *visited) => break,
            Ok(entry) => entries.push(entry),
            Err(Error::Corrupt(_)) => break,
            Err(error) => return Err(error),
        }
    }
    entries.into_iter().rev().for_each(|(key, value)| visit(key, value));
    Ok(())
}
