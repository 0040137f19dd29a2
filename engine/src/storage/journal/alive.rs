//! Which logs RocksDB will replay: those whose entries are not all in tables.
//!
//! A log that is not needed any more may lie around for a while: its removal is not durable at once, and the work of a thread in the
//! background. RocksDB skips it, and so do we, since what happened to it since means nothing. The manifest knows:
//! each keyspace has the number of the first log with entries that are not in its tables, and there is a number for
//! the whole database.
//!
//! The manifest is a log whose records are edits, which are fields, each with its tag (RocksDB's `version_edit.h`). Fields that came with
//! later versions begin with their length.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::guard::current_manifest;
use super::batch::Batch;
use super::format::{Item, Records};
use super::mark::Journal;
use crate::codec::CodecResult;
use crate::codec::bytes::Reader;

/// How often logs are listed anew while the database changes which of them it needs.
const LISTINGS_MAX: usize = 10;

/// A log of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogFile {
    pub(super) number: u64,
    pub(super) path: PathBuf,
}

/// The logs that will be replayed, and what the manifest says of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Needed {
    /// In order.
    pub(super) logs: Vec<LogFile>,
    /// Whether the first one that is needed is gone although there are later ones.
    pub(super) lacks_first: bool,
    /// A sequence number below those of all entries of the first log that is needed.
    pub(super) begun_after: u64,
}

impl Needed {
    /// Nothing when the manifest cannot be read.
    pub(super) fn of(db: &Path) -> io::Result<Option<Self>> {
        let Some(manifest) = current_manifest(db) else { return Ok(None) };
        for _ in 0..LISTINGS_MAX {
            let Some(edits) = read_edits(&fs::read(&manifest)?) else { return Ok(None) };
            let Some(first) = first_of(&edits) else { return Ok(None) };
            let logs = logs_from(db, first)?;
            // Of an open database, a log may have gone while they were listed: then another is the first.
            let now = read_edits(&fs::read(&manifest)?).and_then(|edits| first_of(&edits));
            if now == Some(first) {
                let lacks_first = logs.first().is_some_and(|there| first < there.number);
                let begun_after = begun_after(&edits, first);
                return Ok(Some(Self { logs, lacks_first, begun_after }));
            }
        }
        Err(io::Error::other("the database changes faster than its logs can be listed"))
    }
}

/// The logs from this number on, in order.
fn logs_from(db: &Path, first: u64) -> io::Result<Vec<LogFile>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(db)? {
        let path = entry?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".log"));
        if let Some(number) = number.and_then(|number| number.parse().ok())
            && number >= first
        {
            logs.push(LogFile { number, path });
        }
    }
    logs.sort_by_key(|log| log.number);
    Ok(logs)
}

/// A sequence number below those of all entries of the log `first`. A flush begins a log, unless the last one is empty yet, and
/// writes what came before it to a table, whose edit names that log: what is in such tables came before it.
fn begun_after(edits: &[Edit], first: u64) -> u64 {
    let before = edits.iter().filter(|edit| edit.log.is_some_and(|log| log <= first));
    before.filter_map(|edit| edit.largest).max().unwrap_or_default()
}

/// What one edit of a manifest says of logs.
#[derive(Debug, Default)]
struct Edit {
    family: u64,
    log: Option<u64>,
    first_kept: Option<u64>,
    /// The largest sequence number in its new tables.
    largest: Option<u64>,
    /// That of all tables so far.
    last: Option<u64>,
    drops_family: bool,
}

