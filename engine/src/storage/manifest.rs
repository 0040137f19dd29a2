//! Changes to the manifest of a closed database: cutting an end torn by a power loss, and removing
//! tables.
//!
//! RocksDB has no call to remove an unreadable table at any level. The manifest lists the tables:
//! it is a log of edits, and appending one more edit removes a table. The format is RocksDB's and
//! has not changed since its first version:
//!
//! ```text
//! record   masked CRC-32C of type and edit: u32 │ length of the edit: u16 │ type: u8 = 1, whole │
//!          edit
//! edit     6, deleted file: varint │ level: varint │ number: varint │
//!          200, column family: varint │ its id: varint
//! block    records fill blocks of 32 KB; none starts in the last 6 bytes of one
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::guard::current_manifest;
use super::journal::checksum;
use super::journal::{Journal, LogItem, LogReader};
use crate::codec::bytes::put_varint;

const BLOCK_BYTES: u64 = 32 << 10;
const HEADER_BYTES: u64 = 7;
const WHOLE_RECORD: u8 = 1;
const DELETED_FILE: u64 = 6;
const COLUMN_FAMILY: u64 = 200;
const COLUMN_FAMILY_ADD: u64 = 201;

/// A table as listed in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedTable {
    pub(super) number: u64,
    pub(super) level: u64,
    /// The name of its column family.
    pub(super) family: String,
}

/// Removes a table from the manifest of the closed database in `db`.
pub(super) fn remove_table(db: &Path, table: &ListedTable) -> io::Result<()> {
    let path = current_manifest(db).ok_or_else(|| other("there is no manifest"))?;
    let manifest = fs::read(&path)?;
    let id = family_id(&manifest, &table.family)
        .ok_or_else(|| other(&format!("the manifest does not name {}", table.family)))?;
    let mut edit = Vec::new();
    for number in [DELETED_FILE, table.level, table.number, COLUMN_FAMILY, id] {
        put_varint(&mut edit, number);
    }
    let left = BLOCK_BYTES - manifest.len() as u64 % BLOCK_BYTES;
    let mut out = Vec::new();
    if left < HEADER_BYTES + edit.len() as u64 {
        // Readers skip zeros at the end of a block.
        out.resize(left as usize, 0);
    }
    out.extend_from_slice(&checksum(WHOLE_RECORD, &edit).to_le_bytes());
    out.extend_from_slice(&(edit.len() as u16).to_le_bytes());
    out.push(WHOLE_RECORD);
    out.extend_from_slice(&edit);
    let mut file = File::options().append(true).open(&path)?;
    file.write_all(&out)?;
    file.sync_all()
}

/// Where the first damage of a manifest starts, and whether a readable record follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Damaged {
    from: usize,
    continues: bool,
}

/// Returns whether the manifest of the closed database in `db` should be compared with its copy: it
/// is damaged, or it ends in zeros, as a truncated manifest also reads.
pub(super) fn is_doubtful(db: &Path) -> io::Result<bool> {
    let Some(path) = current_manifest(db) else { return Ok(false) };
    let manifest = fs::read(&path)?;
    let ends_in_zeros = manifest.ends_with(&[0; HEADER_BYTES as usize]);
    Ok(ends_in_zeros || first_damage(&manifest).is_some())
}

/// Cuts an end of the manifest that was torn by a power loss: edits that were written but never
/// synced, so nothing relies on them. The first `copied` bytes are known to have existed; `journal`
/// knows whether the manifest was in force without the rest. Returns whether anything was cut.
pub(super) fn cut_torn_end(
    db: &Path,
    copied: Option<usize>,
    journal: &Journal,
) -> io::Result<bool> {
    let Some(path) = current_manifest(db) else { return Ok(false) };
    let manifest = fs::read(&path)?;
    let Some(Damaged { from, continues }) = first_damage(&manifest) else { return Ok(false) };
    // A later part of a write may be on disk although its start is not. A manifest without a copy
    // belongs to a start that was killed before it acknowledged anything: each edit was synced
    // before the next.
    let beyond_copy = match copied {
        Some(copied) => from >= copied,
        None => !continues,
    };
    let is_torn = beyond_copy && journal.may_end(manifest.get(..from).unwrap_or_default())?;
    if is_torn {
        let file = File::options().write(true).open(&path)?;
        file.set_len(from as u64)?;
        file.sync_all()?;
    }
    Ok(is_torn)
}

