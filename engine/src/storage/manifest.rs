//! Taking a table out of a database that is closed.
//!
//! RocksDB has no call for it that works for a table that cannot be read, at any level. What says which tables there are is the
//! manifest: a log of edits, and one more edit, appended to it, takes a table out. The format is RocksDB's and has not changed
//! since its first version:
//!
//! ```text
//! record   masked CRC-32C of type and edit: u32 │ length of the edit: u16 │ type: u8 = 1, whole │ edit
//! edit     6, deleted file: varint │ level: varint │ number: varint │ 200, column family: varint │ its id: varint
//! block    records fill blocks of 32 KB; none begins in the last 6 bytes of one
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::guard::current_manifest;
use super::journal::checksum;
use crate::codec::bytes::put_varint;

const BLOCK_BYTES: u64 = 32 << 10;
const HEADER_BYTES: u64 = 7;
const WHOLE_RECORD: u8 = 1;
const DELETED_FILE: u64 = 6;
const COLUMN_FAMILY: u64 = 200;
const COLUMN_FAMILY_ADD: u64 = 201;

/// A table, as the manifest knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) number: u64,
    pub(super) level: u64,
    /// The name of its column family.
    pub(super) family: String,
}

/// Takes a table out of the manifest of the closed database in `db`.
pub(super) fn take_out(db: &Path, table: &Listed) -> io::Result<()> {
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
        // Zeroes to the end of a block are left out.
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

/// The id of a column family: the edit that adds it says both, one behind the other.
fn family_id(manifest: &[u8], name: &str) -> Option<u64> {
    let mut added = Vec::new();
    put_varint(&mut added, COLUMN_FAMILY_ADD);
    put_varint(&mut added, name.len() as u64);
    added.extend_from_slice(name.as_bytes());
    let mut tag = Vec::new();
    put_varint(&mut tag, COLUMN_FAMILY);
    // Ids are small: one byte of varint, for up to 127 column families.
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
    use super::*;

    #[test]
    fn families_have_their_ids() {
        let manifest = b"..\xc8\x01\x05\xc9\x01\x06blocks..\xc8\x01\x07\xc9\x01\x05times";
        assert_eq!(family_id(manifest, "blocks"), Some(5));
        assert_eq!(family_id(manifest, "times"), Some(7));
        assert_eq!(family_id(manifest, "meta"), None);
    }
}
