//! Keyspaces that are stored twice.
//!
//! Every write to such a keyspace is also written to [`Keyspace::Copies`] in the same batch. When
//! the database is opened, both are read, and entries that one of them lacks because a table was
//! lost are restored from the other. A database of an older version gets its copies in the same
//! way.

use std::collections::{BTreeMap, BTreeSet};

use super::batch::{Batch, Sync, copy_key};
use super::fact::Fact;
use super::keyspace::Keyspace;
use super::range::KeyRange;
use super::scan::{Caching, Scan, read_skipping_damage};
use super::schema::keyspaces;
use super::store::Store;
use crate::damage::Finding;
use crate::error::{Error, Result};

/// How often an entry is read again because it changed between the reads of its two copies.
const READS_MAX: usize = 100;

type Entries = BTreeMap<Box<[u8]>, Box<[u8]>>;

impl Store {
    /// Makes each keyspace and its copy equal.
    pub(super) fn match_copies(&self) -> Result<()> {
        for keyspace in Keyspace::ALL {
            if let Some(prefix) = keyspace.copied_as() {
                self.match_copies_of(keyspace, prefix)?;
            }
        }
        Ok(())
    }

    fn match_copies_of(&self, keyspace: Keyspace, prefix: u8) -> Result<()> {
        let (mut first, damaged) = self.entries(keyspace, KeyRange::all(), 0)?;
        let (mut second, copy_damaged) =
            self.entries(Keyspace::Copies, KeyRange::prefix(&[prefix]), 1)?;
        let mut batch = Batch::new();
        let (mut lacking, mut uncopied, mut different) = (0_u64, 0_u64, 0_u64);
        // A database of an older version has none.
        let has_copies = !second.is_empty();
        for (key, value) in &second {
            if !first.contains_key(key) {
                lacking += 1;
                batch.put_bytes(keyspace, key, value.to_vec());
            }
        }
        for (key, value) in &mut first {
            let copy = second.remove(key);
            if copy.as_ref() == Some(value) {
                continue;
            }
            match copy {
                Some(_) => different += 1,
                None => uncopied += 1,
            }
            // The two values differ when a table was lost and an older version of an entry became
            // visible. The numbers in `Meta` only grow.
            let newer = |copy: &[u8]| keyspace == Keyspace::Meta && number(copy) > number(value);
            let kept = copy.filter(|copy| newer(copy)).unwrap_or_else(|| value.clone());
            batch.put_bytes(keyspace, key, kept.into_vec());
        }
        let lost = damaged || copy_damaged || lacking > 0 || different > 0;
        if lost || (has_copies && uncopied > 0) {
            let copies = uncopied + different;
            self.findings.report(Finding::Mended(format!(
                "{}: entries were damaged or lost and have been restored from their copies ({lacking} entries, {copies} copies)",
                keyspace.name()
            )));
        }
        if batch.len() > 0 {
            self.repair_suspect_tables()?;
            self.write(batch, Sync::Yes)?;
        }
        Ok(())
    }

    fn entries(&self, keyspace: Keyspace, range: KeyRange, skip: usize) -> Result<(Entries, bool)> {
        let mut entries = Entries::new();
        let visit = |key: Box<[u8]>, value: Box<[u8]>| {
            let Some(key) = key.get(skip..) else {
                unreachable!("every key of the range starts with its prefix")
            };
            entries.insert(key.into(), value);
        };
        let scan = |to| Scan::new(self, keyspace, range.clone(), to, Caching::Bypass);
        let gap = read_skipping_damage(scan, visit)?;
        Ok((entries, gap.is_some()))
    }

    /// Returns whether entries of a keyspace were lost and what they referred to has not been
    /// searched for yet.
    pub(crate) fn has_lost_entries(&self, keyspace: Keyspace) -> Result<bool> {
        self.get(keyspaces::Meta, &Fact::Lost(keyspace)).map(|lost| lost.is_some())
    }

    /// Records that what the lost entries of a keyspace referred to has been searched for.
    pub(crate) fn clear_lost_entries(&self, keyspace: Keyspace) -> Result<()> {
        let mut batch = Batch::new();
        batch.delete(keyspaces::Meta, &Fact::Lost(keyspace));
        self.write(batch, Sync::No)
    }

    /// Compares each keyspace with its copy. Returns one line per kind of difference.
    pub(crate) fn compare_copies(&self) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for keyspace in Keyspace::ALL {
            let Some(prefix) = keyspace.copied_as() else { continue };
            // A database of an older version that is open for reading only.
            if !self.has_keyspace(Keyspace::Copies)? {
                continue;
            }
            let (first, damaged) = self.entries(keyspace, KeyRange::all(), 0)?;
            let range = KeyRange::prefix(&[prefix]);
            let (second, copy_damaged) = self.entries(Keyspace::Copies, range, 1)?;
            if damaged {
                lines
                    .push(format!("{}: entries cannot be read; their copies can", keyspace.name()));
            }
            if copy_damaged {
                lines.push(format!("copies of {}: entries cannot be read", keyspace.name()));
            }
            let keys: BTreeSet<&Box<[u8]>> = first.keys().chain(second.keys()).collect();
            let mut found = Differences::default();
            for key in keys.into_iter().filter(|key| first.get(*key) != second.get(*key)) {
                // A seal may have written between the two reads.
                match self.compare_entry(keyspace, prefix, key)? {
                    (None, Some(_)) if !damaged => found.only_in_copy += 1,
                    (Some(_), None) if !copy_damaged => found.only_in_original += 1,
                    (Some(original), Some(copy)) if original != copy => found.different += 1,
                    _ => {}
                }
            }
            lines.extend(found.lines(keyspace));
        }
        Ok(lines)
    }

    /// Returns the value and the copy of one entry as of one moment: they are written together, so
    /// the copy belongs to a value that is the same before and after the copy was read.
    fn compare_entry(&self, keyspace: Keyspace, prefix: u8, key: &[u8]) -> Result<EntryPair> {
        let copy_key = copy_key(prefix, key);
        for _ in 0..READS_MAX {
            let before = self.readable(keyspace, key)?;
            let copy = self.readable(Keyspace::Copies, &copy_key)?;
            if self.readable(keyspace, key)? == before {
                return Ok((before, copy));
            }
        }
        Err(Error::Unavailable(format!("{} changes faster than it can be read", keyspace.name())))
    }

    /// Returns the value of an entry, or `None` if it is missing or damaged.
    fn readable(&self, keyspace: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.get_once(keyspace, key) {
            Ok(value) => Ok(value.map(|value| value.to_vec())),
            Err(Error::Corrupt(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The value of an entry and its copy; `None` is missing or damaged.
type EntryPair = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Numbers of entries that differ from their copies.
#[derive(Debug, Default)]
struct Differences {
    only_in_copy: u64,
    only_in_original: u64,
    different: u64,
}

impl Differences {
    /// Returns one line per kind of difference.
    fn lines(&self, keyspace: Keyspace) -> impl Iterator<Item = String> {
        let kinds = [
            (self.only_in_copy, "entries are only in the copy"),
            (self.only_in_original, "entries are not in the copy"),
            (self.different, "entries differ from their copies"),
        ];
        let found = kinds.into_iter().filter(|(count, _)| *count > 0);
        found.map(move |(count, what)| format!("{}: {count} {what}", keyspace.name()))
    }
}

/// Decodes a little-endian number of any width up to eight bytes.
fn number(value: &[u8]) -> u64 {
    value.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