fn first_damage(manifest: &[u8]) -> Option<Damaged> {
    let mut first: Option<Damaged> = None;
    for item in LogReader::of(manifest) {
        match (item, &mut first) {
            (Ok(LogItem::Damaged { from, .. }), None) => {
                first = Some(Damaged { from, continues: false });
            }
            (Ok(LogItem::Record { .. }), Some(damaged)) => damaged.continues = true,
            // A record type that Telltale does not write is left to RocksDB.
            (Err(_), _) => return None,
            _ => {}
        }
    }
    first
}

/// Returns the id of a column family: the edit that adds the family contains its id, followed by
/// its name.
fn family_id(manifest: &[u8], name: &str) -> Option<u64> {
    let mut added = Vec::new();
    put_varint(&mut added, COLUMN_FAMILY_ADD);
    put_varint(&mut added, name.len() as u64);
    added.extend_from_slice(name.as_bytes());
    let mut tag = Vec::new();
    put_varint(&mut tag, COLUMN_FAMILY);
    // Ids are small: one byte of varint for up to 127 column families.
    manifest.windows(tag.len() + 1 + added.len()).rev().find_map(|window| {
        let (id, family) = window.strip_prefix(&*tag)?.split_first()?;
        (family == added && *id < 0x80).then_some(u64::from(*id))
    })
}

fn other(why: &str) -> io::Error {
    io::Error::other(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::journal::put_record;
    use super::*;

    #[test]
    fn families_have_their_ids() {
        let manifest = b"..\xc8\x01\x05\xc9\x01\x06blocks..\xc8\x01\x07\xc9\x01\x05times";
        assert_eq!(family_id(manifest, "blocks"), Some(5));
        assert_eq!(family_id(manifest, "times"), Some(7));
        assert_eq!(family_id(manifest, "meta"), None);
    }

    fn is_damaged(db: &Path) -> io::Result<bool> {
        let path = current_manifest(db).unwrap();
        Ok(first_damage(&fs::read(path)?).is_some())
    }

    #[test]
    fn a_torn_end_is_cut_and_damage_before_it_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut whole = Vec::new();
        let mut ends = Vec::new();
        for length in [100, 300, 700] {
            // The number of the first needed log, and the name of a comparator.
            let mut edit = vec![2, 5, 1];
            put_varint(&mut edit, length);
            edit.resize(edit.len() + length as usize, 7);
            put_record(&mut whole, &edit);
            ends.push(whole.len());
        }
        let journal = Journal::new(dir.path());
        let log = dir.path().join("000005.log");
        fs::write(&log, b"").unwrap();
        let path = dir.path().join("MANIFEST-000007");
        fs::write(dir.path().join("CURRENT"), "MANIFEST-000007\n").unwrap();
        let check = |zeros: std::ops::Range<usize>, copied, left: usize| {
            let mut torn = whole.clone();
            torn[zeros.clone()].fill(0);
            fs::write(&path, &torn).unwrap();
            let damaged = is_damaged(dir.path()).unwrap();
            let cut = cut_torn_end(dir.path(), copied, &journal).unwrap();
            assert_eq!(fs::read(&path).unwrap(), torn[..left], "{zeros:?}");
            assert_eq!((damaged, cut), (true, left < whole.len()), "{zeros:?}");
            assert_eq!(is_damaged(dir.path()).unwrap(), !cut);
        };
        check(512..1024, Some(ends[1]), ends[1]);
        check(512..1024, None, ends[1]);
        check(ends[0]..ends[0] + 50, Some(ends[0]), ends[0]);
        check(ends[0]..ends[0] + 50, Some(ends[1]), whole.len());
        check(ends[0]..ends[0] + 50, None, whole.len());
        fs::remove_file(&log).unwrap();
        // There was none yet.
        check(512..1024, Some(ends[1]), ends[1]);
        // The log was deleted because an edit was in force: a later log starts with a batch that
        // does not directly follow the tables.
        let mut later = Vec::new();
        put_record(
            &mut later,
            &[&100_u64.to_le_bytes()[..], &[1, 0, 0, 0, 1, 1, 7, 1, 7]].concat(),
        );
        fs::write(dir.path().join("000009.log"), later).unwrap();
        check(512..1024, Some(ends[1]), whole.len());
        // A last edit of which no byte was written is no damage.
        fs::write(&path, [&whole[..ends[1]], &[0; 200]].concat()).unwrap();
        assert!(
            !is_damaged(dir.path()).unwrap() && !cut_torn_end(dir.path(), None, &journal).unwrap()
        );
    }
}
