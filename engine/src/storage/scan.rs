//! Reading entries in key order.

use super::keyspace::Keyspace;
use super::pinned::HeldIterator;
use super::range::KeyRange;
use super::rocksdb_error::failure;
use super::store::Store;
use crate::error::{Error, Result};

/// The key and the value of one entry.
pub(crate) type Entry = (Box<[u8]>, Box<[u8]>);

/// The order of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// Whether the blocks that a scan reads stay in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// They will be read again.
    Keep,
    /// They are read once, and must not displace others.
    Bypass,
}

/// The entries of a range as of the start of the scan. A damaged table is repaired if possible, and
/// the scan continues. An error ends the scan, since RocksDB does not report where the damaged part
/// ends.
pub(crate) struct Scan<'a> {
    /// The iterator, or `None` if the database is not open.
    raw: Option<HeldIterator>,
    store: &'a Store,
    range: KeyRange,
    caching: Caching,
    direction: Direction,
    keyspace: Keyspace,
    state: ScanState,
    /// The key of the last returned entry.
    last: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanState {
    Before,
    Inside,
    Over,
}

impl<'a> Scan<'a> {
    pub(super) fn new(
        store: &'a Store,
        keyspace: Keyspace,
        range: KeyRange,
        direction: Direction,
        caching: Caching,
    ) -> Self {
        let raw = store.iterator(keyspace, &range, caching);
        let (state, last) = (ScanState::Before, Vec::new());
        Self { raw, store, range, caching, direction, keyspace, state, last }
    }

    /// Returns the next entry, or why it cannot be read.
    fn step(&mut self) -> Option<Result<Entry>> {
        let Some(held) = &mut self.raw else {
            self.state = ScanState::Over;
            return Some(Err(not_open()));
        };
        let raw = held.raw();
        match (self.state, self.direction) {
            (ScanState::Before, Direction::Forward) => raw.seek_to_first(),
            (ScanState::Before, Direction::Backward) => raw.seek_to_last(),
            (ScanState::Inside, Direction::Forward) => raw.next(),
            (ScanState::Inside, Direction::Backward) => raw.prev(),
            (ScanState::Over, _) => return None,
        }
        self.read_entry()
    }

    /// Seeks to the same position again after a table was repaired, with a new iterator that has
    /// not read ahead. Writes made since the scan started may be visible from here on.
    fn step_again(&mut self) -> Option<Result<Entry>> {
        self.raw = self.store.iterator(self.keyspace, &self.range, self.caching);
        if self.state == ScanState::Before {
            return self.step();
        }
        let Some(held) = &mut self.raw else { return Some(Err(not_open())) };
        let raw = held.raw();
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
        self.read_entry()
    }

    fn read_entry(&mut self) -> Option<Result<Entry>> {
        let Some(held) = &mut self.raw else { return Some(Err(not_open())) };
        let raw = held.raw();
        if let Some((key, value)) = raw.item() {
            self.last.clear();
            self.last.extend_from_slice(key);
            let entry: Entry = (key.into(), value.into());
            self.state = ScanState::Inside;
            return Some(Ok(entry));
        }
        let context = format!("scan of {}", self.keyspace.name());
        raw.status().err().map(|error| Err(failure(&context, error)))
    }
}

fn not_open() -> Error {
    Error::Storage("the database is not open".to_owned())
}

/// Maximum tables repaired during one step of a scan, each of which may be damaged.
const REPAIRS_MAX: usize = 64;

impl Iterator for Scan<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == ScanState::Over {
            return None;
        }
        let mut outcome = self.step();
        for _ in 0..REPAIRS_MAX {
            match &outcome {
                Some(Err(error @ Error::Corrupt(_))) if self.store.repair_after(error) => {
                    outcome = self.step_again();
                }
                _ => break,
            }
        }
        if !matches!(outcome, Some(Ok(_))) {
            self.state = ScanState::Over;
        }
        outcome
    }
}

/// A damaged part of a range, found by [`super::Store::read_skipping_damage`].
#[derive(Debug)]
pub(crate) struct Gap {
    /// The last readable key before the damage, or `None` when the damage starts with the range.
    pub(crate) after: Option<Box<[u8]>>,
    /// RocksDB's error.
    pub(crate) error: Error,
}

/// Visits the entries that `scan` returns, forward to the first damage and, if there is any, those
/// from the end back to the last. One damaged part thus costs the entries in it and the one after
/// it, whose older versions RocksDB searches in the damaged part when iterating backward. With two
/// damaged parts, everything between them is lost as well.
pub(super) fn read_skipping_damage<'a>(
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

/// Visits, in ascending order, the entries from the end of a range down to the damage, or to
/// `visited` if the damage does not recur.
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

#[cfg(test)]
mod tests {
    use super::super::batch::{Batch, Sync};
    use super::super::typed_range::RangeOf;
    use super::*;

    #[test]
    fn a_scan_that_continues_in_a_closed_database_fails() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 16 << 20, 2).unwrap();
        let mut batch = Batch::new();
        [1, 2].iter().for_each(|key| batch.put(Keyspace::Documents, &[*key], Vec::new()));
        store.write(batch, Sync::No).unwrap();
        let all = RangeOf::all(Keyspace::Documents);
        let mut scan = store.scan(all, Direction::Forward, Caching::Keep);
        assert!(matches!(scan.next(), Some(Ok(_))));
        store.close();
        assert!(matches!(scan.step_again(), Some(Err(Error::Storage(_)))));
    }
}