impl Journal {
    /// Whether a manifest that ends so may be all that was ever in force. It was not where tables are missing: those with what came before
    /// the last open, or before the first log that is there of those that it needs. Earlier ones were deleted since their entries are in
    /// tables. The number that it names may never have been that of a log: a start reserves one, and takes a later one.
    pub(in super::super) fn may_end(&self, manifest: &[u8]) -> io::Result<bool> {
        let Some(edits) = read_edits(manifest) else { return Ok(false) };
        let Some(first) = first_of(&edits) else { return Ok(false) };
        let mark = self.stored();
        let tables_to = edits.iter().filter_map(|edit| edit.last).max().unwrap_or_default();
        if mark.is_some_and(|mark| tables_to < mark.base) {
            return Ok(false);
        }
        let begins = match logs_from(&self.db, first)?.first() {
            Some(log) => first_sequence(&fs::read(&log.path)?),
            None => None,
        };
        Ok(match begins {
            Some(begins) => begins <= tables_to.saturating_add(1),
            // A log that nothing was acknowledged in may be empty, or have no name on the disk yet.
            None => mark.is_none_or(|mark| mark.acknowledged <= tables_to),
        })
    }
}

/// The number of the first batch of a log, if its beginning can be read.
fn first_sequence(log: &[u8]) -> Option<u64> {
    match Records::of(log).next()?.ok()? {
        Item::Record { bytes, .. } => Some(Batch::read(&bytes)?.sequence),
        Item::Damaged { .. } => None,
    }
}

fn read_edits(manifest: &[u8]) -> Option<Vec<Edit>> {
    let edits = Records::of(manifest).map(|item| match item {
        Ok(Item::Record { bytes, .. }) => read_edit(&bytes).ok(),
        _ => None,
    });
    edits.collect()
}

fn first_of(edits: &[Edit]) -> Option<u64> {
    let mut first_kept = 0;
    let mut families = BTreeMap::new();
    for edit in edits {
        first_kept = first_kept.max(edit.first_kept.unwrap_or_default());
        if edit.drops_family {
            families.remove(&edit.family);
            continue;
        }
        let log = families.entry(edit.family).or_default();
        *log = edit.log.unwrap_or_default().max(*log);
    }
    families.values().min().map(|first| first_kept.max(*first))
}

fn read_edit(bytes: &[u8]) -> CodecResult<Edit> {
    let mut reader = Reader::new(bytes);
    let mut edit = Edit::default();
    while !reader.rest().is_empty() {
        match reader.varint()? {
            2 => edit.log = Some(reader.varint()?),
            4 => edit.last = Some(reader.varint()?),
            10 => edit.first_kept = Some(reader.varint()?),
            200 => edit.family = reader.varint()?,
            202 => edit.drops_family = true,
            103 => edit.largest = edit.largest.max(Some(read_table(&mut reader)?)),
            tag => skip_field(&mut reader, tag)?,
        }
    }
    Ok(edit)
}

/// Skips a field that says nothing of logs.
fn skip_field(reader: &mut Reader<'_>, tag: u64) -> CodecResult<()> {
    const NAMED: [u64; 2] = [1, 201];
    const NUMBERED: [u64; 4] = [3, 9, 203, 300];
    const IGNORABLE: u64 = 1 << 13;
    match tag {
        _ if NAMED.contains(&tag) || tag & IGNORABLE != 0 => drop(reader.bytes()?),
        _ if NUMBERED.contains(&tag) => drop(reader.varint()?),
        // Where a compaction of a level goes on; a table that is gone.
        5 => {
            reader.varint()?;
            reader.bytes()?;
        }
        6 => {
            reader.varint()?;
            reader.varint()?;
        }
        _ => return Err(crate::codec::CodecError::new(format!("field {tag} of a manifest"))),
    }
    Ok(())
}

/// The largest sequence number of a new table, which is: level, number, size, first and last key, least and largest sequence
/// number, and fields until the tag 1.
fn read_table(reader: &mut Reader<'_>) -> CodecResult<u64> {
    const LAST_FIELD: u64 = 1;
    for _ in 0..3 {
        reader.varint()?;
    }
    for _ in 0..2 {
        reader.bytes()?;
    }
    let _least = reader.varint()?;
    let largest = reader.varint()?;
    while reader.varint()? != LAST_FIELD {
        reader.bytes()?;
    }
    Ok(largest)
}
