//! Reading entries in key order.

use rocksdb::DBRawIterator;

use super::failure::failure;
use super::keyspace::Keyspace;
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

/// The entries of a range, as they were when the scan began. After an error the scan is over: RocksDB does
/// not say where the damaged part ends.
pub(crate) struct Scan<'a> {
    raw: DBRawIterator<'a>,
    direction: Direction,
    keyspace: Keyspace,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Inside,
    Over,
}

impl<'a> Scan<'a> {
    pub(super) fn new(raw: DBRawIterator<'a>, keyspace: Keyspace, direction: Direction) -> Self {
        Self { raw, direction, keyspace, state: State::Before }
    }

    fn step(&mut self) {
        match (self.state, self.direction) {
            (State::Before, Direction::Forward) => self.raw.seek_to_first(),
            (State::Before, Direction::Backward) => self.raw.seek_to_last(),
            (State::Inside, Direction::Forward) => self.raw.next(),
            (State::Inside, Direction::Backward) => self.raw.prev(),
            (State::Over, _) => {}
        }
        self.state = if self.raw.valid() { State::Inside } else { State::Over };
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Over {
            return None;
        }
        self.step();
        if let Some((key, value)) = self.raw.item() {
            return Some(Ok((key.into(), value.into())));
        }
        let status = self.raw.status();
        status.err().map(|error| Err(failure(&format!("scan of {}", self.keyspace.name()), error)))
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
    scan: impl Fn(Direction) -> Scan<'a>,
    mut visit: impl FnMut(Box<[u8]>, Box<[u8]>),
) -> Result<Option<Gap>> {
    let mut after = None;
    for entry in scan(Direction::Forward) {
        match entry {
            Ok((key, value)) => {
                after = Some(key.clone());
                visit(key, value);
            }
            Err(error @ Error::Corrupt(_)) => {
                read_back_to_damage(scan(Direction::Backward), after.as_deref(), visit)?;
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
