//! Keyspaces that are stored twice.
//!
//! Every write to such a keyspace is also written to [`Keyspace::Copies`] in the same batch. When
//! the database is opened, both are read, and entries that one of them lacks because a table was
//! lost are restored from the other. A database of an older version gets its copies in the same
//! way.

use std::collections::BTreeMap;

use super::batch::{Batch, Sync};
use super::keyspace::Keyspace;
use super::range::KeyRange;
use super::scan::Caching;
use super::store::Store;
use crate::damage::Finding;
use crate::error::Result;

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
        let (mut first, damaged) = self.entries(keyspace, &KeyRange::all(), 0)?;
        let (mut second, copy_damaged) =
            self.entries(Keyspace::Copies, &KeyRange::prefix(&[prefix]), 1)?;
        let mut batch = Batch::new();
        let (mut lacking, mut uncopied) = (0_u64, 0_u64);
        for (key, value) in &second {
            if !first.contains_key(key) {
                lacking += 1;
                batch.put(keyspace, key, value.to_vec());
            }
        }
        for (key, value) in &mut first {
            let copy = second.remove(key);
            if copy.as_ref() == Some(value) {
                continue;
            }
            uncopied += 1;
            // The two values differ when a table was lost and an older version of an entry became
            // visible. The numbers in `Meta` only grow.
            let newer = |copy: &[u8]| keyspace == Keyspace::Meta && number(copy) > number(value);
            let kept = copy.filter(|copy| newer(copy)).unwrap_or_else(|| value.clone());
            batch.put(keyspace, key, kept.into_vec());
        }
        let lost = damaged || copy_damaged;
        if lost || lacking > 0 {
            self.findings.report(Finding::Mended(format!(
                "{}: entries were damaged or lost and have been restored from their copies ({lacking} entries, {uncopied} copies)",
                keyspace.name()
            )));
        }
        if batch.len() > 0 {
            self.repair_suspect_tables()?;
            self.write(batch, Sync::Yes)?;
        }
        Ok(())
    }

    fn entries(
        &self,
        keyspace: Keyspace,
        range: &KeyRange,
        skip: usize,
    ) -> Result<(Entries, bool)> {
        let mut entries = Entries::new();
        let visit = |key: Box<[u8]>, value: Box<[u8]>| {
            let key = key.get(skip..).unwrap_or_default();
            entries.insert(key.into(), value);
        };
        let gap = self.read_skipping_damage(keyspace, range, Caching::Bypass, visit)?;
        Ok((entries, gap.is_some()))
    }

    /// Returns whether entries of a keyspace were lost and what they referred to has not been
    /// searched for yet.
    pub(crate) fn has_lost_entries(&self, keyspace: Keyspace) -> Result<bool> {
        self.get(Keyspace::Meta, &lost_key(keyspace)).map(|lost| lost.is_some())
    }

    /// Records that what the lost entries of a keyspace referred to has been searched for.
    pub(crate) fn clear_lost_entries(&self, keyspace: Keyspace) -> Result<()> {
        let mut batch = Batch::new();
        batch.delete(Keyspace::Meta, &lost_key(keyspace));
        self.write(batch, Sync::No)
    }

    /// Compares each keyspace with its copy. Returns one line per difference.
    pub(crate) fn compare_copies(&self) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for keyspace in Keyspace::ALL {
            let Some(prefix) = keyspace.copied_as() else { continue };
            let (first, damaged) = self.entries(keyspace, &KeyRange::all(), 0)?;
            let range = KeyRange::prefix(&[prefix]);
            let (second, copy_damaged) = self.entries(Keyspace::Copies, &range, 1)?;
            if damaged {
                lines
                    .push(format!("{}: entries cannot be read; their copies can", keyspace.name()));
            }
            if copy_damaged {
                lines.push(format!("copies of {}: entries cannot be read", keyspace.name()));
            }
            // A seal may write between the two reads.
            let lacking = second.keys().filter(|key| !first.contains_key(*key)).count();
            if lacking > 0 && !damaged {
                lines.push(format!("{}: {lacking} entries are only in the copy", keyspace.name()));
            }
        }
        Ok(lines)
    }
}

/// Returns the key in `Meta` that marks a keyspace as having lost entries: an index is rebuilt from
/// what it indexes.
pub(super) fn lost_key(keyspace: Keyspace) -> Vec<u8> {
    [b"lost.", keyspace.name().as_bytes()].concat()
}

/// Decodes a little-endian number of any width up to eight bytes.
fn number(value: &[u8]) -> u64 {
    value.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
