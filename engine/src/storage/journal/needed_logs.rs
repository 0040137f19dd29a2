//! Determines which logs RocksDB will replay: those with entries that are not in tables.
//!
//! A log that is no longer needed may remain for a while: its removal is not durable at once and is
//! done by a background thread. RocksDB skips such a log, and so does Telltale, since damage to it
//! means nothing. The manifest has the information: for each keyspace the number of the first log
//! with entries that are not in its tables, and one number for the whole database.
//!
//! The manifest is a log whose records are edits. An edit is a list of fields, each with a tag
//! (RocksDB's `version_edit.h`). Fields added by later versions start with their length.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::guard::current_manifest;
use super::format::{LogItem, LogReader};
use super::logged_batch::LoggedBatch;
use super::mark::Journal;
use crate::codec::CodecResult;
use crate::codec::bytes::Reader;

/// How often the logs are listed again because the database changed which of them it needs.
const LISTINGS_MAX: usize = 10;

/// A log of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogFile {
    pub(super) number: u64,
    pub(super) path: PathBuf,
}

/// The logs that will be replayed, and what the manifest says about them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NeededLogs {
    /// In order of their numbers.
    pub(super) logs: Vec<LogFile>,
    /// Whether the first needed log is missing although there are later ones.
    pub(super) lacks_first: bool,
    /// A sequence number below those of all entries of the first needed log.
    pub(super) starts_after: u64,
}

impl NeededLogs {
    /// Returns `None` when the manifest cannot be read.
    pub(super) fn of(db: &Path) -> io::Result<Option<Self>> {
        let Some(manifest) = current_manifest(db) else { return Ok(None) };
        for _ in 0..LISTINGS_MAX {
            let Some(edits) = read_edits(&fs::read(&manifest)?) else { return Ok(None) };
            let Some(first) = first_needed(&edits) else { return Ok(None) };
            let logs = logs_from(db, first)?;
            // In an open database a log may be deleted while they are listed: then another one is
            // the first.
            let now = read_edits(&fs::read(&manifest)?).and_then(|edits| first_needed(&edits));
            if now == Some(first) {
                let lacks_first = logs.first().is_some_and(|log| first < log.number);
                let starts_after = starts_after(&edits, first);
                return Ok(Some(Self { logs, lacks_first, starts_after }));
            }
        }
        Err(io::Error::other("the database changes faster than its logs can be listed"))
    }
}

/// Returns the logs with this number or a larger one, in order.
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

/// Returns a sequence number below those of all entries of the log `first`. A flush starts a new
/// log, unless the last one is still empty, and writes the earlier entries to a table, whose edit
/// names that log: the contents of such tables precede the log.
fn starts_after(edits: &[Edit], first: u64) -> u64 {
    let before = edits.iter().filter(|edit| edit.log.is_some_and(|log| log <= first));
    before.filter_map(|edit| edit.largest).max().unwrap_or_default()
}

/// The fields of one edit of a manifest that concern logs.
#[derive(Debug, Default)]
struct Edit {
    family: u64,
    log: Option<u64>,
    first_kept: Option<u64>,
    /// The largest sequence number in its new tables.
    largest: Option<u64>,
    /// The largest sequence number in all tables so far.
    last: Option<u64>,
    drops_family: bool,
}

impl Journal {
    /// Returns whether a manifest with this content may be all that was ever in force. It was not
    /// if it lacks tables with entries from before the last open, or from before the first existing
    /// log that it needs: earlier logs were only deleted because their entries are in tables. The
    /// log number in the manifest may never have been used: a start reserves one and takes a later
    /// one.
    pub(in super::super) fn may_end(&self, manifest: &[u8]) -> io::Result<bool> {
        let Some(edits) = read_edits(manifest) else { return Ok(false) };
        let Some(first) = first_needed(&edits) else { return Ok(false) };
        let mark = self.stored();
        let tables_to = edits.iter().filter_map(|edit| edit.last).max().unwrap_or_default();
        if mark.is_some_and(|mark| tables_to < mark.base) {
            return Ok(false);
        }
        let start = match logs_from(&self.db, first)?.first() {
            Some(log) => first_sequence(&fs::read(&log.path)?),
            None => None,
        };
        Ok(match start {
            Some(start) => start <= tables_to.saturating_add(1),
            // A log without acknowledged entries may be empty, or its directory entry may not be on
            // disk yet.
            None => mark.is_none_or(|mark| mark.acknowledged <= tables_to),
        })
    }
}

/// Returns the sequence number of the first batch of a log, if its start can be read.
fn first_sequence(log: &[u8]) -> Option<u64> {
    match LogReader::of(log).next()?.ok()? {
        LogItem::Record { bytes, .. } => Some(LoggedBatch::read(&bytes)?.sequence),
        LogItem::Damaged { .. } => None,
    }
}

fn read_edits(manifest: &[u8]) -> Option<Vec<Edit>> {
    let edits = LogReader::of(manifest).map(|item| match item {
        Ok(LogItem::Record { bytes, .. }) => read_edit(&bytes).ok(),
        _ => None,
    });
    edits.collect()
}

fn first_needed(edits: &[Edit]) -> Option<u64> {
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

/// Skips a field that does not concern logs.
fn skip_field(reader: &mut Reader<'_>, tag: u64) -> CodecResult<()> {
    const NAMED: [u64; 2] = [1, 201];
    const NUMBERED: [u64; 4] = [3, 9, 203, 300];
    const IGNORABLE: u64 = 1 << 13;
    match tag {
        _ if NAMED.contains(&tag) || tag & IGNORABLE != 0 => drop(reader.bytes()?),
        _ if NUMBERED.contains(&tag) => drop(reader.varint()?),
        // The position of a level's compaction; a deleted table (below).
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

/// Returns the largest sequence number of a new table. Its encoding is: level, number, size, first
/// and last key, smallest and largest sequence number, and fields up to the tag 1.
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
